#include "tests/unit/providers/failure_fixture.hpp"

namespace sluice {
namespace {

class FailureHints : public testing::TestWithParam<FailureCase> {};

TEST_P(FailureHints, AreRead) {
  expect_classified(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Hints, FailureHints,
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

TEST(FailureMessage, NamesWhoWhatAndWhatToDo) {
  const auto words = [](const Failed& failed) { return failed.message + failed.advice; };
  EXPECT_EQ(words(failed(openai, 401, openai_error("x", "null"))),
            "provider \"main\" answered 401: said so; check the key in EXAMPLE_API_KEY");
  EXPECT_EQ(words(failed(openai, 404, "")),
            "provider \"main\" answered 404; check the model and the base URL (https://example.test/v1)");
  const auto of_kind = [&](CallKind kind) {
    return words(std::get<Failed>(read_response(provider(openai), {404, {}, ""}, now, {}, kind)));
  };
  EXPECT_EQ(of_kind(CallKind::judge),
            "provider \"main\" answered 404; check --judge-model and the base URL of --judge "
            "(https://example.test/v1)");
  EXPECT_EQ(
      of_kind(CallKind::embedding),
      "provider \"main\" answered 404; check --embedding-model and the base URL of --embedding-provider "
      "(https://example.test/v1)");
  EXPECT_EQ(failed(openai, 500, "").message, "provider \"main\" answered 500");
  EXPECT_EQ(failed(openai, 200, R"({"error":{"code":502,"message":"upstream"}})").message,
            "provider \"main\" answered 200 with error 502 in its body: upstream");
}

TEST(FailureMessage, SaysWhichMayBeOfOneRequestAlone) {
  EXPECT_TRUE(failed(openai, 403, "blocked").may_be_its_own);
  EXPECT_TRUE(failed(openai, 404, "no endpoint has images").may_be_its_own);
  // A redirect of one path, a proxy's 405, or a tool that the key may not use, ended a run that was answered.
  for (const int status : {301, 302, 307, 405, 410})
    EXPECT_TRUE(failed(openai, status, "").may_be_its_own) << status;
  EXPECT_TRUE(failed(anthropic, 403, anthropic_error("permission_error")).may_be_its_own);
  EXPECT_TRUE(failed(anthropic, 200, anthropic_error("permission_error")).may_be_its_own);
  EXPECT_FALSE(failed(anthropic, 401, anthropic_error("authentication_error")).may_be_its_own);
  EXPECT_FALSE(failed(openai, 401, "").may_be_its_own);
  EXPECT_FALSE(failed(openai, 404, openai_error("x", R"("model_not_found")")).may_be_its_own);
  EXPECT_FALSE(failed(openai, 400, "").may_be_its_own);
  const std::string temperature =
      R"({"error":{"message":"no","code":"unsupported_value","param":"temperature"}})";
  EXPECT_TRUE(failed(openai, 400, temperature).may_be_its_own);
  const auto of_vote =
      read_response(provider(openai), {400, {}, temperature}, now, Credentials(), CallKind::judge);
  EXPECT_FALSE(std::get<Failed>(of_vote).may_be_its_own) << "every vote carries it";
}

Failed refused_with(const std::string& words, HttpHeaders headers = {}) {
  const std::string body =
      R"({"error":{"message":")" + words + R"(","type":"tokens","code":"rate_limit_exceeded"}})";
  return failed(openai, 429, body, std::move(headers));
}

// Without a header nothing was known of the delay: of a server that names it to the millisecond half of the
// calls were refused.
TEST(FailureWords, NameADelayAndTheLimitThatIsUsedUp) {
  const std::string tokens =
      "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29500, "
      "Requested 900. Please try again in 800ms. Visit us.";
  EXPECT_EQ(refused_with(tokens).retry_after, 800ms);
  EXPECT_EQ(refused_with(tokens).limit, (NamedLimit{true, 30'000, 60}));
  EXPECT_EQ(refused_with(tokens, {{"retry-after-ms", "250"}}).retry_after, 250ms);
  const auto requests =
      refused_with("... on requests per minute (RPM): Limit 30, Used 30. Please try again in 2s.");
  EXPECT_EQ(requests.retry_after, 2s);
  EXPECT_EQ(requests.limit, (NamedLimit{false, 30, 60}));
  EXPECT_EQ(refused_with("... on requests per min. Limit: 3 / min. Current: 4 / min.").limit,
            (NamedLimit{false, 3, 60}));
  EXPECT_EQ(failed(gemini, 429, gemini_error(429, "RESOURCE_EXHAUSTED", "[" + minute_quota + "]")).limit,
            (NamedLimit{false, 15, 60}));
}

TEST(FailureWords, NameADelayWhereAGatewayWritesTheCodeAsText) {
  const auto refused = failed(
      openai, 429, R"({"error":{"message":"Rate limit. Please try again in 2s.","type":null,"code":"429"}})");
  EXPECT_EQ(refused.retry_after, 2s);
  EXPECT_FALSE(refused.limit);
}

TEST(FailureWords, OfADayOrOfNothingAreNoLimitOfAMinute) {
  for (const char* words :
       {"... on requests per day (RPD): Limit 200, Used 200. Please try again in 7s.", "Limit 30",
        "... on tokens per min", "... on tokens per min (TPM): Limit", "... on tokens per min: Limit many",
        "... on requests per min (RPM): Limit 3,500, Used 3,500."}) {
    EXPECT_FALSE(refused_with(words).limit) << words;
  }
  EXPECT_FALSE(
      failed(openai, 500, R"({"error":{"message":"on - on tokens per min: Limit 3000","code":429}})").limit)
      << "no refusal";
  EXPECT_FALSE(failed(gemini, 429, gemini_error(429, "RESOURCE_EXHAUSTED", "[" + day_quota + "]")).limit);
  auto texts = minute_quota;
  texts.replace(texts.find("Generate"), std::string_view("Generate").size(), "EmbedContent");
  EXPECT_FALSE(failed(gemini, 429, gemini_error(429, "RESOURCE_EXHAUSTED", "[" + texts + "]")).limit)
      << "of texts: a call of embeddings has many";
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
