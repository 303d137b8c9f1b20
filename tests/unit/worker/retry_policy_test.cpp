#include "worker/retry_policy.hpp"

#include "worker/defaults.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace sluice::retry_policy_test {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr RetryLimits limits{5, 500ms, 60s, 15min};
const TimePoint start = TimePoint() + 1h;
const FailedCall server_error{true, false, std::nullopt};

milliseconds delay_of(const RetryDecision& decision) {
  const auto* retry = std::get_if<RetryAfter>(&decision);
  EXPECT_TRUE(retry);
  return retry ? retry->delay : -1ms;
}

TEST(RetryPolicy, BackOffDoublesItsBoundAndJittersOverAllOfIt) {
  constexpr int runs = 2000;
  for (int failure = 0; failure < 5; ++failure) {
    const milliseconds bound = 500ms * (1 << failure);
    auto least = milliseconds::max();
    auto most = milliseconds::min();
    for (int run = 0; run < runs; ++run) {
      Random random(static_cast<std::uint64_t>(run));
      RetryPolicy policy(limits, start);
      milliseconds delay{};
      for (int i = 0; i <= failure; ++i) delay = delay_of(policy.decide(server_error, start, random));
      least = std::min(least, delay);
      most = std::max(most, delay);
    }
    EXPECT_GE(least, 0ms);
    EXPECT_LE(most, bound);
    // Full jitter: the whole range is used (each bound is missed by 1 % with odds of 2e-9).
    EXPECT_LT(least, bound / 100) << failure;
    EXPECT_GT(most, bound * 99 / 100) << failure;
  }
}

TEST(RetryPolicy, BackOffStopsGrowingAtItsMaximum) {
  RetryPolicy policy({1000, 500ms, 60s, std::chrono::hours(24 * 365)}, start);
  Random random(1);
  auto most = 0ms;
  for (int i = 0; i < 1000; ++i) {
    const auto delay = delay_of(policy.decide(server_error, start, random));
    EXPECT_GE(delay, 0ms) << "failure " << i;
    EXPECT_LE(delay, 60s) << "failure " << i;
    most = std::max(most, delay);
  }
  EXPECT_GT(most, 50s);
}

TEST(RetryPolicy, GivesUpWhenItsAttemptsAreSpent) {
  RetryPolicy policy(limits, start);
  Random random(1);
  for (int i = 0; i < 5; ++i) delay_of(policy.decide(server_error, start, random));
  const auto decision = policy.decide(server_error, start, random);
  ASSERT_TRUE(std::holds_alternative<GiveUp>(decision));
  EXPECT_FALSE(std::get<GiveUp>(decision).out_of_time);
}

TEST(RetryPolicy, NoRetriesMeansNone) {
  RetryPolicy policy({0, 500ms, 60s, 15min}, start);
  Random random(1);
  EXPECT_TRUE(std::holds_alternative<GiveUp>(policy.decide(server_error, start, random)));
}

TEST(RetryPolicy, WhatCannotBeRetriedIsNot) {
  RetryPolicy policy(limits, start);
  Random random(1);
  EXPECT_TRUE(std::holds_alternative<GiveUp>(policy.decide({false, true, 1s}, start, random)));
}

TEST(RetryPolicy, ANamedDelayOfARateLimitIsNoAttemptAndIsKeptToTheMillisecond) {
  RetryPolicy policy(limits, start);
  Random random(1);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(delay_of(policy.decide({true, true, 1234ms}, start, random)), 1234ms);
  EXPECT_EQ(delay_of(policy.decide({true, true, 10min}, start, random)), 10min)
      << "beyond the back-off's maximum";
  for (int i = 0; i < 5; ++i) delay_of(policy.decide(server_error, start, random));
  EXPECT_TRUE(std::holds_alternative<GiveUp>(policy.decide(server_error, start, random)));
}

TEST(RetryPolicy, ARateLimitWithoutANamedDelayIsAnAttempt) {
  RetryPolicy policy(limits, start);
  Random random(1);
  for (int i = 0; i < 5; ++i) delay_of(policy.decide({true, true, std::nullopt}, start, random));
  EXPECT_TRUE(std::holds_alternative<GiveUp>(policy.decide({true, true, std::nullopt}, start, random)));
}

// A burst of 429 in which nothing was answered ended 6 to 11 of 61 cases.
TEST(RetryPolicy, ARefusalWhereNobodyIsAnsweredIsNoAttempt) {
  RetryPolicy policy(limits, start);
  Random random(1);
  FailedCall burst{true, true, std::nullopt};
  burst.all_refused = true;
  std::chrono::milliseconds longest{};
  for (int i = 0; i < 50; ++i) longest = std::max(longest, delay_of(policy.decide(burst, start, random)));
  EXPECT_GT(longest, 30s) << "the back-off grows as ever";
  for (int i = 0; i < 5; ++i) delay_of(policy.decide(server_error, start, random));
  EXPECT_TRUE(std::holds_alternative<GiveUp>(policy.decide(server_error, start, random)));
}

TEST(RetryPolicy, ANamedDelayOfAnotherFailureIsKeptUpToTheLongestBackOff) {
  RetryPolicy policy(limits, start);
  Random random(1);
  for (int i = 0; i < 5; ++i) EXPECT_GE(delay_of(policy.decide({true, false, 7s}, start, random)), 7s);
  EXPECT_TRUE(std::holds_alternative<GiveUp>(policy.decide({true, false, 7s}, start, random)))
      << "it is an attempt";
}

// One 503 with Retry-After: 3600 ended its case, and the server was back after seconds.
TEST(RetryPolicy, ALongNamedDelayOfAnotherFailureEndsNoCase) {
  const FailedCall down{true, false, 3600s};
  Random random(1);
  RetryPolicy policy(limits, start);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(delay_of(policy.decide(down, start, random)), 60s);
  EXPECT_TRUE(std::holds_alternative<GiveUp>(policy.decide(down, start, random))) << "it is an attempt";
  RetryPolicy short_of_time({5, 500ms, 60s, 30s}, start);
  EXPECT_LE(delay_of(short_of_time.decide(down, start, random)), 500ms) << "a minute would end it, too";
}

TEST(RetryPolicy, DoesNotWaitForWhatTheDeadlineForbids) {
  Random random(1);
  RetryPolicy policy(limits, start);
  EXPECT_EQ(policy.deadline(), start + 15min);
  EXPECT_EQ(delay_of(policy.decide({true, true, 1s}, start + 15min - 1001ms, random)), 1s);
  for (const auto now : {start + 15min - 1s, start + 15min, start + 1h}) {
    const auto decision = policy.decide({true, true, 1s}, now, random);
    ASSERT_TRUE(std::holds_alternative<GiveUp>(decision));
    EXPECT_TRUE(std::get<GiveUp>(decision).out_of_time);
  }
}

TEST(RetryPolicy, FailuresThatAreChargedHaveACapOfTheirOwn) {
  RetryPolicy policy(limits, start);
  Random random(1);
  FailedCall charged = server_error;
  charged.consumes_quota = true;
  for (std::uint32_t i = 0; i < defaults::max_charged_retries; ++i) {
    delay_of(policy.decide(server_error, start, random));
    delay_of(policy.decide(charged, start, random));
  }
  EXPECT_TRUE(std::holds_alternative<GiveUp>(policy.decide(charged, start, random)));
}

TEST(RetryPolicy, TimeThatDoesNotCountMovesTheDeadline) {
  RetryPolicy policy(limits, start);
  Random random(1);
  policy.extend(10min);
  EXPECT_EQ(policy.deadline(), start + 25min);
  EXPECT_EQ(delay_of(policy.decide({true, true, 20min}, start, random)), 20min);
}

}  // namespace sluice::retry_policy_test
