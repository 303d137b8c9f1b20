#include "worker/providers/announced_limits.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

HttpHeaders requests(const std::string& limit, const std::string& remaining, const std::string& reset) {
  return {{"content-type", "application/json"},
          {"x-ratelimit-limit-requests", limit},
          {"x-ratelimit-remaining-requests", remaining},
          {"x-ratelimit-reset-requests", reset}};
}

TEST(AnnouncedLimits, AnthropicsAreThoseOfAMinute) {
  AnnouncedLimitReader reader;
  EXPECT_TRUE(reader.read({{"anthropic-ratelimit-requests-limit", "50"},
                           {"anthropic-ratelimit-requests-remaining", "49"},
                           {"anthropic-ratelimit-requests-reset", "2026-01-01T00:00:02Z"},
                           {"anthropic-ratelimit-tokens-limit", "90000"},
                           {"anthropic-ratelimit-input-tokens-limit", "80000"},
                           {"anthropic-ratelimit-output-tokens-limit", "10000"}}));
  EXPECT_EQ(reader.limits(), (wire::AnnouncedLimits{50, 90'000, 80'000, 10'000}));
  EXPECT_FALSE(reader.read({{"anthropic-ratelimit-requests-limit", "50"}})) << "nothing new";
  EXPECT_TRUE(reader.read({{"anthropic-ratelimit-requests-limit", "60"}}));
  EXPECT_EQ(reader.limits().requests_per_minute, 60u);
}

TEST(AnnouncedLimits, OpenAisOfAMinute) {
  AnnouncedLimitReader reader;
  EXPECT_TRUE(reader.read(requests("60", "59", "1s")));
  EXPECT_EQ(reader.limits(), (wire::AnnouncedLimits{60, 0, 0, 0}));
  EXPECT_TRUE(reader.read({{"x-ratelimit-limit-tokens", "150000"},
                           {"x-ratelimit-remaining-tokens", "149984"},
                           {"x-ratelimit-reset-tokens", "6ms"}}));
  EXPECT_EQ(reader.limits(), (wire::AnnouncedLimits{60, 150'000, 0, 0}));
}

TEST(AnnouncedLimits, OpenAisOfADayOrAnHourAreKnownByTheirReset) {
  AnnouncedLimitReader day;
  EXPECT_FALSE(day.read(requests("10000", "9999", "8.64s"))) << "one response may mislead";
  EXPECT_TRUE(day.read(requests("10000", "9990", "1m26.4s")));
  EXPECT_EQ(day.limits().requests_per_minute, 6u) << "10,000 / 1,440, rounded down";
  AnnouncedLimitReader hour;
  hour.read(requests("3600", "3599", "1s"));
  EXPECT_TRUE(hour.read(requests("3600", "3595", "5s")));
  EXPECT_EQ(hour.limits().requests_per_minute, 60u);
}

TEST(AnnouncedLimits, AWindowThatIsAboutToEndIsNotTakenForALongOne) {
  AnnouncedLimitReader reader;
  EXPECT_FALSE(reader.read(requests("100", "99", "36s"))) << "looks like an hour";
  EXPECT_TRUE(reader.read(requests("100", "60", "20s"))) << "and like 50 s";
  EXPECT_EQ(reader.limits().requests_per_minute, 100u);
}

TEST(AnnouncedLimits, OpenAisOfASecondAreKnownByAUseThatIsOverInOne) {
  for (const std::string reset : {"1s", "1", "100ms"}) {
    AnnouncedLimitReader reader;
    for (int i = 0; i < 4; ++i) {
      reader.read(requests("10", "9", reset));
      EXPECT_EQ(reader.limits().requests_per_minute, 10u) << "an odd answer is none's: " << i;
    }
    EXPECT_TRUE(reader.read(requests("10", "9", reset)));
    EXPECT_EQ(reader.limits().requests_per_minute, 600u) << reset;
    reader.read(requests("10", "3", "1s"));
    EXPECT_EQ(reader.limits().requests_per_minute, 600u) << "many at once say nothing";
  }
}

TEST(AnnouncedLimits, AMinutesLimitIsNeverTakenForASeconds) {
  AnnouncedLimitReader bucket;
  for (int i = 0; i < 20; ++i) bucket.read(requests("600", "599", "100ms"));
  EXPECT_EQ(bucket.limits().requests_per_minute, 600u);
  AnnouncedLimitReader window;
  for (int i = 0; i < 20; ++i) {
    window.read(requests("10", "9", i % 5 == 4 ? "6s" : "1s"));
    EXPECT_EQ(window.limits().requests_per_minute, 10u) << i;
  }
  AnnouncedLimitReader changed;
  for (int i = 0; i < 5; ++i) changed.read(requests("10", "9", "1s"));
  ASSERT_EQ(changed.limits().requests_per_minute, 600u);
  for (int i = 0; i < 5; ++i) changed.read(requests("10", "8", "12s"));
  EXPECT_EQ(changed.limits().requests_per_minute, 10u);
}

TEST(AnnouncedLimits, WindowsThatAreNamedHold) {
  const auto read = [](const HttpHeaders& headers) {
    AnnouncedLimitReader reader;
    reader.read(headers);
    return reader.limits();
  };
  EXPECT_EQ(read({{"ratelimit-policy", "10;w=1"}, {"ratelimit-limit", "10"}}),
            (wire::AnnouncedLimits{600, 0, 0, 0}));
  EXPECT_EQ(read({{"ratelimit-policy", "\"burst\";q=10;w=1, \"sustained\"; q=100; w=60"}}),
            (wire::AnnouncedLimits{100, 0, 0, 0}))
      << "all of them hold";
  EXPECT_EQ(
      read({{"ratelimit-policy", "\"a\";q=5;w=1"}, {"ratelimit-policy", "\"tokens, of all\";q=90000;w=60"}}),
      (wire::AnnouncedLimits{300, 90'000, 0, 0}));
  EXPECT_EQ(read({{"x-ratelimit-limit-req-minute", "50"}, {"x-ratelimit-limit-tokens-minute", "60000"}}),
            (wire::AnnouncedLimits{50, 60'000, 0, 0}));
  EXPECT_EQ(read({{"x-ratelimit-limit-requests-second", "2"}}), (wire::AnnouncedLimits{120, 0, 0, 0}));
}

TEST(AnnouncedLimits, ALimitWithoutItsTimeHasThatOfThePolicyWithItsNumber) {
  AnnouncedLimitReader same;
  auto headers = requests("10", "9", "1s");
  headers.emplace_back("ratelimit-policy", "10;w=1");
  same.read(headers);
  EXPECT_EQ(same.limits().requests_per_minute, 600u);
  AnnouncedLimitReader other;
  headers.back().second = "50;w=1";
  other.read(headers);
  EXPECT_EQ(other.limits().requests_per_minute, 10u) << "a gateway's own beside the provider's";
}

TEST(AnnouncedLimits, NumbersBeyondAllReasonAreNoLimits) {
  for (const char* number : {"0", "-1", "1000000000001", "18446744073709551615", "99999999999999999999"}) {
    AnnouncedLimitReader reader;
    EXPECT_FALSE(reader.read(requests(number, "1", "1s"))) << number;
    EXPECT_FALSE(reader.read({{"anthropic-ratelimit-requests-limit", number}})) << number;
  }
}

TEST(AnnouncedLimits, OfSeveralModelsTheSmallestOfEachCounts) {
  ModelLimits limits;
  EXPECT_TRUE(limits.read(
      "chat", {{"anthropic-ratelimit-requests-limit", "50"}, {"anthropic-ratelimit-tokens-limit", "90000"}}));
  EXPECT_FALSE(limits.read("embedder", {{"anthropic-ratelimit-requests-limit", "3000"}}));
  EXPECT_TRUE(limits.read("embedder", {{"anthropic-ratelimit-tokens-limit", "40000"}}));
  EXPECT_EQ(limits.smallest(), (wire::AnnouncedLimits{50, 40'000, 0, 0}));
  EXPECT_TRUE(limits.read("chat", {{"anthropic-ratelimit-requests-limit", "5000"}}));
  EXPECT_EQ(limits.smallest(), (wire::AnnouncedLimits{3000, 40'000, 0, 0}));
}

TEST(AnnouncedLimits, NothingUsedShowsNothing) {
  AnnouncedLimitReader reader;
  EXPECT_FALSE(reader.read(requests("100", "100", "0s")));
  EXPECT_FALSE(reader.read(requests("100", "101", "0s")));
}

TEST(AnnouncedLimits, ALimitAloneIsAMinutes) {
  AnnouncedLimitReader reader;
  EXPECT_TRUE(reader.read({{"x-ratelimit-limit-requests", "100"}}));
  EXPECT_EQ(reader.limits().requests_per_minute, 100u);
}

HttpHeaders token_limit(const std::string& limit) {
  return {{"x-ratelimit-limit-tokens", limit}};
}

// A single answer with x-ratelimit-limit-tokens: 1 turned 51 of 60 cases into errors.
TEST(AnnouncedLimits, ALimitThatNoCallFitsIsNeverBelieved) {
  AnnouncedLimitReader reader;
  EXPECT_TRUE(reader.read(token_limit("1"))) << "it is doubted";
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(reader.read(token_limit("1")));
  EXPECT_EQ(reader.limits(), wire::AnnouncedLimits{});
  EXPECT_EQ(reader.doubted(), (wire::AnnouncedLimits{0, 1, 0, 0}));
  EXPECT_TRUE(reader.read(token_limit("150000")));
  EXPECT_EQ(reader.limits(), (wire::AnnouncedLimits{0, 150'000, 0, 0}));
  EXPECT_EQ(reader.doubted(), wire::AnnouncedLimits{});
}

TEST(AnnouncedLimits, ALimitThatFallsByOrdersOfMagnitudeIsBelievedWhenSeveralAnswersAgree) {
  AnnouncedLimitReader reader;
  reader.read(token_limit("150000"));
  reader.read(token_limit("15000"));
  EXPECT_EQ(reader.limits().tokens_per_minute, 15'000u) << "a tier lower";
  for (int i = 1; i < 5; ++i) {
    reader.read(token_limit("1400"));
    EXPECT_EQ(reader.limits().tokens_per_minute, 15'000u) << i;
    EXPECT_EQ(reader.doubted().tokens_per_minute, 1'400u) << i;
  }
  EXPECT_TRUE(reader.read(token_limit("1400")));
  EXPECT_EQ(reader.limits().tokens_per_minute, 1'400u);
  EXPECT_EQ(reader.doubted(), wire::AnnouncedLimits{});
}

TEST(AnnouncedLimits, OddAnswersBetweenOthersAreNeverBelieved) {
  AnnouncedLimitReader reader;
  for (int i = 0; i < 20; ++i) {
    reader.read(requests("600", "599", "100ms"));
    reader.read(requests("1", "0", "60s"));
    EXPECT_EQ(reader.limits().requests_per_minute, 600u);
  }
}

TEST(AnnouncedLimits, OneRequestAMinuteNeedsSeveralAnswersThatAgree) {
  AnnouncedLimitReader reader;
  for (int i = 0; i < 4; ++i) reader.read({{"anthropic-ratelimit-requests-limit", "1"}});
  EXPECT_EQ(reader.limits(), wire::AnnouncedLimits{});
  reader.read({{"anthropic-ratelimit-requests-limit", "1"}});
  EXPECT_EQ(reader.limits(), (wire::AnnouncedLimits{1, 0, 0, 0}));
}

TEST(AnnouncedLimits, WhatIsNamedForOneModelIsDoubtedForAll) {
  ModelLimits limits;
  limits.read("chat", token_limit("90000"));
  EXPECT_TRUE(limits.read("embedder", token_limit("3")));
  EXPECT_EQ(limits.smallest(), (wire::AnnouncedLimits{0, 90'000, 0, 0}));
  EXPECT_EQ(limits.doubted(), (wire::AnnouncedLimits{0, 3, 0, 0}));
}

TEST(AnnouncedLimits, WhatARefusalNamesCountsWhereHeadersNameNothing) {
  ModelLimits limits;
  EXPECT_TRUE(limits.take("chat", {true, 30'000, 60}));
  EXPECT_FALSE(limits.take("chat", {true, 30'000, 60})) << "nothing new";
  EXPECT_TRUE(limits.take("small", {false, 3, 60}));
  EXPECT_EQ(limits.smallest(), (wire::AnnouncedLimits{3, 30'000, 0, 0}));
  EXPECT_TRUE(limits.take("other", {true, 30, 60})) << "doubted";
  EXPECT_EQ(limits.smallest(), (wire::AnnouncedLimits{3, 30'000, 0, 0}));
  ModelLimits announced;
  announced.read("chat", token_limit("90000"));
  EXPECT_FALSE(announced.take("chat", {true, 30'000, 60}));
  EXPECT_TRUE(announced.take("chat", {false, 60, 60})) << "its headers name tokens alone";
  EXPECT_EQ(announced.smallest(), (wire::AnnouncedLimits{60, 90'000, 0, 0}));
}

TEST(AnnouncedLimits, WhatIsNoLimitIsNone) {
  for (const std::string text : {"0", "-1", "", "many", "1e3", "60.5", "99999999999999999999999"}) {
    AnnouncedLimitReader reader;
    EXPECT_FALSE(reader.read(requests(text, "1", "1s"))) << text;
    EXPECT_FALSE(reader.read({{"anthropic-ratelimit-requests-limit", text}})) << text;
    EXPECT_EQ(reader.limits(), wire::AnnouncedLimits{});
  }
}

TEST(AnnouncedLimits, ANewLimitIsReadAnew) {
  AnnouncedLimitReader reader;
  reader.read(requests("60", "59", "1s"));
  EXPECT_TRUE(reader.read(requests("600", "599", "100ms")));
  EXPECT_EQ(reader.limits().requests_per_minute, 600u);
}

}  // namespace
}  // namespace sluice
