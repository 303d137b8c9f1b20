#include "common/text/base64.hpp"
#include "coordinator/suite/canonical_case.hpp"
#include "tests/unit/suite/suite_files.hpp"

#include <string>

namespace sluice {
namespace {

/// What a test's `input` has beside its prompt.
class RequestSuite : public SuiteFiles {
 protected:
  /// A suite with one test whose `input` is all that is given; it begins in line 5.
  static std::string with_input(const std::string& lines, const std::string& vars = {}) {
    return "suite: s\ntests:\n- id: t\n  expected: {type: must_contain, text: a}\n" + vars + "  input:\n" +
           lines;
  }
};

constexpr const char* conversation = R"yaml(    messages:
      - {role: system, content: "You answer for {{shop}}."}
      - role: user
        content: [{text: "Where is order {{order}}?"}, {image: photo.png}, {image: "https://a.example/b.jpg"}]
      - role: assistant
        content: One moment.
        tool_calls: [{name: look_up, arguments: {order: 17, all: false}}]
      - {role: tool, content: paid}
      - {role: user, content: "And when does {{order}} arrive?"}
    tools:
      - {name: look_up, description: Finds orders., parameters: {type: object, properties: {order: {type: integer}}}}
      - {type: function, function: {name: refund}}
    tool_choice: look_up
    params: {top_p: 0.9, stop: [END], temperature: 0.2}
)yaml";

// Both calls were call_2, and the second answer was that of the first.
TEST_F(RequestSuite, GivesNoCallTheIdOfAnother) {
  const Case test = first_case(with_input(R"yaml(    messages:
      - {role: user, content: Both?}
      - {role: assistant, tool_calls: [{id: call_2, name: f}, {name: g}]}
      - {role: tool, tool_call_id: call_2, content: of f}
      - {role: tool, content: of g}
      - {role: user, content: And?}
)yaml"));
  ASSERT_EQ(test.extras.messages.size(), 5u);
  EXPECT_EQ(test.extras.messages[1].calls[0].id, "call_2");
  EXPECT_EQ(test.extras.messages[1].calls[1].id, "call_3");
  EXPECT_EQ(test.extras.messages[3].call_id, "call_3");
}

// The id that the first call got was written at the second, in a later message.
TEST_F(RequestSuite, GivesNoCallTheIdOfALaterOne) {
  const Case test = first_case(with_input(R"yaml(    messages:
      - {role: user, content: Both?}
      - {role: assistant, tool_calls: [{name: f}]}
      - {role: tool, content: of f}
      - {role: assistant, tool_calls: [{id: call_1, name: g}]}
      - {role: tool, tool_call_id: call_1, content: of g}
      - {role: user, content: And?}
)yaml"));
  ASSERT_EQ(test.extras.messages.size(), 6u);
  EXPECT_EQ(test.extras.messages[1].calls[0].id, "call_2");
  EXPECT_EQ(test.extras.messages[2].call_id, "call_2");
  EXPECT_EQ(test.extras.messages[3].calls[0].id, "call_1");
  EXPECT_EQ(test.extras.messages[4].call_name, "g");
}

TEST_F(RequestSuite, ReadsMessagesToolsAndParameters) {
  const std::string png("\x89PNG\r\n\x1a\n...", 11);
  write("photo.png", png);
  const Case test = first_case(with_input(conversation, "  vars: {shop: Toys, order: 17}\n"));
  EXPECT_EQ(test.system, "You answer for Toys.");
  EXPECT_EQ(test.content, "And when does 17 arrive?");
  const std::vector<ChatMessage> expected{
      {MessageRole::user,
       {{PartKind::text, "Where is order 17?"},
        {PartKind::image_data, to_base64(png), "image/png"},
        {PartKind::image_url, "https://a.example/b.jpg"}}},
      {MessageRole::assistant,
       {{PartKind::text, "One moment."}},
       {{"call_1", "look_up", R"({"order":17,"all":false})"}}},
      {MessageRole::tool, {{PartKind::text, "paid"}}, {}, "call_1", "look_up"},
      {MessageRole::user, {{PartKind::asked}}}};
  EXPECT_EQ(test.extras.messages, expected);
  const std::vector<Tool> tools{
      {"look_up", "Finds orders.", R"({"type":"object","properties":{"order":{"type":"integer"}}})"},
      {"refund", "", R"({"properties":{},"type":"object"})"}};
  EXPECT_EQ(test.extras.tools, tools);
  EXPECT_EQ(test.extras.tool_choice, "look_up");
  EXPECT_EQ(test.extras.params,
            (RequestParams{{"stop", R"(["END"])"}, {"temperature", "0.2"}, {"top_p", "0.9"}}));
}

TEST_F(RequestSuite, MessagesThatAreAPromptAreThatPrompt) {
  const Case said = first_case(with_input(
      "    messages: [{role: system, content: Be brief.}, {role: user, content: \"Who are you?\"}]\n"));
  const Case plain = first_case(with_input("    system: Be brief.\n    prompt: \"Who are you?\"\n"));
  EXPECT_TRUE(said.extras.empty());
  EXPECT_EQ(case_fingerprints(said).whole, case_fingerprints(plain).whole);
}

TEST_F(RequestSuite, WhatItAsksForIsPartOfTheFingerprint) {
  const auto of = [&](const std::string& more) {
    return case_fingerprints(first_case(with_input("    prompt: p\n" + more))).whole;
  };
  const Digest plain = of("");
  EXPECT_NE(of("    params: {top_p: 0.9}\n"), plain);
  EXPECT_NE(of("    params: {top_p: 0.9}\n"), of("    params: {top_p: 0.8}\n"));
  EXPECT_NE(of("    tools: [{name: a}]\n"), plain);
  EXPECT_NE(of("    tools: [{name: a}]\n    tool_choice: none\n"), of("    tools: [{name: a}]\n"));
  EXPECT_NE(of("    response_format: json\n"), plain);
  EXPECT_NE(of("    response_format: {schema: {type: object}}\n"), of("    response_format: json\n"));
}

TEST_F(RequestSuite, ReadsTheFormOfAnswers) {
  write("order.json", R"({"type": "object", "required": ["id"]})");
  const Case test = first_case(
      with_input("    prompt: p\n    response_format: {schema: order.json, name: order, strict: true}\n"));
  EXPECT_EQ(test.response_schema, R"({"type":"object","required":["id"]})");
  EXPECT_EQ(test.extras.format, (AnswerFormat{true, "order", true}));
  EXPECT_EQ(first_case(with_input("    prompt: p\n    response_format: json\n")).extras.format,
            (AnswerFormat{true}));
}

// A model answers in the order of its schema: sorted, `answer` came before `reasoning`.
TEST_F(RequestSuite, KeysOfWhatIsSentStandAsWritten) {
  const std::string schema =
      R"({"type":"object","properties":{"reasoning":{"type":"string"},"answer":{"type":"string"}}})";
  write("answer.json", schema);
  const auto of = [&](const std::string& given) {
    return first_case(with_input("    prompt: p\n    response_format: {schema: " + given +
                                 "}\n    tools: " + "[{name: a, parameters: " + schema +
                                 "}]\n    params: {guided_json: " + schema + "}\n"));
  };
  for (const std::string& given : {schema, std::string("answer.json")}) {
    const Case test = of(given);
    EXPECT_EQ(test.response_schema, schema) << given;
    EXPECT_EQ(test.extras.tools, (std::vector<Tool>{{"a", "", schema}}));
    EXPECT_EQ(test.extras.params, (RequestParams{{"guided_json", schema}}));
  }
  const std::string line = R"({"id":"t","input":{"prompt":"p","response_format":{"schema":)" + schema +
                           R"(}},"expected":{"type":"must_contain","text":"a"}})";
  write("t.jsonl", line);
  EXPECT_EQ(first_case("suite: s\ntests_file: t.jsonl\n").response_schema, schema);
}

TEST_F(RequestSuite, TheOrderOfASchemaIsAskedAndJudgesNothing) {
  const auto of = [&](const std::string& schema) {
    return case_fingerprints(
        first_case("suite: s\ntests:\n- id: t\n  expected: {type: tool_calls_valid}\n  input: {prompt: p, "
                   "tools: [{name: a, parameters: " +
                   schema + "}], response_format: {schema: " + schema + "}}\n"));
  };
  const CaseFingerprints sorted = of("{properties: {a: {}, b: {}}, type: object}");
  const CaseFingerprints other = of("{type: object, properties: {b: {}, a: {}}}");
  EXPECT_NE(sorted.whole, other.whole);
  EXPECT_EQ(sorted.judging, other.judging);
}

TEST_F(RequestSuite, ParametersOfSuiteAndArmsAreRead) {
  const LoadedSuite loaded = load(
      "suite: s\nsettings: {params: {top_p: 0.5}}\narms: [{name: a, params: {top_k: 3}}]\n"
      "tests: [{id: t, input: {prompt: p}, expected: {type: must_contain, text: a}}]\n");
  ASSERT_EQ(loaded.suite.arms.size(), 1u);
  EXPECT_EQ(loaded.suite.arms[0].params, (RequestParams{{"top_k", "3"}}));
  ASSERT_EQ(loaded.settings.size(), 1u);
  EXPECT_EQ(loaded.settings[0].key, "params");
}

struct Slip {
  std::string lines;
  std::string finding;
};

TEST_F(RequestSuite, SaysWhatIsWrongWithARequest) {
  write("note.txt", "no image");
  const std::vector<Slip> slips{
      {"    messages: []\n",
       "suite.yaml:6: \"messages\" in input must be a list of messages, such as {role: user, content: "
       "\"...\"}, "
       "and not empty\n"},
      {"    messages: [{role: assistant, content: Hi}]\n",
       "suite.yaml:6: \"messages\" in input need a text of the user: it is what is asked\n"},
      {"    messages: [{role: user, content: Hi}, {role: assistant, tool_calls: []}]\n",
       "suite.yaml:6: \"tool_calls\" in input.messages[1] must not be empty: leave them out where nothing is "
       "called\n"},
      {"    messages: [{role: bot, content: Hi}]\n",
       "suite.yaml:6: \"role\" in input.messages[0] must be \"system\", \"user\", \"assistant\" or \"tool\", "
       "not "
       "\"bot\"\n"},
      {"    messages: [{role: user, content: Hi}, {role: system, content: x}]\n",
       "suite.yaml:6: \"role\" in input.messages[1] can be \"system\" in the first message alone: not every "
       "provider takes it later\n"},
      {"    messages: [{role: user, content: Hi}, {role: tool, content: x}]\n",
       "suite.yaml:6: \"role\" in input.messages[1] is \"tool\", and no call of a message before waits for "
       "an "
       "answer\n"},
      {"    messages: [{role: user, content: [{image: note.txt}, {text: x}]}]\n",
       "suite.yaml:6: \"image\" in input.messages[0].content[0] names \"note.txt\", which is no PNG, JPEG, "
       "GIF "
       "or WebP\n"},
      {"    messages: [{role: user, content: [{image: ../x.png}, {text: x}]}]\n", "../x.png"},
      {"    messages: [{role: user, content: \"{{name}}\"}]\n",
       "holds {{name}}, and the test has no \"vars\""},
      {"    prompt: p\n    messages: [{role: user, content: x}]\n",
       "suite.yaml:6: \"prompt\" in input cannot stand beside \"messages\": the last text of the user is the "
       "prompt\n"},
      {"    prompt: p\n    tool_choice: auto\n",
       "suite.yaml:7: \"tool_choice\" in input has no effect without \"tools\"\n"},
      {"    prompt: p\n    tools: [{name: a}]\n    tool_choice: b\n",
       "suite.yaml:8: \"tool_choice\" in input must be \"auto\", \"none\", \"required\" or the name of one "
       "of "
       "the \"tools\"\n"},
      {"    prompt: p\n    tools: [{name: a b}]\n", "must be of letters, digits"},
      {"    prompt: p\n    tools: [{name: a}, {name: a}]\n", "is that of another tool of the test"},
      {"    prompt: p\n    response_format: xml\n",
       "suite.yaml:7: \"response_format\" in input must be \"json\", or have a \"schema\": {schema: {type: "
       "object}}\n"},
      {"    prompt: p\n    params: {model: x}\n",
       "suite.yaml:7: \"params\" in input must be fields of the request: \"model\" in it is no parameter: it "
       "is "
       "\"model\" in the settings\n"},
      {"    prompt: p\n    params: {temperature: hot}\n",
       "\"temperature\" in it must be a number from 0 to 2"},
      {"    prompt: p\n    params: {max_tokens: 0}\n", "\"max_tokens\" in it must be a whole number from 1"},
      {"    prompt: p\n    params: {stream: true}\n", "answers are read whole"},
      {"    prompt: p\n    params: 3\n",
       "\"params\" in input must be a mapping of fields of the request, as { top_p: 0.9 }\n"},
  };
  for (const Slip& slip : slips) {
    const std::string said = findings(with_input(slip.lines));
    EXPECT_NE(said.find(slip.finding), std::string::npos) << slip.lines << said;
  }
}

// They were shown TOML's.
TEST_F(RequestSuite, ParametersAreShownAsTheFileWritesThem) {
  const std::string must = "must be a mapping of fields of the request, as { top_p: 0.9 }\n";
  const std::string tests = "tests: [{id: t, input: {prompt: p}, expected: {type: refusal}}]\n";
  EXPECT_EQ(findings("suite: s\nsettings: {params: [1]}\n" + tests),
            "suite.yaml:2: \"params\" in settings " + must);
  EXPECT_EQ(findings("suite: s\narms: [{name: a, params: 3}]\n" + tests),
            "suite.yaml:2: \"params\" in arms[0] " + must);
  write("t.jsonl", R"({"id":"t","input":{"prompt":"p","params":3},"expected":{"type":"refusal"}})");
  EXPECT_EQ(
      findings("suite: s\ntests_file: t.jsonl\n"),
      "t.jsonl:1: \"params\" in input must be an object of fields of the request, as {\"top_p\": 0.9}\n");
}

TEST_F(RequestSuite, ClaimsHaveTheirOwnRequestButTakeParameters) {
  const std::string head =
      "suite: s\ntests:\n- id: t\n  expected: {type: claims_recall, must_contain: [{subject: a, predicate: "
      "b, "
      "value: 1}]}\n  input:\n    prompt: p\n";
  const std::string said = findings(head + "    tools: [{name: a}]\n    response_format: json\n");
  EXPECT_NE(said.find("\"tools\" in input does not go with claims metrics"), std::string::npos) << said;
  EXPECT_NE(said.find("\"response_format\" in input does not go with claims metrics"), std::string::npos)
      << said;
  EXPECT_EQ(first_case(head + "    params: {top_p: 0.9}\n").extras.params, (RequestParams{{"top_p", "0.9"}}));
}

}  // namespace
}  // namespace sluice
