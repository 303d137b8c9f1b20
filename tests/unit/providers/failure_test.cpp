#include "common/text.hpp"
#include "worker/providers/provider.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

/// 2024-05-01T12:00:00Z.
const std::chrono::system_clock::time_point now{1'714'564'800s};

ProviderSettings provider(ProviderKind kind) {
  ProviderSettings settings;
  settings.name = "main";
  settings.kind = kind;
  settings.base_url = "https://user:secret@example.test/v1";
  settings.api_key_env = "EXAMPLE_API_KEY";
  return settings;
}

Failed failed(ProviderKind kind, int status, std::string body, HttpHeaders headers = {},
              std::string_view key = {}) {
  const CallOutcome outcome =
      read_response(provider(kind), {status, std::move(headers), std::move(body)}, now, key);
  if (std::holds_alternative<Answered>(outcome)) {
    ADD_FAILURE() << "answered";
    return {};
  }
  return std::get<Failed>(outcome);
}

std::string openai_error(const std::string& type, const std::string& code) {
  return R"({"error":{"message":"said so","type":")" + type + R"(","param":null,"code":)" + code + "}}";
}
std::string anthropic_error(const std::string& type, const std::string& message = "said so") {
  return R"({"type":"error","error":{"type":")" + type + R"(","message":")" + message +
         R"("},"request_id":"req_1"})";
}
std::string gemini_error(int code, const std::string& status, const std::string& details = "[]") {
  return R"({"error":{"code":)" + std::to_string(code) + R"(,"message":"said so","status":")" + status +
         R"(","details":)" + details + "}}";
}

const std::string retry_info =
    R"({"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"45.837906927s"})";
const std::string minute_quota =
    R"({"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"m",
        "quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier","quotaValue":"15"}]})";
const std::string day_quota =
    R"({"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"x"},
        {"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]})";
const std::string invalid_key =
    R"({"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"})";

struct FailureCase {
  std::string name;
  ProviderKind kind;
  int status;
  std::string body;
  HttpHeaders headers;
  Reason reason;
  bool retryable;
  bool rate_limit = false;
  std::optional<milliseconds> retry_after = std::nullopt;
};

void PrintTo(const FailureCase& c, std::ostream* out) {
  *out << c.name;
}

class Failure : public testing::TestWithParam<FailureCase> {};

TEST_P(Failure, IsClassified) {
  const FailureCase& c = GetParam();
  const Failed outcome = failed(c.kind, c.status, c.body, c.headers);
  EXPECT_EQ(to_string(outcome.reason), to_string(c.reason));
  EXPECT_EQ(outcome.retryable, c.retryable);
  EXPECT_EQ(outcome.counts_as_rate_limit, c.rate_limit);
  EXPECT_EQ(outcome.retry_after, c.retry_after);
  EXPECT_NE(outcome.message.find("said so"), std::string::npos) << outcome.message;
}

constexpr auto openai = ProviderKind::openai;
constexpr auto anthropic = ProviderKind::anthropic;
constexpr auto gemini = ProviderKind::gemini;

INSTANTIATE_TEST_SUITE_P(
    Openai, Failure,
    testing::Values(
        FailureCase{"wrong key",
                    openai,
                    401,
                    openai_error("invalid_request_error", R"("invalid_api_key")"),
                    {},
                    Reason::key_refused,
                    false},
        FailureCase{"country",
                    openai,
                    403,
                    openai_error("request_forbidden", R"("unsupported_country")"),
                    {},
                    Reason::key_refused,
                    false},
        FailureCase{"payment", openai, 402, openai_error("x", "402"), {}, Reason::quota_exhausted, false},
        FailureCase{"no model",
                    openai,
                    404,
                    openai_error("invalid_request_error", R"("model_not_found")"),
                    {},
                    Reason::model_unknown,
                    false},
        FailureCase{"no access to model",
                    openai,
                    403,
                    openai_error("invalid_request_error", R"("model_not_found")"),
                    {},
                    Reason::model_unknown,
                    false},
        FailureCase{"wrong url", openai, 405, R"({"detail":"said so"})", {}, Reason::model_unknown, false},
        FailureCase{"redirect",
                    openai,
                    301,
                    "said so",
                    {{"location", "https://other.test"}},
                    Reason::model_unknown,
                    false},
        FailureCase{"bad request",
                    openai,
                    400,
                    openai_error("invalid_request_error", R"("unsupported_parameter")"),
                    {},
                    Reason::request_refused,
                    false},
        FailureCase{"too large", openai, 413, "said so", {}, Reason::request_refused, false},
        FailureCase{
            "unprocessable", openai, 422, R"({"message":"said so"})", {}, Reason::request_refused, false},
        FailureCase{"request timeout", openai, 408, "said so", {}, Reason::timed_out, true},
        FailureCase{"conflict", openai, 409, "said so", {}, Reason::provider_failed, true},
        FailureCase{"rate limit",
                    openai,
                    429,
                    openai_error("tokens", R"("rate_limit_exceeded")"),
                    {},
                    Reason::rate_limited,
                    true,
                    true},
        FailureCase{"quota",
                    openai,
                    429,
                    openai_error("insufficient_quota", R"("insufficient_quota")"),
                    {{"retry-after", "3"}, {"x-should-retry", "true"}},
                    Reason::quota_exhausted,
                    false},
        FailureCase{"quota by type alone",
                    openai,
                    429,
                    openai_error("insufficient_quota", "null"),
                    {},
                    Reason::quota_exhausted,
                    false},
        FailureCase{"credit",
                    openai,
                    429,
                    openai_error("x", R"("credit_balance_exhausted")"),
                    {},
                    Reason::quota_exhausted,
                    false},
        FailureCase{"billing",
                    openai,
                    400,
                    openai_error("invalid_request_error", R"("billing_hard_limit_reached")"),
                    {},
                    Reason::quota_exhausted,
                    false},
        FailureCase{"server error",
                    openai,
                    500,
                    openai_error("server_error", "null"),
                    {},
                    Reason::provider_failed,
                    true},
        FailureCase{
            "error as text", openai, 503, R"({"error":"said so"})", {}, Reason::provider_failed, true},
        FailureCase{"gateway page", openai, 502, "<h1>said so</h1>", {}, Reason::provider_failed, true},
        FailureCase{"gateway with 200",
                    openai,
                    200,
                    R"({"error":{"code":429,"message":"said so"}})",
                    {{"retry-after", "2"}},
                    Reason::rate_limited,
                    true,
                    true,
                    2000ms},
        FailureCase{"number in a failed body does not outvote the status",
                    openai,
                    500,
                    R"({"error":{"code":404,"message":"said so"}})",
                    {},
                    Reason::provider_failed,
                    true}));

INSTANTIATE_TEST_SUITE_P(
    Anthropic, Failure,
    testing::Values(
        FailureCase{"bad request",
                    anthropic,
                    400,
                    anthropic_error("invalid_request_error"),
                    {},
                    Reason::request_refused,
                    false},
        FailureCase{
            "credit",
            anthropic,
            400,
            anthropic_error("invalid_request_error", "said so: Your credit balance is too low to access it."),
            {},
            Reason::quota_exhausted,
            false},
        FailureCase{"spend limit",
                    anthropic,
                    400,
                    anthropic_error("invalid_request_error",
                                    "said so: You have reached your specified API usage limits."),
                    {},
                    Reason::quota_exhausted,
                    false},
        FailureCase{"wrong key",
                    anthropic,
                    401,
                    anthropic_error("authentication_error"),
                    {},
                    Reason::key_refused,
                    false},
        FailureCase{
            "billing", anthropic, 402, anthropic_error("billing_error"), {}, Reason::quota_exhausted, false},
        FailureCase{"permission",
                    anthropic,
                    403,
                    anthropic_error("permission_error"),
                    {},
                    Reason::key_refused,
                    false},
        FailureCase{
            "no model", anthropic, 404, anthropic_error("not_found_error"), {}, Reason::model_unknown, false},
        FailureCase{"too large",
                    anthropic,
                    413,
                    anthropic_error("request_too_large"),
                    {},
                    Reason::request_refused,
                    false},
        FailureCase{"rate limit",
                    anthropic,
                    429,
                    anthropic_error("rate_limit_error"),
                    {{"retry-after", "14"}},
                    Reason::rate_limited,
                    true,
                    true,
                    14000ms},
        FailureCase{
            "api error", anthropic, 500, anthropic_error("api_error"), {}, Reason::provider_failed, true},
        FailureCase{
            "timeout", anthropic, 504, anthropic_error("timeout_error"), {}, Reason::provider_failed, true},
        FailureCase{"overloaded",
                    anthropic,
                    529,
                    anthropic_error("overloaded_error"),
                    {},
                    Reason::rate_limited,
                    true,
                    true},
        FailureCase{"told not to retry",
                    anthropic,
                    529,
                    anthropic_error("overloaded_error"),
                    {{"x-should-retry", "false"}, {"retry-after", "5"}},
                    Reason::rate_limited,
                    false,
                    true}));

INSTANTIATE_TEST_SUITE_P(
    Gemini, Failure,
    testing::Values(
        FailureCase{"bad request",
                    gemini,
                    400,
                    gemini_error(400, "INVALID_ARGUMENT"),
                    {},
                    Reason::request_refused,
                    false},
        FailureCase{"wrong key",
                    gemini,
                    400,
                    gemini_error(400, "INVALID_ARGUMENT", "[" + invalid_key + "]"),
                    {},
                    Reason::key_refused,
                    false},
        FailureCase{"permission",
                    gemini,
                    403,
                    gemini_error(403, "PERMISSION_DENIED"),
                    {},
                    Reason::key_refused,
                    false},
        FailureCase{
            "billing",
            gemini,
            400,
            R"({"error":{"code":400,"message":"said so: enable billing","status":"FAILED_PRECONDITION"}})",
            {},
            Reason::quota_exhausted,
            false},
        FailureCase{
            "no model", gemini, 404, gemini_error(404, "NOT_FOUND"), {}, Reason::model_unknown, false},
        FailureCase{"rate limit",
                    gemini,
                    429,
                    gemini_error(429, "RESOURCE_EXHAUSTED", "[" + minute_quota + "," + retry_info + "]"),
                    {},
                    Reason::rate_limited,
                    true,
                    true,
                    45838ms},
        FailureCase{"a header outweighs RetryInfo",
                    gemini,
                    429,
                    gemini_error(429, "RESOURCE_EXHAUSTED", "[" + retry_info + "]"),
                    {{"retry-after", "50"}},
                    Reason::rate_limited,
                    true,
                    true,
                    50000ms},
        FailureCase{"daily quota",
                    gemini,
                    429,
                    gemini_error(429, "RESOURCE_EXHAUSTED", "[" + day_quota + "," + retry_info + "]"),
                    {},
                    Reason::quota_exhausted,
                    false},
        FailureCase{"error in an array",
                    gemini,
                    429,
                    "[" + gemini_error(429, "RESOURCE_EXHAUSTED", "[" + retry_info + "]") + "]",
                    {},
                    Reason::rate_limited,
                    true,
                    true,
                    45838ms},
        FailureCase{
            "unavailable", gemini, 503, gemini_error(503, "UNAVAILABLE"), {}, Reason::provider_failed, true},
        FailureCase{
            "internal", gemini, 500, gemini_error(500, "INTERNAL"), {}, Reason::provider_failed, true},
        FailureCase{"odd details",
                    gemini,
                    500,
                    gemini_error(500, "INTERNAL", R"([7,null,{"@type":7},{"@type":"x"}])"),
                    {},
                    Reason::provider_failed,
                    true}));

INSTANTIATE_TEST_SUITE_P(
    Hints, Failure,
    testing::Values(
        FailureCase{"milliseconds first",
                    openai,
                    429,
                    "said so",
                    {{"retry-after", "9"}, {"retry-after-ms", "250"}},
                    Reason::rate_limited,
                    true,
                    true,
                    250ms},
        FailureCase{"fractional seconds",
                    openai,
                    429,
                    "said so",
                    {{"retry-after", "1.0005"}},
                    Reason::rate_limited,
                    true,
                    true,
                    1001ms},
        FailureCase{"date",
                    openai,
                    503,
                    "said so",
                    {{"retry-after", "Wed, 01 May 2024 12:00:07 GMT"}},
                    Reason::provider_failed,
                    true,
                    false,
                    7000ms},
        FailureCase{"past date",
                    openai,
                    429,
                    "said so",
                    {{"retry-after", "Wed, 01 May 2024 11:59:59 GMT"}},
                    Reason::rate_limited,
                    true,
                    true},
        FailureCase{
            "at once", openai, 429, "said so", {{"retry-after", "0"}}, Reason::rate_limited, true, true},
        FailureCase{
            "negative", openai, 429, "said so", {{"retry-after", "-5"}}, Reason::rate_limited, true, true},
        FailureCase{"exhausted limit",
                    openai,
                    429,
                    "said so",
                    {{"x-ratelimit-remaining-requests", "0"},
                     {"x-ratelimit-reset-requests", "1m30s"},
                     {"x-ratelimit-remaining-tokens", "17"},
                     {"x-ratelimit-reset-tokens", "6m0s"}},
                    Reason::rate_limited,
                    true,
                    true,
                    90000ms},
        FailureCase{"both limits exhausted",
                    openai,
                    429,
                    "said so",
                    {{"x-ratelimit-remaining-requests", "0"},
                     {"x-ratelimit-reset-requests", "12ms"},
                     {"x-ratelimit-remaining-tokens", "0"},
                     {"x-ratelimit-reset-tokens", "6m0s"}},
                    Reason::rate_limited,
                    true,
                    true,
                    360000ms},
        FailureCase{"retry-after outweighs resets",
                    openai,
                    429,
                    "said so",
                    {{"retry-after", "1"},
                     {"x-ratelimit-remaining-requests", "0"},
                     {"x-ratelimit-reset-requests", "1m30s"}},
                    Reason::rate_limited,
                    true,
                    true,
                    1000ms},
        FailureCase{"azure's minus one",
                    openai,
                    429,
                    "said so",
                    {{"x-ratelimit-remaining-requests", "-1"}, {"x-ratelimit-reset-requests", "20"}},
                    Reason::rate_limited,
                    true,
                    true},
        FailureCase{"azure's zero",
                    openai,
                    429,
                    "said so",
                    {{"x-ratelimit-remaining-requests", "0"}, {"x-ratelimit-reset-requests", "0"}},
                    Reason::rate_limited,
                    true,
                    true},
        FailureCase{"a limit says nothing about a server error",
                    openai,
                    500,
                    "said so",
                    {{"x-ratelimit-remaining-requests", "0"}, {"x-ratelimit-reset-requests", "20s"}},
                    Reason::provider_failed,
                    true},
        FailureCase{"anthropic reset",
                    anthropic,
                    429,
                    "said so",
                    {{"anthropic-ratelimit-input-tokens-remaining", "0"},
                     {"anthropic-ratelimit-input-tokens-reset", "2024-05-01T12:00:30Z"}},
                    Reason::rate_limited,
                    true,
                    true,
                    30000ms},
        FailureCase{"anthropic reset a second in the past",
                    anthropic,
                    429,
                    "said so",
                    {{"anthropic-ratelimit-requests-remaining", "0"},
                     {"anthropic-ratelimit-requests-reset", "2024-05-01T11:59:59Z"}},
                    Reason::rate_limited,
                    true,
                    true},
        FailureCase{"should retry",
                    openai,
                    400,
                    "said so",
                    {{"x-should-retry", "true"}, {"retry-after", "1"}},
                    Reason::request_refused,
                    true,
                    false,
                    1000ms},
        FailureCase{"should not retry",
                    openai,
                    500,
                    "said so",
                    {{"x-should-retry", "false"}, {"retry-after", "1"}},
                    Reason::provider_failed,
                    false},
        FailureCase{"odd word",
                    openai,
                    500,
                    "said so",
                    {{"x-should-retry", "maybe"}},
                    Reason::provider_failed,
                    true}));

TEST(FailureMessage, SaysWhoWhatAndWhatToDo) {
  EXPECT_EQ(failed(openai, 401, openai_error("x", "null")).message,
            "provider \"main\" answered 401: said so; check the key in EXAMPLE_API_KEY");
  EXPECT_EQ(failed(openai, 404, "").message,
            "provider \"main\" answered 404; check --model and --base-url (https://example.test/v1)");
  EXPECT_EQ(failed(openai, 500, "").message, "provider \"main\" answered 500");
  EXPECT_EQ(failed(openai, 200, R"({"error":{"code":502,"message":"upstream"}})").message,
            "provider \"main\" answered 200 with error 502 in its body: upstream");
}

TEST(FailureMessage, NeverHoldsTheKey) {
  const std::string key = "very/secret+key=";
  const std::string echo =
      R"({"error":{"message":"Incorrect key provided: )" + key + R"( (very/secret+key=)."}})";
  const Failed outcome = failed(openai, 401, echo, {}, key + "\n");
  EXPECT_EQ(outcome.message.find(key), std::string::npos) << outcome.message;
  EXPECT_NE(outcome.message.find("[key] ([key])."), std::string::npos) << outcome.message;
  EXPECT_EQ(failed(openai, 502, "<p>" + key + "</p>", {}, key).message.find(key), std::string::npos);
  EXPECT_EQ(failed(openai, 200, "<p>" + key + "</p>", {}, key).message.find(key), std::string::npos);
}

TEST(FailureMessage, KeyIsNotCutIntoSight) {
  const std::string key = "0123456789abcdef";
  for (std::size_t padding = 280; padding <= 300; ++padding) {
    const Failed outcome = failed(openai, 500, std::string(padding, 'x') + key, {}, key);
    EXPECT_EQ(outcome.message.find("0123"), std::string::npos) << padding;
  }
}

TEST(FailureMessage, BlotsOutKnownFormsOfKeysEvenUnasked) {
  const std::string body =
      R"({"error":{"message":"Incorrect API key provided: sk-proj-****abcd, AIzaSyA1234567890. A risk-taking-word."}})";
  const std::string message = failed(openai, 401, body).message;
  EXPECT_NE(message.find("provided: [key], [key]. A risk-taking-word."), std::string::npos) << message;
}

TEST(FailureMessage, IsOneLineOfValidUtf8OfBoundedLength) {
  const std::string body = "\x1b[31mred\r\n\n\tline \xc2\x9b \xff\xfe" + std::string(5000, 'z');
  const std::string message = failed(openai, 500, body).message;
  EXPECT_FALSE(invalid_utf8_at(message));
  EXPECT_EQ(message.find_first_of("\x1b\r\n\t"), std::string::npos);
  EXPECT_EQ(message.find("\xc2\x9b"), std::string::npos);
  EXPECT_NE(message.find("[31mred line \xef\xbf\xbd\xef\xbf\xbdzzz"), std::string::npos) << message;
  EXPECT_LT(message.size(), 350u);
}

}  // namespace
}  // namespace sluice
