#include "tests/unit/providers/answer_fixture.hpp"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::answer_test {

using answer_fixture::answered;
using answer_fixture::choice;
using answer_fixture::now;
using answer_fixture::ok;
using answer_fixture::provider;

constexpr const char* openai_answer = R"json({
  "id": "chatcmpl-9xQ2", "object": "chat.completion", "created": 1714560000, "model": "gpt-4o-mini-2024-07-18",
  "choices": [{"index": 0, "message": {"role": "assistant", "content": "{\"claims\":[]}", "refusal": null},
               "logprobs": null, "finish_reason": "stop"}],
  "usage": {"prompt_tokens": 812, "completion_tokens": 64, "total_tokens": 876,
            "prompt_tokens_details": {"cached_tokens": 512}, "completion_tokens_details": {"reasoning_tokens": 40}},
  "system_fingerprint": "fp_44709d6fcb"})json";

TEST(OpenaiAnswer, IsReadWhole) {
  const Completion completion = answered(ProviderKind::openai, openai_answer);
  EXPECT_EQ(completion.text, R"({"claims":[]})");
  EXPECT_EQ(completion.finish_reason, "stop");
  EXPECT_EQ(completion.served_model, "gpt-4o-mini-2024-07-18");
  EXPECT_EQ(completion.usage, (Usage{812, 64})) << "cached and reasoning tokens are parts, not additions";
  EXPECT_EQ(completion.created_at_ms, 1'700'000'000'123);
  EXPECT_FALSE(completion.non_answer);
}

// It was no answer, so that it was in no cache, and each offline run lacked it.
TEST(OpenaiAnswer, AFilterOfPromptsHasDeclined) {
  for (
      const auto* body :
      {R"({"error":{"message":"filtered","type":null,"param":"prompt","code":"content_filter","status":400}})",
       R"({"error":{"message":"filtered","innererror":{"code":"ResponsibleAIPolicyViolation"}}})",
       R"({"error":{"message":"filtered","code":403,"metadata":{"reasons":["violence"],"flagged_input":"x"}}})"}) {
    const CallOutcome outcome = read_response(provider(ProviderKind::openai), {400, {}, body}, now);
    ASSERT_TRUE(std::holds_alternative<Answered>(outcome)) << body;
    const Completion& completion = std::get<Answered>(outcome).completion;
    ASSERT_TRUE(completion.non_answer) << body;
    EXPECT_EQ(completion.non_answer->reason, Reason::refusal);
    EXPECT_NE(completion.non_answer->message.find("filtered"), std::string::npos);
    EXPECT_EQ(completion.created_at_ms, 1'700'000'000'123);
  }
  const auto other =
      read_response(provider(ProviderKind::openai), {400, {}, R"({"error":{"code":"x"}})"}, now);
  EXPECT_TRUE(std::holds_alternative<Failed>(other));
}

TEST(OpenaiAnswer, HalvesOfCharactersAreReplaced) {
  const auto text_of = [](const std::string& content) {
    return answered(ProviderKind::openai,
                    R"({"choices":[{"message":{"content":")" + content + R"("},"finish_reason":"stop"}]})")
        .text;
  };
  EXPECT_EQ(text_of(R"(cut \ud83d)"), "cut \uFFFD");
  EXPECT_EQ(text_of(R"(\uDE00 and \uD83D\uDE00)"), "\uFFFD and \U0001F600");
  EXPECT_EQ(text_of(R"(\ud83d\ud83d\ude00)"), "\uFFFD\U0001F600");
  EXPECT_EQ(text_of(R"(\\ud83d \ud83d)"), "\\ud83d \uFFFD") << "an escaped backslash escapes nothing";
  EXPECT_EQ(text_of(R"(\ud83d\n)"), "\uFFFD\n");
  EXPECT_EQ(text_of(R"(\ud83dXudc00)"), "\uFFFDXudc00");
}

TEST(OpenaiAnswer, OtherBrokenStringsAreNoAnswer) {
  for (const char* content : {R"(\ud83)", R"(\x)", R"(\ud83d\x)", R"(\ud83d\)"}) {
    const auto outcome = read_response(provider(ProviderKind::openai),
                                       ok(std::string(R"({"choices":[{"message":{"content":")") + content +
                                          R"("},"finish_reason":"stop"}]})"),
                                       now);
    EXPECT_TRUE(std::holds_alternative<Failed>(outcome)) << content;
  }
}

/// An answer that calls tools, in each format.
const std::vector<std::pair<ProviderKind, std::string>> calling_answers{
    {ProviderKind::openai,
     R"({"model":"m","choices":[{"message":{"content":null,"tool_calls":[)"
     R"({"id":"call_x","type":"function","function":{"name":"look_up","arguments":"{\"id\": 17, \"all\": true}"}},)"
     R"({"id":"call_y","type":"function","function":{"name":"refund","arguments":"{}"}}]},)"
     R"("finish_reason":"tool_calls"}]})"},
    {ProviderKind::anthropic,
     R"({"model":"m","content":[{"type":"tool_use","id":"t1","name":"look_up","input":{"id":17,"all":true}},)"
     R"({"type":"tool_use","id":"t2","name":"refund","input":{}}],"stop_reason":"tool_use"})"},
    {ProviderKind::gemini,
     R"({"candidates":[{"content":{"parts":[{"functionCall":{"name":"look_up","args":{"id":17,"all":true}}},)"
     R"({"functionCall":{"name":"refund"}}]},"finishReason":"STOP"}]})"},
    {ProviderKind::gemini,
     R"({"candidates":[{"content":{"parts":[{"functionCall":{"name":"look_up","args":{"id":17,"all":true}}},)"
     R"({"functionCall":{"name":"refund"}}]},"finishReason":"FUNCTION_CALL"}]})"}};

TEST(Answer, CallsOfToolsAreAnAnswerAndNoRefusal) {
  for (const auto& [kind, body] : calling_answers) {
    const Completion completion = answered(kind, body);
    EXPECT_FALSE(completion.non_answer) << to_string(kind);
    EXPECT_EQ(completion.calls,
              (std::vector<ToolCall>{{"", "look_up", R"({"id":17,"all":true})"}, {"", "refund", "{}"}}))
        << to_string(kind);
    EXPECT_EQ(completion.text,
              "{\"tool_call\":{\"name\":\"look_up\",\"arguments\":{\"id\":17,\"all\":true}}}\n"
              "{\"tool_call\":{\"name\":\"refund\",\"arguments\":{}}}")
        << to_string(kind);
  }
}

TEST(Answer, ACallBesideAnEmptyTextIsAnAnswer) {
  const Completion completion = answered(
      ProviderKind::openai,
      R"({"choices":[{"message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},)"
      R"("finish_reason":"tool_calls"}]})");
  EXPECT_FALSE(completion.non_answer);
  EXPECT_EQ(completion.calls.size(), 1u);
}

// A million zeros were a million calls, and an entry that nobody could read again.
TEST(Answer, WhatHasNoNameIsNoCall) {
  std::string junk = R"(null,"f",{},[],{"function":7},{"function":{}},{"function":{"name":""}},{"name":""},)"
                     R"({"type":"tool_use"},{"type":"function_call","name":7},{"functionCall":{"args":{}}})";
  for (int i = 0; i < 100'000; ++i) junk += ",0";
  const std::vector<std::pair<ProviderKind, std::pair<std::string, std::string>>> bodies{
      {ProviderKind::openai,
       {R"({"choices":[{"message":{"tool_calls":[)", R"(]},"finish_reason":"stop"}]})"}},
      {ProviderKind::openai_responses, {R"({"status":"completed","output":[)", "]}"}},
      {ProviderKind::anthropic, {R"({"content":[)", R"(],"stop_reason":"end_turn"})"}},
      {ProviderKind::gemini, {R"({"candidates":[{"content":{"parts":[)", R"(]},"finishReason":"STOP"}]})"}},
      {ProviderKind::exec, {R"({"text":"","tool_calls":[)", "]}"}}};
  for (const auto& [kind, body] : bodies) {
    const Completion completion = answered(kind, body.first + junk + body.second);
    EXPECT_TRUE(completion.calls.empty()) << to_string(kind);
    ASSERT_TRUE(completion.non_answer) << to_string(kind);
    EXPECT_EQ(completion.non_answer->reason, Reason::refusal);
  }
}

TEST(Answer, BlankArgumentsOfACallAreNone) {
  const auto openai_call = [](const std::string& function) {
    return R"({"choices":[{"message":{"content":null,"tool_calls":[{"function":)" + function +
           R"(}]},"finish_reason":"tool_calls"}]})";
  };
  for (const auto& [kind, body] : std::vector<std::pair<ProviderKind, std::string>>{
           {ProviderKind::openai, openai_call(R"({"name":"f","arguments":""})")},
           {ProviderKind::openai, openai_call(R"({"name":"f","arguments":" \n"})")},
           {ProviderKind::openai, openai_call(R"({"name":"f"})")},
           {ProviderKind::anthropic,
            R"({"content":[{"type":"tool_use","id":"t","name":"f"}],"stop_reason":"tool_use"})"}}) {
    const Completion completion = answered(kind, body);
    EXPECT_EQ(completion.calls, (std::vector<ToolCall>{{"", "f", "{}"}})) << body;
    EXPECT_EQ(completion.text, R"({"tool_call":{"name":"f","arguments":{}}})") << body;
  }
}

TEST(Answer, TextAndCallsStandTogetherAndArgumentsThatAreNoJsonAreShown) {
  const Completion completion = answered(
      ProviderKind::openai,
      R"({"choices":[{"message":{"content":"I look.","tool_calls":[{"function":{"name":"f","arguments":"{oops"}}]},)"
      R"("finish_reason":"tool_calls"}]})");
  EXPECT_EQ(completion.text, "I look.\n{\"tool_call\":{\"name\":\"f\",\"arguments\":\"{oops\"}}");
  EXPECT_EQ(completion.calls, (std::vector<ToolCall>{{"", "f", "{oops"}}));
}

TEST(Answer, AFilteredAnswerThatCallsToolsIsARefusal) {
  const Completion completion = answered(
      ProviderKind::openai,
      R"({"choices":[{"message":{"content":null,"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},)"
      R"("finish_reason":"content_filter"}]})");
  ASSERT_TRUE(completion.non_answer);
  EXPECT_EQ(completion.non_answer->reason, Reason::refusal);
}

constexpr const char* anthropic_answer = R"json({
  "id": "msg_01XFDU", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929",
  "content": [{"type": "thinking", "thinking": "hm", "signature": "EqQB"},
              {"type": "text", "text": "{\"claims\":"}, {"type": "text", "text": "[]}"}],
  "stop_reason": "end_turn", "stop_sequence": null,
  "usage": {"input_tokens": 100, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 3,
            "output_tokens": 50}})json";

TEST(AnthropicAnswer, JoinsTextBlocksAndAddsCachedInput) {
  const Completion completion = answered(ProviderKind::anthropic, anthropic_answer);
  EXPECT_EQ(completion.text, R"({"claims":[]})");
  EXPECT_EQ(completion.finish_reason, "end_turn");
  EXPECT_EQ(completion.served_model, "claude-sonnet-4-5-20250929");
  EXPECT_EQ(completion.usage, (Usage{123, 50}));
  EXPECT_EQ(completion.created_at_ms, 1'700'000'000'123);
  EXPECT_FALSE(completion.non_answer);
}

constexpr const char* gemini_answer = R"json({
  "candidates": [{"content": {"role": "model", "parts": [
                    {"text": "let me see", "thought": true}, {"text": "{\"claims\":"}, {"text": "[]}"}]},
                  "finishReason": "STOP", "index": 0, "avgLogprobs": -0.01}],
  "usageMetadata": {"promptTokenCount": 300, "cachedContentTokenCount": 100, "candidatesTokenCount": 20,
                    "thoughtsTokenCount": 7, "totalTokenCount": 327},
  "modelVersion": "gemini-2.0-flash", "responseId": "x"})json";

TEST(GeminiAnswer, LeavesThoughtsOutOfTheTextButNotOfTheUsage) {
  const Completion completion = answered(ProviderKind::gemini, gemini_answer);
  EXPECT_EQ(completion.text, R"({"claims":[]})");
  EXPECT_EQ(completion.finish_reason, "STOP");
  EXPECT_EQ(completion.served_model, "gemini-2.0-flash");
  EXPECT_EQ(completion.usage, (Usage{300, 27}));
  EXPECT_FALSE(completion.non_answer);
}

struct NoAnswerCase {
  std::string name;
  ProviderKind kind;
  std::string body;
};

void PrintTo(const NoAnswerCase& c, std::ostream* out) {
  *out << c.name;
}

class SuccessWithoutAnswer : public testing::TestWithParam<NoAnswerCase> {};

TEST_P(SuccessWithoutAnswer, IsRetriedAsAFailureOfTheProvider) {
  const CallOutcome outcome = read_response(provider(GetParam().kind), ok(GetParam().body), now);
  ASSERT_TRUE(std::holds_alternative<Failed>(outcome));
  const Failed& failed = std::get<Failed>(outcome);
  EXPECT_EQ(failed.reason, Reason::provider_failed) << failed.message;
  EXPECT_TRUE(failed.retryable);
  EXPECT_FALSE(failed.counts_as_rate_limit);
  EXPECT_NE(failed.message.find("answered 200 with something that is not a"), std::string::npos)
      << failed.message;
}

// A program that writes tags was sent to look at its base URL.
TEST(WebPage, IsHtmlOfAServer) {
  const auto is_page = [](ProviderKind kind, const std::string& body,
                          const std::string& type = "text/plain") {
    const auto outcome = read_response(provider(kind), {200, {{"content-type", type}}, body}, now);
    return std::get<Failed>(outcome).is_web_page;
  };
  for (const char* body : {"<!DOCTYPE html><p>", "\n <html lang=\"en\">", "\xEF\xBB\xBF<HTML>"})
    EXPECT_TRUE(is_page(ProviderKind::openai, body)) << body;
  EXPECT_TRUE(is_page(ProviderKind::openai, "<!-- in --><body>", "Text/HTML; charset=utf-8"));
  for (const char* body : {"<answer>Paris</answer>", "<?xml version=\"1.0\"?><Error/>", "", "<"})
    EXPECT_FALSE(is_page(ProviderKind::openai, body)) << body;
  EXPECT_FALSE(is_page(ProviderKind::openai, R"({"oops":1})", "text/html")) << "a careless API";
  for (const char* body : {"<!DOCTYPE html>", "<think>hm</think>", "<answer>Paris</answer>"})
    EXPECT_FALSE(is_page(ProviderKind::exec, body)) << body;
}

INSTANTIATE_TEST_SUITE_P(
    Bodies, SuccessWithoutAnswer,
    testing::Values(
        NoAnswerCase{"empty", ProviderKind::openai, ""},
        NoAnswerCase{"page", ProviderKind::openai, "<html><body>Sign in</body></html>"},
        NoAnswerCase{"cut short", ProviderKind::openai, R"({"choices":[{"message":{"content":"{\"cl)"},
        NoAnswerCase{"bad utf-8", ProviderKind::openai, "{\"choices\":\"\xff\"}"},
        NoAnswerCase{"no choices", ProviderKind::openai, R"({"id":"x"})"},
        NoAnswerCase{"empty choices", ProviderKind::openai, R"({"choices":[]})"},
        NoAnswerCase{"choices of another type", ProviderKind::openai, R"({"choices":{"0":1}})"},
        NoAnswerCase{"no message", ProviderKind::openai, R"({"choices":[{"text":"old style"}]})"},
        NoAnswerCase{"upstream broke off", ProviderKind::openai,
                     R"({"choices":[{"message":{"content":"ha"},"finish_reason":"error"}]})"},
        NoAnswerCase{
            "deepseek without room", ProviderKind::openai,
            R"({"choices":[{"message":{"content":"ha"},"finish_reason":"insufficient_system_resource"}]})"},
        NoAnswerCase{"vllm that ends", ProviderKind::openai,
                     R"({"choices":[{"message":{"content":"ha"},"finish_reason":"abort"}]})"},
        NoAnswerCase{"zhipu without its network", ProviderKind::openai,
                     R"({"choices":[{"message":{"content":"ha"},"finish_reason":"network_error"}]})"},
        NoAnswerCase{"cancelled", ProviderKind::openai,
                     R"({"choices":[{"message":{"content":"ha"},"finish_reason":"cancelled"}]})"},
        NoAnswerCase{"an error that has only a type", ProviderKind::openai,
                     R"({"choices":[{"message":{"content":"ha"}}],"error":{"type":"x","code":0}})"},
        NoAnswerCase{"an array", ProviderKind::openai, "[1,2]"},
        NoAnswerCase{"anthropic without content", ProviderKind::anthropic, R"({"type":"message"})"},
        NoAnswerCase{"anthropic text content", ProviderKind::anthropic, R"({"content":"text"})"},
        NoAnswerCase{"anthropic reads no openai", ProviderKind::anthropic, openai_answer},
        NoAnswerCase{"gemini empty object", ProviderKind::gemini, "{}"},
        NoAnswerCase{"gemini empty candidates", ProviderKind::gemini, R"({"candidates":[]})"},
        NoAnswerCase{"gemini candidates of another type", ProviderKind::gemini, R"({"candidates":[7]})"},
        NoAnswerCase{"gemini reads no anthropic", ProviderKind::gemini, anthropic_answer}));

// Such a server was asked eight times for each answer, and had none.
TEST(Answer, AnEmptyErrorBesideItIsNone) {
  for (const char* error : {"{}", "null", "\"\"", R"({"code":0,"message":""})",
                            R"({"code":null,"message":"","type":"","details":[],"metadata":{}})"}) {
    const std::string body =
        R"({"choices":[{"message":{"content":"whole"},"finish_reason":"stop"}],"error":)" +
        std::string(error) + "}";
    EXPECT_EQ(answered(ProviderKind::openai, body).text, "whole") << error;
  }
}

TEST(Answer, DeepNestingIsRefusedBeforeItIsParsed) {
  const auto nested = [](std::size_t depth) {
    return R"({"choices":[{"message":{"content":"x"}}],"deep":)" + std::string(depth, '[') +
           std::string(depth, ']') + "}";
  };
  const ProviderSettings openai = provider(ProviderKind::openai);
  EXPECT_TRUE(std::holds_alternative<Answered>(read_response(openai, ok(nested(63)), now)));
  EXPECT_TRUE(std::holds_alternative<Failed>(read_response(openai, ok(nested(64)), now)));
  EXPECT_TRUE(std::holds_alternative<Failed>(read_response(openai, ok(nested(1'000'000)), now)));
}

TEST(Answer, AByteOrderMarkIsSkipped) {
  const std::string body = choice(R"({"content":"x"})", R"("stop")");
  EXPECT_EQ(answered(ProviderKind::openai, "\xEF\xBB\xBF" + body).text, "x");
}

// What is double counts as its first: an answer is read once, and from the front.
TEST(Answer, TheFirstOfTwoMembersOfOneNameCounts) {
  EXPECT_EQ(
      answered(ProviderKind::openai, choice(R"({"content":"first","content":"last"})", R"("stop")")).text,
      "first");
}

TEST(Answer, AnIntegerBeyond64BitsIsNoAnswer) {
  const std::string body = R"({"choices":[{"message":{"content":"x"}}],"created":123456789012345678901})";
  EXPECT_TRUE(std::holds_alternative<Failed>(read_response(provider(ProviderKind::openai), ok(body), now)));
}

TEST(Answer, BracketsInsideStringsAreNoNesting) {
  const std::string body = choice("{\"content\":\"" + std::string(1000, '[') + R"(\"[[\\"})", R"("stop")");
  EXPECT_EQ(answered(ProviderKind::openai, body).text, std::string(1000, '[') + "\"[[\\");
}

}  // namespace sluice::answer_test
