// Answers that are none: refused, cut off, or without a text.

#include "tests/unit/providers/answer_fixture.hpp"

#include <optional>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

namespace sluice::non_answer_test {

using answer_fixture::answered;
using answer_fixture::choice;

struct NonAnswerCase {
  std::string name;
  ProviderKind kind;
  std::string body;
  std::optional<Reason> reason;
  std::string text;
};

void PrintTo(const NonAnswerCase& c, std::ostream* out) {
  *out << c.name;
}

class NonAnswer : public testing::TestWithParam<NonAnswerCase> {};

TEST_P(NonAnswer, KeepsReasonAndText) {
  const NonAnswerCase& c = GetParam();
  const Completion completion = answered(c.kind, c.body);
  EXPECT_EQ(completion.text, c.text);
  ASSERT_EQ(completion.non_answer.has_value(), c.reason.has_value());
  if (!c.reason) return;
  EXPECT_EQ(completion.non_answer->reason, *c.reason) << completion.non_answer->message;
  EXPECT_TRUE(is_non_answer(*c.reason));
  EXPECT_FALSE(completion.non_answer->message.empty());
}

std::string blocks(const std::string& content, const std::string& stop) {
  return R"({"type":"message","content":)" + content + R"(,"stop_reason":")" + stop + R"("})";
}
std::string candidate(const std::string& content, const std::string& finish) {
  return R"({"candidates":[{"content":)" + content + R"(,"finishReason":")" + finish + R"("}]})";
}

const std::string parts = R"({"role":"model","parts":[{"text":"half"}]})";
const std::string text_block = R"([{"type":"text","text":"half"}])";

INSTANTIATE_TEST_SUITE_P(
    Forms, NonAnswer,
    testing::Values(
        NonAnswerCase{
            "openai refusal", ProviderKind::openai,
            choice(R"({"role":"assistant","content":null,"refusal":"I cannot help."})", R"("stop")"),
            Reason::refusal, "I cannot help."},
        NonAnswerCase{"openai content filter", ProviderKind::openai,
                      choice(R"({"content":"half"})", R"("content_filter")"), Reason::refusal, "half"},
        NonAnswerCase{"openai null content", ProviderKind::openai,
                      choice(R"({"content":null})", R"("tool_calls")"), Reason::refusal, ""},
        NonAnswerCase{"openai no content", ProviderKind::openai, choice(R"({"role":"assistant"})", "null"),
                      Reason::refusal, ""},
        NonAnswerCase{"openai empty content", ProviderKind::openai, choice(R"({"content":""})", R"("stop")"),
                      Reason::refusal, ""},
        NonAnswerCase{"openai empty parts", ProviderKind::openai,
                      choice(R"({"content":[{"type":"text","text":""}]})", R"("stop")"), Reason::refusal, ""},
        NonAnswerCase{"openai white space", ProviderKind::openai, choice(R"({"content":" "})", R"("stop")"),
                      std::nullopt, " "},
        NonAnswerCase{"openai length", ProviderKind::openai,
                      choice(R"({"content":"{\"claims\":["})", R"("length")"), Reason::truncated,
                      "{\"claims\":["},
        NonAnswerCase{"watsonx time_limit", ProviderKind::openai,
                      choice(R"({"content":"half"})", R"("time_limit")"), Reason::truncated, "half"},
        NonAnswerCase{"watsonx token_limit", ProviderKind::openai,
                      choice(R"({"content":"half"})", R"("token_limit")"), Reason::truncated, "half"},
        NonAnswerCase{"zhipu sensitive", ProviderKind::openai, choice(R"({"content":""})", R"("sensitive")"),
                      Reason::refusal, ""},
        NonAnswerCase{"mistral model_length", ProviderKind::openai,
                      choice(R"({"content":"half"})", R"("model_length")"), Reason::truncated, "half"},
        NonAnswerCase{"gateway to anthropic", ProviderKind::openai,
                      choice(R"({"content":"half"})", R"("max_tokens")"), Reason::truncated, "half"},
        NonAnswerCase{"gateway to gemini", ProviderKind::openai,
                      choice(R"({"content":"half"})", R"("MAX_TOKENS")"), Reason::truncated, "half"},
        NonAnswerCase{"length in capitals", ProviderKind::openai,
                      choice(R"({"content":"half"})", R"("LENGTH")"), Reason::truncated, "half"},
        NonAnswerCase{"openai all tokens spent on reasoning", ProviderKind::openai,
                      choice(R"({"content":null})", R"("length")"), Reason::truncated, ""},
        NonAnswerCase{
            "openai content in parts", ProviderKind::openai,
            choice(R"({"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})", R"("stop")"),
            std::nullopt, "ab"},
        NonAnswerCase{"openai without finish reason and usage", ProviderKind::openai,
                      choice(R"({"content":"x"})", "null"), std::nullopt, "x"},
        NonAnswerCase{"anthropic refusal", ProviderKind::anthropic, blocks(text_block, "refusal"),
                      Reason::refusal, "half"},
        NonAnswerCase{"anthropic max_tokens", ProviderKind::anthropic, blocks(text_block, "max_tokens"),
                      Reason::truncated, "half"},
        NonAnswerCase{"anthropic context window", ProviderKind::anthropic,
                      blocks(text_block, "model_context_window_exceeded"), Reason::truncated, "half"},
        NonAnswerCase{"anthropic pause_turn", ProviderKind::anthropic, blocks(text_block, "pause_turn"),
                      Reason::truncated, "half"},
        NonAnswerCase{"anthropic nothing", ProviderKind::anthropic, blocks("[]", "end_turn"), Reason::refusal,
                      ""},
        NonAnswerCase{"anthropic empty text", ProviderKind::anthropic,
                      blocks(R"([{"type":"text","text":""}])", "end_turn"), Reason::refusal, ""},
        NonAnswerCase{"gemini SAFETY", ProviderKind::gemini, candidate(parts, "SAFETY"), Reason::refusal,
                      "half"},
        NonAnswerCase{"gemini RECITATION", ProviderKind::gemini, candidate(parts, "RECITATION"),
                      Reason::refusal, "half"},
        NonAnswerCase{"gemini SAFETY without content", ProviderKind::gemini,
                      R"({"candidates":[{"finishReason":"SAFETY","index":0}]})", Reason::refusal, ""},
        NonAnswerCase{"gemini MAX_TOKENS", ProviderKind::gemini, candidate(parts, "MAX_TOKENS"),
                      Reason::truncated, "half"},
        NonAnswerCase{"gemini STOP without parts", ProviderKind::gemini,
                      candidate(R"({"role":"model"})", "STOP"), Reason::refusal, ""},
        NonAnswerCase{"gemini empty text", ProviderKind::gemini,
                      candidate(R"({"role":"model","parts":[{"text":""}]})", "STOP"), Reason::refusal, ""},
        NonAnswerCase{
            "gemini blocked prompt", ProviderKind::gemini,
            R"({"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":9}})",
            Reason::refusal, ""}));

TEST(NonAnswerMessage, NamesWhyInOneLine) {
  const Completion refused =
      answered(ProviderKind::openai, choice(R"({"content":null,"refusal":"No.\nNever."})", R"("stop")"));
  EXPECT_EQ(refused.non_answer->message,
            "the model or its content filter declined to answer (stop): No. Never.");
  const Completion cut = answered(ProviderKind::gemini, candidate(parts, "MAX_TOKENS"));
  EXPECT_EQ(cut.non_answer->message,
            "the answer was cut off at the token limit (MAX_TOKENS); raise max_output_tokens");
  const Completion late = answered(ProviderKind::openai, choice(R"({"content":"half"})", R"("time_limit")"));
  EXPECT_NE(late.non_answer->message.find("time limit"), std::string::npos) << late.non_answer->message;
}

// What is redacted comes later, and half of it fits no pattern.
TEST(NonAnswerMessage, QuotesNoPartOfAFinishReason) {
  const std::string reason(1000, 'f');
  const Completion silent = answered(ProviderKind::openai, choice(R"({"content":null})", '"' + reason + '"'));
  EXPECT_EQ(silent.non_answer->message, "the model answered without any text (finish reason: of 1000 bytes)");
}

// An answer without any text was no refusal of anybody's, and what may mean something else is none.
TEST(NativeRefusal, IsWhatTheProviderCallsOne) {
  const auto openai = [](const std::string& message, const std::string& finish) {
    return is_native_refusal(answered(ProviderKind::openai, choice(message, finish)));
  };
  EXPECT_TRUE(openai(R"({"content":null,"refusal":"No."})", R"("stop")"));
  EXPECT_TRUE(openai(R"({"content":null,"refusal":"No."})", "null"));
  EXPECT_TRUE(openai(R"({"content":null})", R"("content_filter")"));
  EXPECT_TRUE(openai(R"({"content":""})", R"("sensitive")"));
  EXPECT_FALSE(openai(R"({"content":null})", R"("stop")"));
  EXPECT_FALSE(openai(R"({"content":null,"refusal":null})", "null"));
  EXPECT_FALSE(openai(R"({"content":"I cannot help."})", R"("stop")"));
  EXPECT_FALSE(openai(R"({"content":"half"})", R"("length")"));
  const auto anthropic = [](const std::string& content, const std::string& stop) {
    return is_native_refusal(answered(ProviderKind::anthropic, blocks(content, stop)));
  };
  EXPECT_TRUE(anthropic("[]", "refusal"));
  EXPECT_FALSE(anthropic("[]", "end_turn"));
  EXPECT_FALSE(anthropic("[]", "pause_turn"));
  const auto gemini = [](const std::string& body) {
    return is_native_refusal(answered(ProviderKind::gemini, body));
  };
  for (const char* reason : {"SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII"}) {
    EXPECT_TRUE(gemini(candidate("{}", reason))) << reason;
    EXPECT_TRUE(gemini(R"({"promptFeedback":{"blockReason":")" + std::string(reason) + R"("}})")) << reason;
  }
  for (const char* reason :
       {"STOP", "MAX_TOKENS", "RECITATION", "LANGUAGE", "OTHER", "MALFORMED_FUNCTION_CALL"}) {
    EXPECT_FALSE(gemini(candidate("{}", reason))) << reason;
    EXPECT_FALSE(gemini(candidate(parts, reason))) << reason;
  }
}

TEST(EmptyAnswer, IsOneWithoutTextThatEndedAsAnswersDo) {
  const auto openai = [](const std::string& message, const std::string& finish) {
    return is_empty_answer(answered(ProviderKind::openai, choice(message, finish)));
  };
  EXPECT_TRUE(openai(R"({"content":null})", R"("stop")"));
  EXPECT_TRUE(openai(R"({"content":""})", R"("stop")"));
  EXPECT_FALSE(openai(R"({"content":null,"refusal":"No."})", R"("stop")"));
  EXPECT_FALSE(openai(R"({"content":""})", "null")) << "nobody knows how it ended";
  EXPECT_FALSE(openai(R"({"content":""})", R"("length")"));
  EXPECT_FALSE(openai(R"({"content":""})", R"("content_filter")"));
  EXPECT_FALSE(openai(R"({"content":" "})", R"("stop")")) << "it has a text";
  EXPECT_TRUE(is_empty_answer(answered(ProviderKind::anthropic, blocks("[]", "end_turn"))));
  EXPECT_TRUE(is_empty_answer(answered(ProviderKind::anthropic, blocks("[]", "stop_sequence"))));
  EXPECT_FALSE(is_empty_answer(answered(ProviderKind::anthropic, blocks("[]", "refusal"))));
  EXPECT_FALSE(is_empty_answer(answered(ProviderKind::anthropic, blocks("[]", "pause_turn"))));
  EXPECT_TRUE(is_empty_answer(answered(ProviderKind::gemini, candidate("{}", "STOP"))));
  for (const char* reason : {"SAFETY", "MAX_TOKENS", "RECITATION", "OTHER", "MALFORMED_FUNCTION_CALL"})
    EXPECT_FALSE(is_empty_answer(answered(ProviderKind::gemini, candidate("{}", reason)))) << reason;
}

}  // namespace sluice::non_answer_test
