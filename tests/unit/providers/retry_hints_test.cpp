#include "worker/providers/retry_hints.hpp"

#include "worker/defaults.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::system_clock;

const system_clock::time_point november{784'111'777s};  // Sun, 06 Nov 1994 08:49:37 GMT

TEST(Delay, ReadsDurationsWithUnits) {
  struct Case {
    std::string text;
    std::optional<milliseconds> delay;
  };
  for (const Case& c : std::vector<Case>{{"12ms", 12ms},
                                         {"1m30s", 90s},
                                         {"6m0s", 6min},
                                         {"1h2m3.5s", 3723500ms},
                                         {"45.837906927s", 45838ms},
                                         {"1.1s", 1100ms},
                                         {"0.29s", 290ms},
                                         {"2s", 2s},
                                         {"7", 7s},
                                         {"0.5", 500ms},
                                         {"1us", 1ms},
                                         {"120\xc2\xb5s", 1ms},
                                         {"1ns", 1ms},
                                         {"0.0000000001s", 1ms},
                                         {"1d", 24h},
                                         {"9999999999999999999999h", defaults::max_named_delay},
                                         {"0s", std::nullopt},
                                         {"0", std::nullopt},
                                         {"-1", std::nullopt},
                                         {"-1s", std::nullopt},
                                         {"", std::nullopt},
                                         {"s", std::nullopt},
                                         {"1x", std::nullopt},
                                         {"1.s", std::nullopt},
                                         {"1m30", std::nullopt},
                                         {"1e3", std::nullopt},
                                         {"nan", std::nullopt},
                                         {" 1s", std::nullopt}}) {
    EXPECT_EQ(parse_delay(c.text), c.delay) << c.text;
  }
}

TEST(HttpDate, ReadsAllThreeForms) {
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), november);
  EXPECT_EQ(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT"), november);
  EXPECT_EQ(parse_http_date("Sun Nov  6 08:49:37 1994"), november);
}

// An offset was taken for UTC: a run ended since the provider seemed to ask for three hours.
TEST(HttpDate, KnowsOffsetsAndRefusesOtherZones) {
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 11:49:37 +0300"), november);
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 03:19:37 -0530"), november);
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 UTC"), november);
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 gmt"), november);
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37"), november);
  EXPECT_FALSE(parse_http_date("Sun, 06 Nov 1994 08:49:37 EST"));
}

TEST(HttpDate, RefusesWhatIsNone) {
  for (const std::string text : {"", "soon", "Sun, 06 Nov 1994", "Sun, 31 Feb 2024 08:49:37 GMT",
                                 "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "08:49:37",
                                 "Sun, 06 Nov 99999 08:49:37 GMT", "6 Nov 1994 8:49:37"}) {
    EXPECT_FALSE(parse_http_date(text)) << text;
  }
}

TEST(RetryAfter, TakesTheFirstThatIsReadable) {
  const auto now = november - 90s;
  EXPECT_EQ(retry_after({{"retry-after-ms", "1.5"}, {"retry-after", "9"}}, now), 2ms);
  EXPECT_EQ(retry_after({{"retry-after-ms", "soon"}, {"retry-after", "9"}}, now), 9s);
  EXPECT_EQ(retry_after({{"retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"}}, now), 90s);
  EXPECT_EQ(retry_after({{"retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"}}, november + 1s), std::nullopt);
  EXPECT_EQ(retry_after({{"retry-after", "tomorrow"}}, now), std::nullopt);
  EXPECT_EQ(retry_after({{"retry-after", "99999999999999999999"}}, now), defaults::max_named_delay);
  EXPECT_EQ(retry_after({}, now), std::nullopt);
}

TEST(RetryAfter, ReadsUnitsAndDatesOfOtherForms) {
  EXPECT_EQ(retry_after({{"retry-after", "5s"}}, november), 5s);
  EXPECT_EQ(retry_after({{"retry-after", "1m30s"}}, november), 90s);
  EXPECT_EQ(retry_after({{"retry-after", "1994-11-06T08:49:40Z"}}, november), 3s);
  EXPECT_EQ(retry_after({{"retry-after", "-5"}}, november), std::nullopt);
}

// By a clock that was an hour slow a delay of seconds ended the run, and a fast one saw none.
TEST(RetryAfter, AMomentIsHeldAgainstTheServersClock) {
  for (const auto wrong : {-1h, 0h, 1h}) {
    const HttpHeaders headers{{"date", "Sun, 06 Nov 1994 08:49:37 GMT"},
                              {"retry-after", "Sun, 06 Nov 1994 08:49:44 GMT"},
                              {"anthropic-ratelimit-requests-remaining", "0"},
                              {"anthropic-ratelimit-requests-reset", "1994-11-06T08:49:40Z"}};
    EXPECT_EQ(retry_after(headers, november + wrong), 7s);
    EXPECT_EQ(limit_reset(headers, november + wrong), 3s);
    EXPECT_EQ(retry_after({{"date", "today"}, {"retry-after", "7"}}, november + wrong), 7s);
  }
}

// A proxy's `date`, or that of a clock which was never set, made thirty days of seven seconds.
TEST(RetryAfter, AMomentIsHeldAgainstThisClockAsWell) {
  const HttpHeaders headers{{"date", "Thu, 01 Jan 1970 00:00:00 GMT"},
                            {"retry-after", "Sun, 06 Nov 1994 08:49:44 GMT"}};
  EXPECT_EQ(retry_after(headers, november), 7s);
}

TEST(RetryAfter, PartsOfAMillisecondAreRoundedUp) {
  EXPECT_EQ(retry_after({{"retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"}}, november - 1500us), 2ms);
}

// A reset in seconds since 1970 was a pause of 30 days.
TEST(RetryAfter, NumbersThatAreMomentsAreNoDelays) {
  const system_clock::time_point now{1'714'564'800s};
  EXPECT_EQ(retry_after({{"retry-after", "1714564807"}}, now), 7s);
  EXPECT_EQ(retry_after({{"retry-after", "1714564807.5"}}, now), 7500ms);
  EXPECT_EQ(retry_after({{"retry-after", "1714564807250"}}, now), 7250ms);
  EXPECT_EQ(retry_after({{"retry-after-ms", "1714564807250"}}, now), 7250ms);
  EXPECT_EQ(retry_after({{"retry-after", "1714564799"}}, now), std::nullopt) << "it is past";
  EXPECT_EQ(retry_after({{"retry-after", "999999999"}}, now), defaults::max_named_delay);
  const auto reset = [&](const char* text) {
    return limit_reset({{"x-ratelimit-remaining-requests", "0"}, {"x-ratelimit-reset-requests", text}}, now);
  };
  EXPECT_EQ(reset("1714564803"), 3s);
  EXPECT_EQ(reset("1714564803000"), 3s);
  EXPECT_EQ(reset("1714564800"), std::nullopt);
  EXPECT_EQ(reset("3"), 3s);
}

TEST(LimitReset, NeedsARemainderOfNothing) {
  const auto reset = [](const char* remaining) {
    return limit_reset({{"x-ratelimit-remaining-tokens", remaining}, {"x-ratelimit-reset-tokens", "3s"}},
                       november);
  };
  EXPECT_EQ(reset("0"), 3s);
  EXPECT_EQ(reset("1"), std::nullopt);
  EXPECT_EQ(reset("-1"), std::nullopt);
  EXPECT_EQ(reset(""), std::nullopt);
  EXPECT_EQ(limit_reset({{"x-ratelimit-reset-tokens", "3s"}}, november), std::nullopt);
}

}  // namespace
}  // namespace sluice
