// The rate of the last seconds, which progress shows and from which it says what is left.
#include "coordinator/progress/progress.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace sluice::rate_estimate_test {

using Seconds = RateEstimate::Seconds;

/// Lets a run go on at a rate from one second to another, shown ten times a second as a terminal is.
void go(RateEstimate& rate, int from, int until, double per_second, double& done, bool goes_on = true) {
  for (int tenth = from * 10 + 1; tenth <= until * 10; ++tenth) {
    done += per_second / 10;
    rate.update(Seconds(tenth * 0.1), static_cast<std::uint64_t>(done + 1e-6), goes_on);
  }
}

TEST(RateEstimate, FollowsASteadyRate) {
  RateEstimate rate;
  EXPECT_EQ(rate.per_second(), std::nullopt);
  EXPECT_EQ(rate.time_for(10), std::nullopt);
  rate.update(Seconds(0), 0, true);
  EXPECT_EQ(rate.per_second(), std::nullopt);
  double done = 0;
  go(rate, 0, 60, 20, done);
  ASSERT_TRUE(rate.per_second());
  EXPECT_NEAR(*rate.per_second(), 20.0, 1e-6);
  EXPECT_NEAR(rate.time_for(100)->count(), 5.0, 1e-6);
}

TEST(RateEstimate, IsThatOfTheLastTenSeconds) {
  RateEstimate rate;
  double done = 0;
  go(rate, 0, 60, 100, done);
  go(rate, 60, 65, 10, done);
  EXPECT_NEAR(*rate.per_second(), 55.0, 1.0) << "half old, half new";
  go(rate, 65, 70, 10, done);
  EXPECT_NEAR(*rate.per_second(), 10.0, 1.0);
}

TEST(RateEstimate, OfFewTrialsLooksFartherBack) {
  RateEstimate rate;
  for (int second = 1; second <= 600; ++second) {
    rate.update(Seconds(second), static_cast<std::uint64_t>(second / 15), true);
    if (second < 150) continue;
    EXPECT_NEAR(*rate.per_second(), 1.0 / 15, 0.01) << "after " << second << " s";
  }
}

TEST(RateEstimate, AnOutageCountsForNothing) {
  RateEstimate rate;
  double done = 0;
  go(rate, 0, 60, 10, done);
  go(rate, 60, 62, 0, done, false);
  EXPECT_TRUE(rate.per_second()) << "a short pause is part of how fast it goes";
  go(rate, 62, 200, 0, done, false);
  EXPECT_EQ(rate.per_second(), std::nullopt);
  EXPECT_EQ(rate.time_for(10), std::nullopt);
  go(rate, 200, 201, 10, done);
  EXPECT_NEAR(rate.time_for(100)->count(), 10.0, 0.5) << "as it went before";
  go(rate, 201, 211, 40, done);
  EXPECT_NEAR(*rate.per_second(), 40.0, 1.0) << "it goes otherwise now";
}

// Calls that hang are no outage as long as nobody knows of one.
TEST(RateEstimate, IsKnownAnewTenSecondsAfterAHang) {
  RateEstimate rate;
  double done = 0;
  go(rate, 0, 60, 10, done);
  go(rate, 60, 120, 0, done);
  go(rate, 120, 125, 10, done);
  EXPECT_NEAR(*rate.per_second(), 5.0, 0.2);
  go(rate, 125, 130, 10, done);
  EXPECT_NEAR(*rate.per_second(), 10.0, 0.2);
}

// The time that was left grew with each second in which calls hung, and no word said why.
TEST(RateEstimate, IsNotKnownOnceNothingWasFinishedForLong) {
  RateEstimate rate;
  double done = 0;
  go(rate, 0, 60, 10, done);
  go(rate, 60, 69, 0, done);
  EXPECT_EQ(rate.stalled(), std::nullopt);
  EXPECT_TRUE(rate.time_for(10));
  go(rate, 69, 90, 0, done);
  ASSERT_TRUE(rate.stalled());
  EXPECT_NEAR(rate.stalled()->count(), 30.0, 0.2);
  EXPECT_EQ(rate.per_second(), std::nullopt);
  EXPECT_EQ(rate.time_for(10), std::nullopt);
  go(rate, 90, 91, 10, done);
  EXPECT_EQ(rate.stalled(), std::nullopt);
  EXPECT_TRUE(rate.time_for(10));
}

TEST(RateEstimate, IsKnownWhileAnswersTakeAsLongAsTheyDo) {
  RateEstimate rate;
  for (int second = 1; second <= 300; ++second) {  // Five at a time, every 20 s.
    rate.update(Seconds(second), static_cast<std::uint64_t>(second / 20 * 5), true);
    EXPECT_EQ(rate.stalled().has_value(), second >= 10 && second < 20) << second;
  }
  for (int second = 301; second <= 341; ++second) rate.update(Seconds(second), 75, true);
  EXPECT_NEAR(rate.stalled().value_or(Seconds(0)).count(), 41.0, 1e-6);
  rate.update(Seconds(342), 75, false);
  EXPECT_EQ(rate.stalled(), std::nullopt) << "the provider is down, and the line says that";
}

TEST(RateEstimate, ShortPausesCount) {
  RateEstimate rate;
  double done = 0;
  for (int second = 0; second < 60; second += 2) {
    go(rate, second, second + 1, 20, done);
    go(rate, second + 1, second + 2, 0, done, false);
  }
  EXPECT_NEAR(*rate.per_second(), 10.0, 1.0);
}

TEST(RateEstimate, WhatIsFinishedDuringAnOutageIsNotLost) {
  RateEstimate rate;
  double done = 0;
  go(rate, 0, 20, 10, done);
  go(rate, 20, 100, 1, done, false);
  go(rate, 100, 101, 10, done);
  EXPECT_GT(*rate.per_second(), 9.0);
}

// Answers of a cache go on while a provider is down: their number is not the rate of what comes after.
TEST(RateEstimate, WhatIsFinishedDuringAnOutageIsNoRate) {
  for (const double meanwhile : {0.5, 20.0}) {
    RateEstimate rate;
    double done = 0;
    go(rate, 0, 20, 10, done);
    go(rate, 20, 100, meanwhile, done, false);
    go(rate, 100, 101, 10, done);
    EXPECT_NEAR(*rate.per_second(), 10.0, 1.0) << meanwhile;
    go(rate, 101, 130, 5, done);
    EXPECT_NEAR(*rate.per_second(), 5.0, 0.6) << meanwhile;
  }
}

TEST(RateEstimate, TakesTwoUpdatesAtTheSameMoment) {
  RateEstimate rate;
  rate.update(Seconds(1), 5, true);
  rate.update(Seconds(1), 9, true);
  rate.update(Seconds(2), 10, true);
  ASSERT_TRUE(rate.per_second());
  EXPECT_NEAR(*rate.per_second(), 5.0, 1e-9);
}

}  // namespace sluice::rate_estimate_test
