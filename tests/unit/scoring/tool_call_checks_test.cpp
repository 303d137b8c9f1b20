// Checks of the calls of tools that an answer makes.
#include "tests/unit/scoring/answer_verdict.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::answer_checks_test {

TEST(AnswerChecks, CompareCallsOfTools) {
  const std::vector<ToolCall> calls{{"", "refund", "{}"},
                                    {"", "look_up", R"({"order":{"id":17,"lines":[1,2]},"all":true})"}};
  CheckedAnswer answer("text");
  answer.calls = calls;
  const auto wants = [&](const std::string& name, const std::string& arguments) {
    return verdict(answer, {MetricId::tool_call, {name, arguments}});
  };
  EXPECT_EQ(wants("look_up", "{}"), "pass");
  const std::vector<ToolCall> cut_off{{"", "look_up", R"({"order":{"id")"}};
  CheckedAnswer half("text");
  half.calls = cut_off;
  EXPECT_EQ(verdict(half, {MetricId::not_tool_call, {"look_up", "{}"}}).find("it must not pass tool_call"),
            0u)
      << "the name alone is asked for";
  EXPECT_EQ(verdict(half, {MetricId::not_tool_call, {"look_up", R"({"order":{}})"}}).find("it must not pass"),
            0u)
      << "what it was cut off from may have been that";
  EXPECT_EQ(verdict(half, {MetricId::not_tool_call, {"refund", "{}"}}), "pass");
  // It passed: the name alone was looked at.
  for (const char* wanted : {"{}", R"({"order":{}})"}) {
    EXPECT_EQ(verdict(half, {MetricId::tool_call, {"look_up", wanted}}),
              R"(calls look_up with arguments that are not JSON: "{\"order\":{\"id\"")");
  }
  EXPECT_NE(verdict(half, {MetricId::tool_call, {"refund", "{}"}}).find(", not \"refund {}\""),
            std::string::npos);
  TextExpectation opposite{MetricId::not_any_of, {}, {1}};
  opposite.parts = {{MetricId::tool_call, {"look_up", "{}"}}};
  EXPECT_NE(verdict(half, opposite), "pass") << "a call is a call";
  const std::vector<ToolCall> list{{"", "look_up", "[17]"}};
  half.calls = list;
  EXPECT_EQ(verdict(half, {MetricId::tool_call, {"look_up", "{}"}}),
            "calls look_up with arguments that are no JSON object: \"[17]\"");
  const std::vector<ToolCall> once_more{{"", "look_up", R"({"order)"}, {"", "look_up", "null"}};
  half.calls = once_more;
  EXPECT_EQ(verdict(half, {MetricId::tool_call, {"look_up", "{}"}}), "pass") << "the second one can be made";
  EXPECT_EQ(wants("look_up", R"({"order":{"id":17}})"), "pass") << "members may be more";
  EXPECT_EQ(wants("look_up", R"({"order":{"id":17.0}})"), "pass") << "a number is its value";
  EXPECT_NE(wants("look_up", R"({"order":{"lines":[1]}})"), "pass") << "lists are equal";
  EXPECT_NE(wants("look_up", R"({"order":{"id":18}})"), "pass");
  EXPECT_NE(wants("look", "{}").find("calls \"refund {}\", "), std::string::npos) << wants("look", "{}");
  EXPECT_EQ(verdict("text", {MetricId::tool_call, {"look_up", "{}"}}), "calls no tool, not \"look_up {}\"");
  EXPECT_EQ(verdict("text", {MetricId::not_tool_call, {"look_up", "{}"}}), "pass");
}

TEST(AnswerChecks, CompareAListOfCalls) {
  const ToolCall first{"", "look_up", R"({"order":17,"all":true})"};
  const ToolCall second{"", "look_up", R"({"order":18})"};
  const ToolCall refund{"", "refund", "{}"};
  const auto of = [](const std::vector<ToolCall>& calls, const std::vector<std::string>& wanted, double order,
                     MetricId metric = MetricId::tool_calls) {
    CheckedAnswer answer("text");
    answer.calls = calls;
    return verdict(answer, {metric, wanted, {order}});
  };
  const std::vector<std::string> both{"look_up", "{}", "look_up", R"({"order":17})"};
  EXPECT_EQ(of({first, second}, both, 0), "pass") << "the first is needed for the narrower one";
  EXPECT_EQ(of({second, first}, both, 0), "pass");
  EXPECT_EQ(of({second, first}, both, 1), "pass");
  EXPECT_EQ(of({first, second}, both, 1),
            R"(call 2 is "look_up {\"order\":18}", not "look_up {\"order\":17}")");
  EXPECT_EQ(of({second, second}, both, 0),
            R"(does not call "look_up {\"order\":17}", and calls "look_up {\"order\":18}" besides)");
  EXPECT_EQ(of({first}, both, 0), R"(does not call "look_up {\"order\":17}")")
      << "one call is not counted twice";
  EXPECT_EQ(of({first}, both, 1), R"(makes no call 2, which is to be "look_up {\"order\":17}")");
  EXPECT_EQ(of({refund, first, second}, both, 0), "calls \"refund {}\" besides");
  EXPECT_EQ(of({second, first, refund}, both, 1), "call 3 is one too many: \"refund {}\"");
  EXPECT_EQ(of({}, both, 0), "calls no tool, not \"look_up {}\"");
  std::vector<ToolCall> very_many(1000, refund);
  EXPECT_EQ(of(very_many, {"refund", "{}"}, 0), "calls \"refund {}\" besides");
  very_many.push_back(second);
  EXPECT_EQ(of(very_many, {"look_up", "{}"}, 0), "calls \"refund {}\" besides") << "it is called, too";
  EXPECT_EQ(of({first, second}, both, 0, MetricId::not_tool_calls), "it must not pass tool_calls");
  EXPECT_EQ(of({first}, both, 0, MetricId::not_tool_calls), "pass");
  const ToolCall half{"", "refund", R"({"order)"};
  EXPECT_EQ(of({half}, {"refund", "{}"}, 0),
            R"(does not call "refund {}", and calls refund with arguments that are not JSON: "{\"order")");
  EXPECT_EQ(of({refund}, {"refund", "{}", "refund", "{}"}, 0), "does not call \"refund {}\" once more");
  EXPECT_NE(of({half}, {"refund", "{}"}, 0, MetricId::not_tool_calls), "pass")
      << "it may have been that call";
}

// Brackets by the ten thousand overflowed the stack: the arguments were copied level by level.
TEST(AnswerChecks, CallsMayNestAsDeeplyAsTheyLike) {
  const std::string lists = std::string(200'000, '[') + std::string(200'000, ']');
  const std::string why = "calls refund with arguments that nest deeper than 128 levels: ";
  for (const std::string& arguments : {"{\"a\":" + lists + "}", lists, std::string(200'000, '[')}) {
    const std::vector<ToolCall> calls{{"", "refund", arguments}};
    CheckedAnswer answer("text");
    answer.calls = calls;
    EXPECT_EQ(verdict(answer, {MetricId::tool_call, {"refund", "{}"}}).find(why), 0u);
    EXPECT_NE(verdict(answer, {MetricId::tool_calls, {"refund", "{}"}, {0}}).find(why), std::string::npos);
    EXPECT_NE(verdict(answer, {MetricId::tool_calls, {"refund", "{}"}, {1}}), "pass");
    for (const MetricId opposite : {MetricId::not_tool_call, MetricId::not_tool_calls})
      EXPECT_NE(verdict(answer, {opposite, {"refund", "{}"}, {0}}), "pass") << "it may have been that call";
    EXPECT_EQ(verdict(answer, {MetricId::tool_call, {"refund", arguments}}).find(why), 0u)
        << "nor is it compared with one that a suite asks for";
  }
}

TEST(AnswerChecks, KnowWhetherAnyToolIsCalled) {
  const std::vector<ToolCall> calls{{"", "refund", "{}"}};
  CheckedAnswer answer("text");
  EXPECT_EQ(verdict(answer, {MetricId::not_tool_call, {}}), "pass");
  EXPECT_EQ(verdict(answer, {MetricId::tool_call, {}}), "calls no tool");
  answer.calls = calls;
  EXPECT_EQ(verdict(answer, {MetricId::not_tool_call, {}}), "it must not pass tool_call");
  EXPECT_EQ(verdict(answer, {MetricId::tool_call, {}}), "pass");
}

// A call of a tool that there is not, or that the tool would refuse, failed nothing.
TEST(AnswerChecks, HoldEachCallAgainstTheTools) {
  const std::vector<Tool> tools{
      {"look_up", "",
       R"({"type":"object","properties":{"order":{"type":"integer"}},"required":["order"],"additionalProperties":false})"},
      {"now", "", R"({"properties":{},"type":"object"})"}};
  const auto of = [&](const std::vector<ToolCall>& calls, MetricId metric = MetricId::tool_calls_valid) {
    CheckedAnswer answer("text");
    answer.calls = calls;
    answer.tools = tools;
    return verdict(answer, {metric, {}});
  };
  const ToolCall fine{"", "look_up", R"({"order":17})"};
  EXPECT_EQ(of({}), "pass");
  EXPECT_EQ(of({fine, {"", "now", "null"}, {"", "now", "{}"}}), "pass");
  EXPECT_EQ(of({fine, {"", "drop_database", "{}"}}),
            "calls \"drop_database\", which is none of the test's tools");
  EXPECT_EQ(of({{"", "look_up", "{}"}})
                .find("the call \"look_up {}\" does not fit the schema at the root: Missing required "
                      "property 'order'"),
            0u)
      << of({{"", "look_up", "{}"}});
  for (const char* broken : {R"({"order":"17"})", R"({"order":17,"all":true})", "null"})
    EXPECT_EQ(of({{"", "look_up", broken}}).find("the call \"look_up "), 0u) << broken;
  EXPECT_EQ(of({{"", "look_up", R"({"order":1)"}}),
            R"(calls look_up with arguments that are not JSON: "{\"order\":1")");
  EXPECT_EQ(of({{"", "now", "```json\n{}\n```"}}).find("calls now with arguments that are not JSON"), 0u);
  EXPECT_EQ(of({{"", "now", "[]"}}).find("calls now with arguments that are no JSON object"), 0u);
  EXPECT_EQ(of({{"", "pay", "{}"}}, MetricId::not_tool_calls_valid), "pass");
  EXPECT_EQ(of({fine}, MetricId::not_tool_calls_valid), "it must not pass tool_calls_valid");
  const ToolCall deep{"", "now", "{\"a\":" + std::string(200, '[') + std::string(200, ']') + "}"};
  EXPECT_EQ(of({deep}, MetricId::not_tool_calls_valid).find("undecided: the call \"now "), 0u);
  EXPECT_EQ(of({deep, {"", "pay", "{}"}}, MetricId::not_tool_calls_valid), "pass") << "another one decides";
}

}  // namespace sluice::answer_checks_test
