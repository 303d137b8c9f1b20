#include "tests/unit/providers/answer_fixture.hpp"

#include <gtest/gtest.h>

namespace sluice::answer_usage_test {

using answer_fixture::answered;

Usage openai_usage(const std::string& usage) {
  return answered(ProviderKind::openai,
                  R"({"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":)" + usage + "}")
      .usage;
}

// Thinking cost 1,000 tokens that no budget and no report saw.
TEST(OpenaiAnswer, WhatTheTotalAloneCountsIsPaidFor) {
  const auto usage_of = [](const std::string& usage) {
    return answered(
               ProviderKind::openai,
               R"({"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":)" + usage + "}")
        .usage;
  };
  EXPECT_EQ(usage_of(R"({"prompt_tokens":10,"completion_tokens":1,"total_tokens":1011})"), (Usage{10, 1001}));
  EXPECT_EQ(usage_of(R"({"prompt_tokens":10,"completion_tokens":5,"total_tokens":15})"), (Usage{10, 5}));
  EXPECT_EQ(usage_of(R"({"prompt_tokens":10,"completion_tokens":5,"total_tokens":3})"), (Usage{10, 5}));
  EXPECT_EQ(usage_of(R"({"prompt_tokens":10,"completion_tokens":5})"), (Usage{10, 5}));
}

TEST(Answer, OddUsageCountsAsNothing) {
  const Completion completion = answered(
      ProviderKind::openai,
      R"({"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":-4,"completion_tokens":"many"}})");
  EXPECT_EQ(completion.usage, Usage{});
}

// 30 answers with a usage of 2^63 were "paid 0".
TEST(Answer, AUsageThatNoCallCanHaveIsUnknown) {
  const auto usage = [](const std::string& tokens) {
    return answered(ProviderKind::openai,
                    R"({"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],)"
                    R"("usage":{"prompt_tokens":)" +
                        tokens + R"(,"completion_tokens":7}})")
        .usage;
  };
  EXPECT_EQ(usage("100000000"), (Usage{100'000'000, 7}));
  for (const char* absurd : {"100000001", "9223372036854775808", "18446744073709551615"}) {
    EXPECT_EQ(usage(absurd), Usage{}) << absurd;
  }
  const auto sum =
      answered(ProviderKind::anthropic,
               R"({"content":[{"type":"text","text":"x"}],"stop_reason":"end_turn","usage":)"
               R"({"input_tokens":9223372036854775808,"cache_read_input_tokens":9223372036854775808,)"
               R"("output_tokens":1}})");
  EXPECT_EQ(sum.usage, Usage{}) << "it wraps to 0";
}

// It was paid for as half of what it cost.
TEST(Answer, AUsageThatIsReadableInPartIsKnownOnlyWhereItIsCertain) {
  EXPECT_EQ(openai_usage(R"({"prompt_tokens":100000.0,"completion_tokens":7.0})"), (Usage{100'000, 7}));
  EXPECT_EQ(openai_usage(R"({"prompt_tokens":10,"completion_tokens":"7","total_tokens":17})"),
            (Usage{10, 7}));
  EXPECT_EQ(openai_usage(R"({"prompt_tokens":10,"total_tokens":17})"), (Usage{10, 7}));
  for (const char* partial :
       {R"({"prompt_tokens":10})", R"({"completion_tokens":7})",
        R"({"prompt_tokens":10.5,"completion_tokens":7})", R"({"completion_tokens":7,"total_tokens":17})",
        R"({"total_tokens":17})", R"({"prompt_tokens":"10","completion_tokens":7,"total_tokens":17})",
        R"({"prompt_tokens":1e300,"completion_tokens":7})",
        R"({"prompt_tokens":10,"completion_tokens":null,"total_tokens":9})"}) {
    EXPECT_EQ(openai_usage(partial), Usage{}) << partial;
  }
  const auto anthropic = [](const std::string& usage) {
    return answered(
               ProviderKind::anthropic,
               R"({"content":[{"type":"text","text":"x"}],"stop_reason":"end_turn","usage":)" + usage + "}")
        .usage;
  };
  EXPECT_EQ(anthropic(R"({"input_tokens":4,"cache_read_input_tokens":null,"output_tokens":5})"),
            (Usage{4, 5}));
  EXPECT_EQ(anthropic(R"({"input_tokens":4})"), Usage{});
  EXPECT_EQ(anthropic(R"({"cache_read_input_tokens":4,"output_tokens":5})"), Usage{});
}

// What a tool had found was paid for and counted nowhere.
TEST(GeminiAnswer, ItsUsageHoldsWhatToolsPutIntoThePromptAndTheTotal) {
  const auto usage = [](const std::string& metadata) {
    return answered(
               ProviderKind::gemini,
               R"({"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}],"usageMetadata":)" +
                   metadata + "}")
        .usage;
  };
  EXPECT_EQ(usage(R"({"promptTokenCount":10,"toolUsePromptTokenCount":90,"candidatesTokenCount":5,)"
                  R"("thoughtsTokenCount":7,"totalTokenCount":112})"),
            (Usage{100, 12}));
  EXPECT_EQ(usage(R"({"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":22})"),
            (Usage{10, 12}))
      << "of thoughts only the total speaks";
  EXPECT_EQ(usage(R"({"promptTokenCount":10,"thoughtsTokenCount":7,"totalTokenCount":17})"), (Usage{10, 7}));
  EXPECT_EQ(usage(R"({"promptTokenCount":10,"totalTokenCount":10})"), (Usage{10, 0}));
  EXPECT_EQ(usage(R"({"promptTokenCount":10,"candidatesTokenCount":5})"), (Usage{10, 5}));
  EXPECT_EQ(usage(R"({"candidatesTokenCount":5,"totalTokenCount":15})"), Usage{});
  EXPECT_EQ(usage(R"({"promptTokenCount":10})"), Usage{});
}

// Three answers that broke off named 300,000 tokens, and a bound of 20,000 did not see them.
TEST(Answer, ATryThatFailsNamesItsUsageAsWell) {
  const auto usage = [](ProviderKind kind, const std::string& body, int status = 200) {
    const auto outcome =
        read_response(answer_fixture::provider(kind), {status, {}, body}, answer_fixture::now);
    const auto* failed = std::get_if<Failed>(&outcome);
    EXPECT_NE(failed, nullptr) << body;
    return failed != nullptr ? failed->usage : Usage{};
  };
  const std::string half = R"({"choices":[{"message":{"content":"half"},"finish_reason":"error"}],"usage":)";
  EXPECT_EQ(usage(ProviderKind::openai, half + R"({"prompt_tokens":7,"completion_tokens":9}})"),
            (Usage{7, 9}));
  EXPECT_EQ(usage(ProviderKind::openai, half + R"({"prompt_tokens":7}})"), Usage{})
      << "half of it is unknown";
  EXPECT_EQ(usage(ProviderKind::openai, half + R"({"prompt_tokens":7,"completion_tokens":1000000000}})"),
            Usage{});
  EXPECT_EQ(usage(ProviderKind::openai,
                  R"({"error":{"code":502},"usage":{"prompt_tokens":7,"completion_tokens":9}})"),
            (Usage{7, 9}));
  EXPECT_EQ(usage(ProviderKind::openai, half + R"({"prompt_tokens":7,"completion_tokens":9}})", 500), Usage{})
      << "only a success is charged";
  EXPECT_EQ(usage(ProviderKind::openai_responses,
                  R"({"status":"failed","output":[],"usage":{"input_tokens":7,"output_tokens":9}})"),
            (Usage{7, 9}));
  EXPECT_EQ(usage(ProviderKind::anthropic, R"({"usage":{"input_tokens":7,"output_tokens":9}})"),
            (Usage{7, 9}));
  EXPECT_EQ(usage(ProviderKind::gemini, R"({"usageMetadata":{"promptTokenCount":7,"thoughtsTokenCount":9}})"),
            (Usage{7, 9}));
  EXPECT_EQ(usage(ProviderKind::exec,
                  R"({"error":{"message":"down"},"usage":{"input_tokens":7,"output_tokens":9}})"),
            (Usage{7, 9}));
  EXPECT_EQ(usage(ProviderKind::exec, half + R"({"prompt_tokens":7,"completion_tokens":9}})"), (Usage{7, 9}));
}

TEST(Answer, AFilterThatDeclinesLateWasPaidFor) {
  const auto declined = [](const std::string& more) {
    const std::string body = R"({"error":{"code":"content_filter"})" + more + "}";
    return std::get<Answered>(
        read_response(answer_fixture::provider(ProviderKind::openai), {200, {}, body}, answer_fixture::now));
  };
  EXPECT_TRUE(declined("").took_nothing);
  const auto late = declined(R"(,"usage":{"prompt_tokens":7,"completion_tokens":9})");
  EXPECT_FALSE(late.took_nothing);
  EXPECT_EQ(late.completion.usage, (Usage{7, 9}));
}

}  // namespace sluice::answer_usage_test
