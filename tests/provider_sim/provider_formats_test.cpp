#include "tests/provider_sim/provider_formats.hpp"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::sim {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

Json answer(Provider provider, Finish finish, std::string_view word = {}) {
  AnswerParts parts;
  parts.model = "m-1";
  parts.text = R"({\"claims\":[]})";
  parts.id = 0xAB;
  parts.prompt_tokens = 100;
  parts.completion_tokens = 7;
  parts.finish = finish;
  parts.finish_word = word;
  std::string body;
  append_answer(provider, parts, body);
  return Json::parse(body);
}

TEST(ProviderFormats, OpenAiAnswer) {
  const Json json = answer(Provider::openai, Finish::stop);
  EXPECT_EQ(json["id"], "chatcmpl-00000000000000ab");
  EXPECT_EQ(json["model"], "m-1");
  EXPECT_EQ(json["choices"][0]["message"]["content"], R"({"claims":[]})");
  EXPECT_TRUE(json["choices"][0]["message"]["refusal"].is_null());
  EXPECT_EQ(json["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(json["usage"]["total_tokens"], 107);
  EXPECT_EQ(answer(Provider::openai, Finish::length)["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(answer(Provider::openai, Finish::stop, "content_filter")["choices"][0]["finish_reason"],
            "content_filter");
  const Json refusal = answer(Provider::openai, Finish::refusal);
  EXPECT_TRUE(refusal["choices"][0]["message"]["content"].is_null());
  EXPECT_TRUE(refusal["choices"][0]["message"]["refusal"].is_string());
}

TEST(ProviderFormats, AnthropicAnswer) {
  const Json json = answer(Provider::anthropic, Finish::stop);
  EXPECT_EQ(json["content"][0]["type"], "text");
  EXPECT_EQ(json["content"][0]["text"], R"({"claims":[]})");
  EXPECT_EQ(json["stop_reason"], "end_turn");
  EXPECT_EQ(json["usage"]["input_tokens"], 100);
  EXPECT_EQ(json["usage"]["output_tokens"], 7);
  EXPECT_EQ(answer(Provider::anthropic, Finish::length)["stop_reason"], "max_tokens");
  EXPECT_EQ(answer(Provider::anthropic, Finish::refusal)["stop_reason"], "refusal");
  EXPECT_TRUE(answer(Provider::anthropic, Finish::refusal)["content"].empty());
}

TEST(ProviderFormats, GeminiAnswer) {
  const Json json = answer(Provider::gemini, Finish::stop);
  EXPECT_EQ(json["candidates"][0]["content"]["parts"][0]["text"], R"({"claims":[]})");
  EXPECT_EQ(json["candidates"][0]["finishReason"], "STOP");
  EXPECT_EQ(json["usageMetadata"]["totalTokenCount"], 107);
  EXPECT_EQ(answer(Provider::gemini, Finish::length)["candidates"][0]["finishReason"], "MAX_TOKENS");
  const Json refusal = answer(Provider::gemini, Finish::refusal);
  EXPECT_EQ(refusal["promptFeedback"]["blockReason"], "SAFETY");
  EXPECT_FALSE(refusal.contains("candidates"));
}

TEST(ProviderFormats, OpenAiResponse) {
  const Json json = answer(Provider::openai_responses, Finish::stop);
  EXPECT_EQ(json["status"], "completed");
  EXPECT_TRUE(json["incomplete_details"].is_null());
  EXPECT_EQ(json["output"][1]["content"][0]["text"], R"({"claims":[]})");
  EXPECT_EQ(json["usage"]["output_tokens"], 7);
  const Json cut_off = answer(Provider::openai_responses, Finish::length);
  EXPECT_EQ(cut_off["status"], "incomplete");
  EXPECT_EQ(cut_off["incomplete_details"]["reason"], "max_output_tokens");
  const Json refusal = answer(Provider::openai_responses, Finish::refusal);
  EXPECT_TRUE(refusal["output"][1]["content"][0]["refusal"].is_string());
}

Json error(Provider provider, int status, std::optional<std::chrono::milliseconds> retry_after = {}) {
  std::string body;
  append_error(provider, status, "slow \"down\"", retry_after, 0xAB, body);
  return Json::parse(body);
}

TEST(ProviderFormats, Errors) {
  EXPECT_EQ(error(Provider::openai, 429)["error"]["code"], "rate_limit_exceeded");
  EXPECT_EQ(error(Provider::openai, 401)["error"]["code"], "invalid_api_key");
  EXPECT_EQ(error(Provider::openai, 500)["error"]["message"], "slow \"down\"");
  EXPECT_EQ(error(Provider::anthropic, 529)["error"]["type"], "overloaded_error");
  EXPECT_EQ(error(Provider::anthropic, 429)["error"]["type"], "rate_limit_error");
  EXPECT_EQ(error(Provider::anthropic, 401)["request_id"], "req_00000000000000ab");
  EXPECT_EQ(error(Provider::gemini, 503)["error"]["status"], "UNAVAILABLE");
  EXPECT_FALSE(error(Provider::gemini, 503)["error"].contains("details"));
  const Json limited = error(Provider::gemini, 429, 45837ms);
  EXPECT_EQ(limited["error"]["code"], 429);
  EXPECT_EQ(limited["error"]["status"], "RESOURCE_EXHAUSTED");
  EXPECT_EQ(limited["error"]["details"][1]["retryDelay"], "45.837s");
  EXPECT_EQ(error(Provider::gemini, 503, 2s)["error"]["details"][0]["retryDelay"], "2s");
  EXPECT_EQ(error(Provider::openai, 599)["error"]["type"], "server_error");
}

TEST(ProviderFormats, LimitHeaders) {
  const auto headers = [](Provider provider, std::chrono::milliseconds until_full) {
    std::string out;
    append_limit_headers(provider, "requests", {600, 9, until_full}, 1767225600, out);
    return out;
  };
  EXPECT_EQ(headers(Provider::openai, 12ms),
            "x-ratelimit-limit-requests: 600\r\nx-ratelimit-remaining-requests: 9\r\n"
            "x-ratelimit-reset-requests: 12ms\r\n");
  EXPECT_NE(headers(Provider::openai, 90500ms).find("reset-requests: 1m30.5s\r\n"), std::string::npos);
  EXPECT_EQ(headers(Provider::anthropic, 1500ms),
            "anthropic-ratelimit-requests-limit: 600\r\nanthropic-ratelimit-requests-remaining: 9\r\n"
            "anthropic-ratelimit-requests-reset: 2026-01-01T00:00:02Z\r\n");
  EXPECT_EQ(headers(Provider::gemini, 1s), "");
}

}  // namespace
}  // namespace sluice::sim
