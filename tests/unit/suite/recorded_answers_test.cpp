// Answers that an application recorded: JSON Lines, and spans of OpenTelemetry.
#include "coordinator/suite/answers/recorded_answers.hpp"

#include "common/defaults.hpp"
#include "coordinator/suite/answers/recorded_calls.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::recorded_answers_test {

RecordedAnswers read(const std::string& text) {
  auto read = parse_recorded_answers(text, "answers.jsonl");
  EXPECT_TRUE(read) << read.error().front().message;
  return read ? std::move(*read) : RecordedAnswers();
}

std::string problem(const std::string& text) {
  const auto read = parse_recorded_answers(text, "answers.jsonl");
  EXPECT_FALSE(read);
  if (read) return "";
  return std::to_string(read.error().front().line) + ": " + read.error().front().message;
}

TEST(RecordedAnswers, AreReadLineByLine) {
  const auto answers = read(
      "{\"id\": \"a\", \"answer\": \"Paris\"}\n\n"
      "{\"id\": \"b\", \"answer\": \"\", \"model\": \"m-1\", \"usage\": {\"input_tokens\": 12, "
      "\"output_tokens\": 3}, \"context\": [\"one\", \"two\"], \"meta\": {\"other\": 1}}\r\n");
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers.find("a")->answer, (RecordedAnswer{"Paris", "", {}}));
  EXPECT_EQ(answers.find("a")->context, std::nullopt);
  const AnsweredTest& second = *answers.find("b");
  EXPECT_EQ(second.answer, (RecordedAnswer{"", "m-1", {12, 3}}));
  EXPECT_EQ(second.context, "one\n\ntwo");
  EXPECT_EQ(second.line, 3u);
  EXPECT_EQ(answers.find("c"), nullptr);
}

// Each was dropped: not_tool_call passed whatever had been called.
TEST(RecordedAnswers, CallsOfToolsAreReadInBothForms) {
  const auto answers = read(
      R"({"id": "chat", "answer": null, "tool_calls": [{"id": "c", "type": "function", "index": 0,)"
      R"( "function": {"name": "look_up", "arguments": "{\"order\": 17, \"all\": 1.0}"}}]})"
      "\n"
      R"({"id": "plain", "answer": "I look.", "tool_calls": [{"name": "f"}, {"name": "f", "arguments": ""},)"
      R"( {"name": "look_up", "arguments": {"order": 17, "all": true}}]})"
      "\n"
      R"({"id": "cut", "tool_calls": [{"name": "look_up", "arguments": "{\"order\": 17"}]})"
      "\n"
      R"({"id": "deep", "tool_calls": [{"name": "f", "arguments": ")" +
      std::string(100'000, '[') + R"("}]})");
  const RecordedAnswer chat{R"({"tool_call":{"name":"look_up","arguments":{"order":17,"all":1.0}}})",
                            "",
                            {},
                            {{"", "look_up", R"({"order":17,"all":1.0})"}}};
  EXPECT_EQ(answers.find("chat")->answer, chat);
  const RecordedAnswer plain{
      "I look.\n"
      R"({"tool_call":{"name":"f","arguments":{}}})"
      "\n"
      R"({"tool_call":{"name":"f","arguments":{}}})"
      "\n"
      R"({"tool_call":{"name":"look_up","arguments":{"order":17,"all":true}}})",
      "",
      {},
      {{"", "f", "{}"}, {"", "f", "{}"}, {"", "look_up", R"({"order":17,"all":true})"}}};
  EXPECT_EQ(answers.find("plain")->answer, plain);
  const RecordedAnswer cut{R"({"tool_call":{"name":"look_up","arguments":"{\"order\": 17"}})",
                           "",
                           {},
                           {{"", "look_up", R"({"order": 17)"}}};
  EXPECT_EQ(answers.find("cut")->answer, cut);
  EXPECT_EQ(answers.find("deep")->answer.calls.size(), 1u);
  EXPECT_TRUE(answers.have_calls());
  EXPECT_FALSE(read(R"({"id": "a", "answer": "x", "tool_calls": []})").have_calls());
}

TEST(RecordedAnswers, CallsAreReadAsTheyAreShown) {
  const std::string shown =
      "I look.\n"
      R"({"tool_call":{"name":"f","arguments":{}}})"
      "\n"
      R"({"tool_call": {"name": "look_up", "arguments": "{\"order\": 17"}})";
  const std::vector<ToolCall> calls{{"", "f", "{}"}, {"", "look_up", R"({"order": 17)"}};
  RecordedAnswer answer{shown + "\n", "", {}};
  take_calls_of_text(answer);
  EXPECT_EQ(answer.calls, calls);
  EXPECT_EQ(answer.text, shown + "\n");
  const std::string line = R"({"tool_call":{"name":"f"}})";
  for (const std::string& text :
       {line + "\nis what I would call.", "{\"x\":" + line + "}", std::string("{\"tool_call\":1}")}) {
    RecordedAnswer words{text, "", {}};
    take_calls_of_text(words);
    EXPECT_EQ(words.calls, std::vector<ToolCall>()) << text;
  }
  const std::string quoted = R"("{\"tool_call\":{\"name\":\"f\",\"arguments\":{}}}")";
  EXPECT_TRUE(read(R"({"id": "a", "answer": )" + quoted + "}").have_calls());
  EXPECT_FALSE(read(R"({"id": "a", "answer": )" + quoted + R"(, "tool_calls": null})").have_calls())
      << "it is the model's text";
}

TEST(RecordedAnswers, JudgementsAreTakenAsAReportHasThem) {
  const auto answers = read(
      R"({"id": "a", "answer": "x", "meta": {"assay": {"judge": {"rubric": {"rubric": "tone", "rubric_version": "v1",)"
      R"( "min_score": 0.5, "passed": true, "score": 1, "source": "judge", "samples": [true], "agreement": 1,)"
      R"( "calibration": "calibrated", "rationale": "Kind."}}}}})");
  EXPECT_EQ(answers.find("a")->judgements.at(0).rubric, "tone");
}

TEST(RecordedAnswers, JudgementsAreThoseOfTheTrace) {
  const auto answers = read(
      R"({"id": "a", "answer": "x", "meta": {"assay": {"judge": {"faithfulness": {"rubric_version": "v1",)"
      R"( "passed": true, "score": 0.92, "source": "trace", "samples": [true, true, false],)"
      R"( "agreement": 0.67, "rationale": "Mostly."},)"
      R"( "relevancy": {"rubric_version": "v1", "score": 0.5, "samples": [true, false], "scores": [1, 0]}}}}})");
  const auto& judged = answers.find("a")->judgements;
  ASSERT_EQ(judged.size(), 2u);
  EXPECT_EQ(judged[0].rubric, "faithfulness") << "none is named";
  EXPECT_EQ(judged[0].rubric_version, "v1");
  EXPECT_EQ(judged[0].score.metric, MetricId::faithfulness);
  EXPECT_EQ(judged[0].score.source, JudgeSource::trace);
  EXPECT_DOUBLE_EQ(judged[0].score.score(), 0.92);
  EXPECT_TRUE(judged[0].score.passed());
  EXPECT_NEAR(judged[0].score.agreement(), 2.0 / 3.0, 1e-12);
  EXPECT_EQ(judged[0].score.rationale, "Mostly.");
  EXPECT_DOUBLE_EQ(judged[1].score.score(), 0.5);
}

// The score was passed over, and the mean of the scores taken.
TEST(RecordedAnswers, AScoreThatContradictsItsVotesIsRefused) {
  const auto judged = [](const std::string& score, const std::string& scores) {
    return R"({"id": "a", "answer": "x", "meta": {"assay": {"judge": {"relevancy": {"rubric_version": "v1",)"
           R"( "score": )" +
           score + R"(, "samples": [true, true, false], "scores": )" + scores + "}}}}}";
  };
  EXPECT_EQ(
      problem("{\"id\": \"b\", \"answer\": \"x\"}\n" + judged("0.9", "[0.5, 0.25, 0]")),
      "2: \"score\" in meta.assay.judge.relevancy is 0.9, but the mean of \"scores\" is 0.25: correct one "
      "of them, or leave \"scores\" out");
  EXPECT_NE(problem(judged("0.26", "[0.5, 0.25, 0]")), "") << "no rounding";
  // Rounded to two digits, of which 0.005 is the most that is lost.
  EXPECT_DOUBLE_EQ(read(judged("0.67", "[1, 1, 0]")).find("a")->judgements.at(0).score.score(), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(read(judged("0.255", "[0.5, 0.25, 0]")).find("a")->judgements.at(0).score.score(), 0.25);
}

TEST(RecordedAnswers, RationalesAreRedactedBeforeTheyAreCut) {
  const std::vector<RedactionPattern> patterns{{"mail", "[a-z]+@[a-z]+\\.io"}};
  const auto redactor = Redactor::make(patterns);
  ASSERT_TRUE(redactor);
  const std::string rationale = std::string(defaults::max_rationale_bytes - 8, '.') + "jane@home.io";
  const auto answers = parse_recorded_answers(
      R"({"id": "a", "answer": "x", "meta": {"assay": {"judge": {"faithfulness": {"rubric_version": "v1",)"
      R"( "score": 0.5, "samples": [true], "rationale": ")" +
          rationale + R"("}}}}})",
      "answers.jsonl", *redactor);
  ASSERT_TRUE(answers);
  const std::string& kept = answers->find("a")->judgements.at(0).score.rationale;
  EXPECT_EQ(kept.find("jane"), std::string::npos) << kept;
  EXPECT_LE(kept.size(), defaults::max_rationale_bytes);
}

TEST(RecordedAnswers, SayWhatIsWrongAndWhere) {
  EXPECT_EQ(problem("[1]"), "1: the line is an array; an answer is {\"id\": \"TEST\", \"answer\": \"...\"}");
  EXPECT_TRUE(
      problem("{\"id\": \"a\", \"anser\": \"x\"}").starts_with("1: unknown key \"anser\" in the answer"))
      << problem("{\"id\": \"a\", \"anser\": \"x\"}");
  EXPECT_EQ(problem("{\"id\": \"a\", \"answer\": \"x\"}\n{\"id\": \"a\", \"answer\": \"y\"}"),
            "2: the test \"a\" is answered in line 1 already; leave one of the two");
  EXPECT_EQ(problem(R"({"id": "a", "tool_calls": ["f"]})"),
            "1: tool_calls[0] must be an object with \"name\" and \"arguments\", not a string");
  EXPECT_TRUE(problem(R"({"id": "a", "tool_calls": [{"function": {"arguments": "{}"}}]})")
                  .starts_with("1: missing \"name\" in tool_calls[0].function"));
  EXPECT_TRUE(problem(R"({"id": "a", "tool_calls": [{"name": "f", "args": {}}]})")
                  .starts_with("1: unknown key \"args\" in tool_calls[0]"));
  EXPECT_TRUE(problem(R"({"id": "a", "tool_calls": []})").starts_with("1: missing \"answer\""));
  EXPECT_TRUE(problem("").starts_with("0: there is no answer in it;"));
  EXPECT_TRUE(problem("{\"id\": \"a\"").starts_with("1: "));
  EXPECT_TRUE(
      problem("{\"id\": \"a\", \"answer\": \"x\", \"meta\": {\"assay\": {\"judge\": {\"bleu\": {}}}}}")
          .starts_with("1: \"meta.assay.judge\" names \"bleu\""));
  EXPECT_TRUE(problem("{\"id\": \"a\", \"answer\": \"x\", \"meta\": {\"assay\": {\"judge\": {\"relevancy\": "
                      "{\"rubric_version\": \"v1\", \"score\": 1, \"samples\": []}}}}}")
                  .starts_with("1: \"samples\""));
}

TEST(RecordedAnswers, ThoseOfUnknownTestsAreNamed) {
  CaseList cases;
  Case one;
  one.id = "a";
  cases.push_back(one);
  const auto findings =
      read("{\"id\": \"b\", \"answer\": \"x\"}\n{\"id\": \"a\", \"answer\": \"x\"}").check_tests(cases);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].line, 1u);
  EXPECT_TRUE(findings[0].message.starts_with("the suite has no test \"b\""));
}

// Of a suite with one provider "a" was said to be missing, though it was there by its whole id.
TEST(RecordedAnswers, ThoseWithoutTheirArmAreToldItsName) {
  CaseList cases;
  Case one;
  one.id = "a@gpt-4o-mini";
  cases.push_back(one);
  const auto findings = read("{\"id\": \"a\", \"answer\": \"x\"}").check_tests(cases);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].message,
            "the test \"a\" is asked under arms: say whose answer it is, as in \"a@gpt-4o-mini\"");
}

// As a collector's file exporter writes spans: numbers of 64 bits as strings.
constexpr const char* span =
    R"({"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": [)"
    R"({"name": "chat gpt-5-mini", "attributes": [)"
    R"({"key": "sluice.test", "value": {"stringValue": "france"}},)"
    R"({"key": "gen_ai.request.model", "value": {"stringValue": "gpt-5-mini"}},)"
    R"({"key": "gen_ai.response.model", "value": {"stringValue": "gpt-5-mini-2026"}},)"
    R"({"key": "gen_ai.usage.input_tokens", "value": {"intValue": "21"}},)"
    R"({"key": "gen_ai.usage.output_tokens", "value": {"intValue": 4}}],)"
    R"( "events": [{"name": "gen_ai.client.inference.operation.details", "attributes": [)"
    R"({"key": "gen_ai.output.messages", "value": {"stringValue":)"
    R"( "[{\"role\": \"assistant\", \"parts\": [{\"type\": \"reasoning\", \"content\": \"hm\"},)"
    R"( {\"type\": \"text\", \"content\": \"Paris\"}], \"finish_reason\": \"stop\"}]"}}]}]},)"
    R"({"name": "GET /", "attributes": []}]}]}]})";

TEST(RecordedAnswers, ComeFromSpansThatNameTheirTest) {
  const auto answers = read(span);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers.find("france")->answer, (RecordedAnswer{"Paris", "gpt-5-mini-2026", {21, 4}}));
}

TEST(RecordedAnswers, SpansMayStandOverManyLinesAndHaveStructuredMessages) {
  const auto answers = read(R"({
 "resourceSpans": [
  {
   "scopeSpans": [
    {
     "spans": [
      {
       "attributes": [
        {
         "key": "sluice.test",
         "value": {
          "stringValue": "peru"
         }
        },
        {
         "key": "gen_ai.output.messages",
         "value": {
          "arrayValue": {
           "values": [
            {
             "kvlistValue": {
              "values": [
               {
                "key": "role",
                "value": {
                 "stringValue": "assistant"
                }
               },
               {
                "key": "parts",
                "value": {
                 "arrayValue": {
                  "values": [
                   {
                    "kvlistValue": {
                     "values": [
                      {
                       "key": "type",
                       "value": {
                        "stringValue": "text"
                       }
                      },
                      {
                       "key": "content",
                       "value": {
                        "stringValue": "Lima"
                       }
                      }
                     ]
                    }
                   }
                  ]
                 }
                }
               }
              ]
             }
            }
           ]
          }
         }
        }
       ]
      }
     ]
    }
   ]
  }
 ]
}
)");
  ASSERT_NE(answers.find("peru"), nullptr);
  EXPECT_EQ(answers.find("peru")->answer.text, "Lima");
}

/// A span of the test "a" with an attribute, whose value is given as JSON.
std::string span_with(const std::string& attribute, const std::string& value) {
  return R"({"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": [)"
         R"({"key": "sluice.test", "value": {"stringValue": "a"}}, {"key": ")" +
         attribute + R"(", "value": )" + value + "}]}]}]}]}";
}

// The text was dropped beside calls, and the answer had the calls alone.
TEST(RecordedAnswers, SpansMayHaveContentInParts) {
  const auto answer_of = [](const std::string& parts, const std::string& beside) {
    return read(span_with("gen_ai.output.messages",
                          R"({"stringValue": "[{\"role\": \"assistant\", \"content\": [)" + parts + "]" +
                              beside + R"(}]"})"))
        .find("a")
        ->answer;
  };
  const RecordedAnswer expected{
      "Yes.\n"
      R"({"tool_call":{"name":"f","arguments":{"x":1}}})",
      "",
      {},
      {{"", "f", R"({"x":1})"}}};
  const std::string text = R"({\"type\": \"text\", \"text\": \"Yes.\"})";
  EXPECT_EQ(
      answer_of(text, R"(, \"tool_calls\": [{\"function\": {\"name\": \"f\", \"arguments\": {\"x\": 1}}}])"),
      expected);
  EXPECT_EQ(
      answer_of(text + R"(, {\"type\": \"tool_use\", \"id\": \"c\", \"name\": \"f\", \"input\": {\"x\": 1}})",
                ""),
      expected);
}

// A part that calls was dropped, and a span with no other part was no answer.
TEST(RecordedAnswers, SpansCallTools) {
  const RecordedAnswer expected{R"({"tool_call":{"name":"f","arguments":{"b":[true,2.5,"x",null],"a":1}}})",
                                "",
                                {},
                                {{"", "f", R"({"b":[true,2.5,"x",null],"a":1})"}}};
  const std::string part = R"({\"type\": \"tool_call\", \"id\": \"c\", \"name\": \"f\", \"arguments\": )"
                           R"({\"b\": [true, 2.5, \"x\", null], \"a\": 1}})";
  const std::string as_text =
      R"({"stringValue": "[{\"role\": \"assistant\", \"parts\": [)" + part + R"(]}]"})";
  EXPECT_EQ(read(span_with("gen_ai.output.messages", as_text)).find("a")->answer, expected);

  const auto entry = [](const std::string& key, const std::string& value) {
    return R"({"key": ")" + key + R"(", "value": )" + value + "}";
  };
  const auto table = [](const std::string& entries) {
    return R"({"kvlistValue": {"values": [)" + entries + "]}}";
  };
  const auto list = [](const std::string& values) {
    return R"({"arrayValue": {"values": [)" + values + "]}}";
  };
  const std::string arguments =
      table(entry("b", list(R"({"boolValue": true}, {"doubleValue": 2.5}, {"stringValue": "x"}, {})")) +
            ", " + entry("a", R"({"intValue": "1"})"));
  const std::string structured =
      list(table(entry("parts", list(table(entry("type", R"({"stringValue": "tool_call"})") + ", " +
                                           entry("name", R"({"stringValue": "f"})") + ", " +
                                           entry("arguments", arguments))))));
  EXPECT_EQ(read(span_with("gen_ai.output.messages", structured)).find("a")->answer, expected);
}

// Each key was looked for among all before it: 200,000 took half a minute.
TEST(RecordedAnswers, ManyArgumentsOfACallAreReadInOnePass) {
  std::string arguments = "{";
  for (int i = 0; i < 300'000; ++i) arguments += "\\\"k" + std::to_string(i) + "\\\": 1, ";
  const auto answers = read(R"({"id": "a", "tool_calls": [{"name": "f", "arguments": ")" + arguments +
                            R"(\"é\": \"\\u00e9 \\\" \\n\", \"x\": [ 1.50, {} ]}"}]})");
  const std::string& read_arguments = answers.find("a")->answer.calls.front().arguments;
  EXPECT_TRUE(read_arguments.starts_with(R"({"k0":1,"k1":1,)"));
  EXPECT_TRUE(read_arguments.ends_with(R"(,"é":"é \" \n","x":[1.50,{}]})"))
      << read_arguments.substr(read_arguments.size() - 60);
}

TEST(RecordedAnswers, SpansOfOlderConventionsCallTools) {
  const std::string messages =
      R"({"stringValue": "[{\"role\": \"assistant\", \"content\": \"I look.\", \"tool_calls\": )"
      R"([{\"id\": \"c\", \"function\": {\"name\": \"f\", \"arguments\": \"{}\"}}]}]"})";
  const RecordedAnswer expected{
      "I look.\n{\"tool_call\":{\"name\":\"f\",\"arguments\":{}}}", "", {}, {{"", "f", "{}"}}};
  for (const char* attribute : {"gen_ai.output.messages", "gen_ai.completion"})
    EXPECT_EQ(read(span_with(attribute, messages)).find("a")->answer, expected) << attribute;
  const std::string one =
      R"({"stringValue": "{\"content\": \"I look.\", \"tool_calls\": [{\"name\": \"f\"}]}"})";
  EXPECT_EQ(read(span_with("gen_ai.completion", one)).find("a")->answer, expected) << "a message by itself";
  const std::string shown =
      R"({"stringValue": "I look.\n{\"tool_call\":{\"name\":\"f\",\"arguments\":{}}}"})";
  EXPECT_EQ(read(span_with("gen_ai.completion", shown)).find("a")->answer, expected) << "as sluice shows it";
  const std::string text = R"({"stringValue": "[{\"content\": \"a list\"}]"})";
  EXPECT_EQ(read(span_with("gen_ai.completion", text)).find("a")->answer,
            (RecordedAnswer{R"([{"content": "a list"}])", "", {}}))
      << "it calls nothing";
}

TEST(RecordedAnswers, ASpanWithoutAnAnswerIsAFinding) {
  EXPECT_TRUE(problem(R"({"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": [)"
                      R"({"key": "sluice.test", "value": {"stringValue": "peru"}}]}]}]}]})")
                  .starts_with("1: the span of the test \"peru\" has no answer"));
  const std::string nameless = R"({"stringValue": "[{\"tool_calls\": [{\"id\": \"c\"}]}]"})";
  EXPECT_NE(problem(span_with("gen_ai.output.messages", nameless)).find("calls a tool without a name"),
            std::string::npos)
      << problem(span_with("gen_ai.output.messages", nameless));
  EXPECT_TRUE(problem(R"({"resourceSpans": []})").starts_with("0: there is no answer in it;"));
}

// It was dropped without a word, and the run said only that no judge is named.
TEST(RecordedAnswers, AJudgementByAnotherVersionOfTheRubricIsNamed) {
  Case test;
  test.id = "a";
  test.kind = CaseKind::text;
  test.expectations.emplace_back().what.metric = MetricId::relevancy;
  test.expectations[0].judge.emplace().rubric = 0;
  const auto of_version = [&](const std::string& version) {
    CaseList cases{test};
    cases.take(std::make_shared<const RecordedAnswers>(
        read("\n{\"id\": \"a\", \"answer\": \"x\", \"meta\": {\"assay\": {\"judge\": {\"relevancy\": "
             "{\"rubric_version\": \"" +
             version + "\", \"score\": 0.9, \"samples\": [true]}}}}}\n")));
    return passed_over_judgements(cases, std::vector{Rubric{"relevancy", "v1", "s", "u"}}, "a.jsonl");
  };
  EXPECT_EQ(of_version("v1"), std::nullopt);
  EXPECT_EQ(
      of_version("v9"),
      "a.jsonl:2: relevancy is judged by v9 there, and the test \"a\" asks for v1; that judgement counts "
      "for nothing");
}

}  // namespace sluice::recorded_answers_test
