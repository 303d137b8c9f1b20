#include "coordinator/governor/limit_estimate.hpp"

#include "tests/properties/simulated_limits.hpp"

#include <gtest/gtest.h>

namespace sluice::limit_estimate_test {

using namespace std::chrono_literals;
using testing::LimitedServer;
using testing::SimulatedLimit;

/// Calls at a speed until one is refused, and a pause after it.
void episode(LimitEstimate& estimate, LimitedServer& server, double speed, BootTime pause, BootTime& now) {
  const BootTime between(static_cast<BootTime::rep>(1e6 / speed));
  for (bool is_over = false; !is_over; now += between) {
    is_over = server.admit(now, 0).has_value();
    estimate.on_outcomes(1, is_over ? 1 : 0, {now, now});
    if (is_over) estimate.on_pause({now, now}, now + pause);
  }
  now += pause;
}

std::optional<LimitEstimate::Found> found_of(const SimulatedLimit& limit, double first, double second,
                                             BootTime pause = 1s) {
  BootTime now = std::chrono::hours(1);
  LimitedServer server({limit}, now);
  LimitEstimate estimate;
  estimate.on_demand(now);
  episode(estimate, server, first, pause, now);
  episode(estimate, server, second, pause, now);
  return estimate.found();
}

// Found by the fuzzer: a worker that tells of billions of starts over days kept the coordinator busy for as
// long.
TEST(LimitEstimate, TellingOfManyStartsOverDaysIsNoMoreWorkThanIsRemembered) {
  LimitEstimate estimate;
  estimate.on_demand(BootTime(0));
  estimate.on_outcomes(0xffffffff, 1, {BootTime(0), std::chrono::hours(100'000)});
  estimate.on_pause({BootTime(0), std::chrono::hours(100'000)}, std::chrono::hours(100'000) + 1s);
  EXPECT_TRUE(estimate.speed());
}

/// Seconds of an episode in which these reports come first.
double seconds_after(std::initializer_list<ReportTime> reports, BootTime begin) {
  LimitEstimate estimate;
  estimate.on_demand(begin);
  for (const auto& reported : reports) estimate.on_outcomes(10, 0, reported);
  const ReportTime refusal{begin, begin + 50ms};
  estimate.on_outcomes(0, 1, refusal);
  estimate.on_pause(refusal, begin + 1s);
  return estimate.seconds();
}

TEST(LimitEstimate, CallsOfOtherRunsAloneBeganBeforeItsFirstDemand) {
  constexpr BootTime begin = 1h;
  const ReportTime idle_before{begin - 1s, begin};
  EXPECT_DOUBLE_EQ(seconds_after({idle_before, idle_before, idle_before}, begin), 0.05);
  EXPECT_DOUBLE_EQ(seconds_after({{begin - 60ms, begin - 10ms, begin}}, begin), 0.11);
  const ReportTime long_before{begin - 1s, begin - 10ms, begin};
  EXPECT_DOUBLE_EQ(seconds_after({long_before, long_before}, begin), 0.15) << "no earlier, however many";
}

TEST(LimitEstimate, WhatAnotherRunSaysOfTheTimeBeforeThePauseEndsNoEpisode) {
  BootTime now = 1h;
  LimitedServer server({SimulatedLimit::bucket(100, 10)}, now);
  LimitEstimate estimate;
  estimate.on_demand(now);
  episode(estimate, server, 400, 1s, now);
  estimate.on_outcomes(1, 0, {now, now});
  const ReportTime before{now - 20ms, now - 10ms, now + 5ms};
  estimate.on_outcomes(1, 1, before);
  estimate.on_pause(before, now);
  EXPECT_FALSE(estimate.found());
  EXPECT_DOUBLE_EQ(estimate.refusals(), 2) << "of the first episode";
  estimate.on_pause(before, now + 500ms);
  EXPECT_DOUBLE_EQ(estimate.answered(), 0) << "the pause was longer, and the newest episode begins after it";
}

TEST(LimitEstimate, TwoSpeedsGiveARateAndItsBucket) {
  const auto found = found_of(SimulatedLimit::bucket(100, 10), 400, 150);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_sure);
  EXPECT_NEAR(found->rate, 100, 6);
  EXPECT_NEAR(found->burst, 10, 2);
}

// Nine calls in a tenth of a second and nine in half a second were taken for a bucket that hardly fills.
TEST(LimitEstimate, AsManyCallsAtAnySpeedAreThoseOfAWindow) {
  const auto found = found_of(SimulatedLimit::sliding(9, 1s), 100, 20);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_sure);
  EXPECT_DOUBLE_EQ(found->rate, 9);
  EXPECT_DOUBLE_EQ(found->reserve, 1) << "it refuses a steady pace as soon as that is too much";
}

// The delay that it names is as long as the first of its calls counts, not all of them: what came after that
// was taken for all that it gives.
TEST(LimitEstimate, AWindowThatHasRoomForOneCallAfterItsDelayIsKnown) {
  const auto found = found_of(SimulatedLimit::sliding(100, 1s), 400, 280, 755ms);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_sure);
  EXPECT_NEAR(found->rate, 100, 5);
}

TEST(LimitEstimate, MoreCallsAtALowerSpeedAreThoseOfABucket) {
  const auto found = found_of(SimulatedLimit::bucket(9, 9), 100, 20);
  ASSERT_TRUE(found);
  EXPECT_GT(found->reserve, 5);
  EXPECT_NEAR(found->rate, 9, 3);
}

// Four calls in three seconds were taken for four in one, and each run of refusals cost three seconds.
TEST(LimitEstimate, AFewCallsOfALongerWindowAreNotThoseOfASecond) {
  const auto found = found_of(SimulatedLimit::sliding(4.0 / 3, 3s), 50, 5, 3s);
  ASSERT_TRUE(found);
  EXPECT_LT(found->rate, 2);
}

// Thirty-seven calls twice, at speeds that hardly differ: a bucket explains them as well as a window, and
// whoever takes its calls for a second's worth goes on at half of its rate.
TEST(LimitEstimate, AsManyCallsTwiceAtNearlyTheSameSpeedLeaveOpenWhatTheyAre) {
  for (const auto& limit : {SimulatedLimit::sliding(37, 1s), SimulatedLimit::bucket(60, 18)}) {
    const auto found = found_of(limit, 100, 95);
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->is_sure);
  }
}

// Eighteen calls and then twenty were taken for a window of eighteen a second.
TEST(LimitEstimate, AFewMoreCallsAtALowerSpeedAreNotThoseOfAWindow) {
  for (const auto& [rate, size] : {std::pair{40.0, 12.0}, {100.0, 30.0}, {150.0, 30.0}}) {
    const auto found = found_of(SimulatedLimit::bucket(rate, size), 3.2 * rate, 2.6 * rate);
    ASSERT_TRUE(found);
    if (found->is_sure) EXPECT_NEAR(found->rate, rate, 0.2 * rate);
    EXPECT_GT(found->rate, 0.7 * rate);
  }
}

// Eight calls at once and three after a second were taken for two a second.
TEST(LimitEstimate, ABucketThatThePauseDidNotFillTookTheRate) {
  const auto found = found_of(SimulatedLimit::bucket(3, 8), 180, 15);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_sure);
  EXPECT_NEAR(found->rate, 3, 0.3);
}

// Two of five first calls were answered, and hundreds in the seconds after them: it went on at 20 a second.
TEST(LimitEstimate, ALongEpisodeAfterABurstProvesARate) {
  BootTime now = std::chrono::hours(1);
  LimitedServer server({SimulatedLimit::bucket(500, 2)}, now);
  LimitEstimate estimate;
  estimate.on_demand(now);
  EXPECT_EQ(estimate.proved(), 0);
  episode(estimate, server, 5000, 1s, now);
  EXPECT_EQ(estimate.proved(), 0);
  episode(estimate, server, 505, 1s, now);
  EXPECT_GT(estimate.proved(), 350);
  EXPECT_LE(estimate.proved(), 505);
}

}  // namespace sluice::limit_estimate_test
