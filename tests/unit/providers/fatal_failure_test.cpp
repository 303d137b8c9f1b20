// What no retry and no other case would get over, in the providers' own words.
#include "tests/unit/providers/failure_fixture.hpp"
#include "worker/providers/embeddings.hpp"

namespace sluice {
namespace {

std::string openai_words(const std::string& message, const std::string& type = "tokens") {
  return R"({"error":{"message":")" + message + R"(","type":")" + type +
         R"(","param":null,"code":"rate_limit_exceeded"}})";
}

TEST(FatalFailure, OpenAisRequestBeyondTheLimitOfAMinute) {
  const auto outcome = failed(openai, 429,
                              openai_words("Request too large for gpt-4o in organization org-1 on tokens per "
                                           "min (TPM): Limit 30000, Requested 48312."),
                              {{"retry-after", "20"}});
  EXPECT_EQ(outcome.reason, Reason::request_refused) << "of this case alone";
  EXPECT_FALSE(outcome.retryable);
  EXPECT_FALSE(outcome.counts_as_rate_limit) << "it must not pause the others";
}

TEST(FatalFailure, ARefusedKeyOfAHeaderNamesItsVariable) {
  ProviderSettings azure = provider(openai);
  azure.api_key_env.clear();
  azure.headers = {{"api-key", "", "AZURE_KEY"}, {"X-Title", "evals", ""}};
  const HttpResponse response{401, {}, R"({"error":{"message":"Access denied."}})"};
  const auto outcome = read_response(azure, response, now);
  ASSERT_TRUE(std::holds_alternative<Failed>(outcome));
  EXPECT_EQ(std::get<Failed>(outcome).advice, "; check the key in AZURE_KEY");
}

TEST(FatalFailure, OpenAisQuotaOfTheDay) {
  for (const auto* words : {"Rate limit reached for gpt-4o in organization org-1 on requests per day (RPD): "
                            "Limit 200, Used 200, Requested 1. Please try again in 7m12s.",
                            "Rate limit reached for gpt-4o on tokens per day (TPD): Limit 1, Used 1"}) {
    const auto outcome = failed(openai, 429, openai_words(words));
    EXPECT_EQ(outcome.reason, Reason::quota_exhausted);
    EXPECT_TRUE(stops_run(outcome.reason));
    EXPECT_FALSE(outcome.retryable);
  }
  const auto router =
      failed(openai, 429, R"({"error":{"message":"Rate limit exceeded: free-models-per-day","code":429}})");
  EXPECT_EQ(router.reason, Reason::quota_exhausted);
  const auto minute =
      failed(openai, 429, openai_words("Rate limit reached on requests per min (RPM): Limit 3"));
  EXPECT_TRUE(minute.retryable);
  const auto other = failed(openai, 400, R"({"error":{"message":"say what you do per day","code":"x"}})");
  EXPECT_EQ(other.reason, Reason::request_refused);
}

// A limit that refills all day ended the run at the first refusal, though the next call would have been
// answered after nine seconds.
TEST(FatalFailure, ALimitOfTheDayWithAShortWaitIsNone) {
  const std::string limit =
      "Rate limit reached for gpt-4o on requests per day (RPD): Limit 10000, Used 10000.";
  const auto by_words = failed(openai, 429, openai_words(limit + " Please try again in 8.64s. Visit us."));
  EXPECT_TRUE(by_words.counts_as_rate_limit);
  EXPECT_EQ(by_words.retry_after, 8640ms);
  const auto by_header = failed(openai, 429, openai_words(limit), {{"retry-after", "9"}});
  EXPECT_TRUE(by_header.retryable);
  EXPECT_EQ(by_header.retry_after, 9s);
  EXPECT_EQ(failed(openai, 429, openai_words(limit), {{"retry-after", "60"}}).reason, Reason::quota_exhausted)
      << "what gateways name always";
  EXPECT_EQ(failed(openai, 429, openai_words(limit + " Please try again in 7m12s."), {{"retry-after", "40"}})
                .reason,
            Reason::quota_exhausted)
      << "the words know the day, and the header does not";
  for (const char* words :
       {" Please try again in 20 minutes.", " Please try again in 7m12s.", " try again in "})
    EXPECT_EQ(failed(openai, 429, openai_words(limit + words)).reason, Reason::quota_exhausted) << words;
  const auto daily = anthropic_error("rate_limit_error", "your organization's daily rate limit");
  EXPECT_TRUE(failed(anthropic, 429, daily, {{"retry-after", "30"}}).counts_as_rate_limit);
  EXPECT_EQ(failed(anthropic, 429, daily, {{"retry-after", "3600"}}).reason, Reason::quota_exhausted);
  EXPECT_EQ(failed(openai, 429, openai_error("insufficient_quota", "null"), {{"retry-after", "3"}}).reason,
            Reason::quota_exhausted)
      << "no credit comes back by waiting";
}

TEST(FatalFailure, OpenAisRefusalOfAParameterThatEveryCallCarries) {
  const auto refused = [](const std::string& code, const std::string& parameter) {
    return failed(
        openai, 400,
        R"({"error":{"message":"Unsupported value: 'temperature' does not support 0.1 with this model.",)"
        R"("type":"invalid_request_error","param":")" +
            parameter + R"(","code":")" + code + R"("}})");
  };
  for (const auto* parameter : {"temperature", "seed", "max_tokens"}) {
    const auto outcome = refused("unsupported_value", parameter);
    EXPECT_EQ(outcome.reason, Reason::parameter_refused);
    EXPECT_EQ(outcome.parameter, parameter);
    EXPECT_TRUE(stops_run(outcome.reason));
    EXPECT_FALSE(outcome.retryable);
  }
  EXPECT_TRUE(refused("unsupported_value", "temperature")
                  .advice.ends_with(": --temperature default sends no temperature"));
  EXPECT_TRUE(refused("unsupported_value", "seed").advice.ends_with(": leave out the seed"));
  EXPECT_NE(refused("unsupported_parameter", "max_tokens").advice.find("max_tokens_field"),
            std::string::npos);
  EXPECT_EQ(refused("unsupported_parameter", "max_tokens").reason, Reason::parameter_refused);
  EXPECT_EQ(refused("unsupported_value", "messages[0].content").reason, Reason::request_refused)
      << "of this case alone";
  EXPECT_EQ(refused("invalid_value", "temperature").reason, Reason::request_refused);
}

TEST(FatalFailure, AnthropicsRefusalOfATemperature) {
  const auto outcome = failed(
      anthropic, 400,
      R"({"type":"error","error":{"type":"invalid_request_error","message":"`temperature` is deprecated for this model."}})");
  EXPECT_EQ(outcome.reason, Reason::parameter_refused);
  EXPECT_NE(outcome.advice.find("--temperature default"), std::string::npos) << outcome.advice;
  const auto of_a_tool =
      failed(anthropic, 400,
             anthropic_error("invalid_request_error",
                             "tools.0.custom.input_schema.properties.temperature: unknown type"));
  EXPECT_EQ(of_a_tool.reason, Reason::request_refused);
}

TEST(FatalFailure, AnthropicsQuotaOfTheDay) {
  const auto outcome = failed(
      anthropic, 429,
      anthropic_error("rate_limit_error", "This request would exceed your organization's daily rate limit"));
  EXPECT_EQ(outcome.reason, Reason::quota_exhausted);
  EXPECT_FALSE(outcome.retryable);
}

TEST(FatalFailure, GeminiIsNotServedEverywhere) {
  const auto outcome =
      failed(gemini, 400,
             R"({"error":{"code":400,"message":"User location is not supported for the API use.",)"
             R"("status":"FAILED_PRECONDITION"}})");
  EXPECT_EQ(outcome.reason, Reason::key_refused);
}

TEST(FatalFailure, Geminis503ConsumesQuotaAndNoOtherDoes) {
  EXPECT_TRUE(failed(gemini, 503, gemini_error(503, "UNAVAILABLE")).consumes_quota);
  EXPECT_FALSE(failed(gemini, 500, gemini_error(500, "INTERNAL")).consumes_quota);
  EXPECT_FALSE(failed(gemini, 429, gemini_error(429, "RESOURCE_EXHAUSTED")).consumes_quota);
  EXPECT_FALSE(failed(openai, 503, openai_error("x", "null")).consumes_quota);
}

TEST(FatalFailure, NamesWhichProviderItWas) {
  auto settings = provider(openai);
  settings.name = "embedder";
  const auto outcome = read_embedding_response(settings, {404, {}, R"({"error":{"message":"no"}})"}, 1, now);
  const auto& embedding = std::get<Failed>(outcome);
  EXPECT_EQ(embedding.reason, Reason::model_unknown);
  EXPECT_NE(embedding.message.find("provider \"embedder\""), std::string::npos) << embedding.message;
  EXPECT_NE(embedding.advice.find("--embedding-model"), std::string::npos) << embedding.advice;
  EXPECT_NE(failed(openai, 404, "{}").message.find("provider \"main\""), std::string::npos);
}

TEST(FatalFailure, NamesTheSettingsOfTheJudgeWhereACallForAVoteFailed) {
  const auto advice = [](int status, const char* body) {
    return std::get<Failed>(read_response(provider(openai), {status, {}, body}, now, {}, CallKind::judge))
        .advice;
  };
  const auto unknown = advice(404, R"({"error":{"message":"no"}})");
  EXPECT_NE(unknown.find("check --judge-model and"), std::string::npos) << unknown;
  const auto refused =
      advice(400, R"({"error":{"message":"no","code":"unsupported_value","param":"temperature"}})");
  EXPECT_NE(refused.find("--judge-temperature 1"), std::string::npos) << refused;
  EXPECT_EQ(refused.find("--temperature"), std::string::npos) << refused;
}

}  // namespace
}  // namespace sluice
