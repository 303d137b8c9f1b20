// Answers that an application recorded: JSON Lines, and spans of OpenTelemetry.
#include "coordinator/suite/recorded_answers.hpp"

#include "common/defaults.hpp"

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

TEST(RecordedAnswers, ASpanWithoutAnAnswerIsAFinding) {
  EXPECT_TRUE(problem(R"({"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": [)"
                      R"({"key": "sluice.test", "value": {"stringValue": "peru"}}]}]}]}]})")
                  .starts_with("1: the span of the test \"peru\" has no answer"));
  EXPECT_TRUE(problem(R"({"resourceSpans": []})").starts_with("0: there is no answer in it;"));
}

}  // namespace sluice::recorded_answers_test
