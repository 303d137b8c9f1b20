#include "tests/provider_sim/faults.hpp"
#include "tests/provider_sim/limiter.hpp"
#include "tests/provider_sim/timer_queue.hpp"
#include "tests/provider_sim/token_bucket.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace sluice::sim {
namespace {

TEST(TokenBucket, LetsThroughNoMoreThanRateTimesWindowPlusCapacity) {
  TokenBucket bucket(100, 10);
  int taken = 0;
  for (std::int64_t now = 0; now <= 1'000'000; now += 500) {
    if (!bucket.holds(1, now)) continue;
    bucket.take(1);
    ++taken;
  }
  EXPECT_EQ(taken, 110);
}

TEST(TokenBucket, NamesTheTimeAtWhichItHoldsEnough) {
  TokenBucket bucket(3, 2);
  bucket.take(2);
  const auto wait = bucket.wait_us(1, 0);
  EXPECT_EQ(wait, 333'334);
  EXPECT_FALSE(bucket.holds(1, wait - 1));
  EXPECT_TRUE(bucket.holds(1, wait));
}

TEST(Limiter, DeniedRequestsCostNothing) {
  LimitSettings settings;
  settings.requests_per_second = 10;
  settings.burst = 1;
  settings.tokens_per_minute = 600;
  settings.token_burst = 100;
  Limiter limiter(settings);
  EXPECT_FALSE(limiter.admit(60, 0));
  ASSERT_TRUE(limiter.admit(60, 0));
  EXPECT_EQ(limiter.admit(60, 0)->wait.count(), 100);
  EXPECT_EQ(limiter.admit(60, 100'000)->wait.count(), 1900);
  EXPECT_FALSE(limiter.admit(41, 100'000));
}

TEST(Faults, StrikeAsOftenAsAsked) {
  FaultSettings settings;
  settings.drop = 0.2;
  settings.errors = {{0.1, 500}, {0.3, 529}};
  int drops = 0;
  int overloads = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const auto choice = choose_fault(settings, 0, i);
    drops += choice.fault == Fault::drop;
    overloads += choice.fault == Fault::error && choice.status == 529;
  }
  EXPECT_NEAR(drops, 2000, 150);
  EXPECT_NEAR(overloads, 3000, 150);
}

TEST(Faults, PerContentDependsOnNothingElse) {
  FaultSettings settings;
  settings.mode = FaultSettings::Mode::per_content;
  settings.refusal = 0.5;
  int refusals = 0;
  for (std::uint64_t content = 0; content < 1000; ++content) {
    const auto first = choose_fault(settings, content, 1).fault;
    EXPECT_EQ(first, choose_fault(settings, content, 999).fault);
    refusals += first == Fault::refusal;
  }
  EXPECT_NEAR(refusals, 500, 60);
}

TEST(Latency, IsFixedOrLogNormal) {
  EXPECT_EQ(latency_us({}, 1), 0);
  EXPECT_EQ(latency_us({50, 0, 1}, 1), 50'000);
  int below = 0;
  double logs = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const auto us = latency_us({100, 0.5, 3}, i);
    below += us < 100'000;
    logs += std::pow(std::log(static_cast<double>(us) / 100'000), 2);
  }
  EXPECT_NEAR(below, 5000, 250);
  EXPECT_NEAR(std::sqrt(logs / 10000), 0.5, 0.02);
}

TEST(TimerQueue, GivesDueTimersInOrder) {
  TimerQueue queue;
  EXPECT_FALSE(queue.next_due_us());
  for (const std::int64_t due : {30, 10, 20}) queue.add({due, 0, 0});
  EXPECT_EQ(queue.next_due_us(), 10);
  EXPECT_EQ(queue.take_due(20)->due_us, 10);
  EXPECT_EQ(queue.take_due(20)->due_us, 20);
  EXPECT_FALSE(queue.take_due(20));
}

}  // namespace
}  // namespace sluice::sim
