#include "worker/calls/failing_calls.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include <gtest/gtest.h>

namespace sluice {
namespace failing_calls_test {

using namespace std::chrono_literals;
using Instant = FailingCalls::Instant;

/// Each failure and answer is an instant later than what was before; calls are told apart by their numbers.
struct FailingCallsTest : testing::Test {
  Instant begins() { return calls.begin(); }
  void is_answered(Instant began) { calls.answered(began, now += 10ms); }
  /// True if it may be an outage.
  bool fails(int call, Instant began) { return calls.failed(&names.at(call), began, now += 10ms); }
  bool fails(int call) { return fails(call, begins()); }
  bool alone(int call) const { return calls.fails_alone(&names.at(call)); }

  FailingCalls calls;
  std::array<char, 10> names{};
  TimePoint now = TimePoint(1h);
};

TEST_F(FailingCallsTest, WhereNothingIsAnsweredItMayBeAnOutage) {
  is_answered(begins());
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(fails(1)) << i;
}

TEST_F(FailingCallsTest, WhatBeganLaterAndIsAnsweredShowsThatItFailsAlone) {
  EXPECT_TRUE(fails(1));
  EXPECT_FALSE(alone(1));
  is_answered(begins());
  EXPECT_TRUE(alone(1));
  EXPECT_EQ(calls.leave_places(), 1u);
  EXPECT_FALSE(fails(1));
  calls.ended(&names.at(1));
  EXPECT_EQ(calls.leave_places(), 0u);
}

// An outage fails what begins later, while earlier calls may still be answered.
TEST_F(FailingCallsTest, WhatBeganEarlierShowsNothing) {
  const auto earlier = begins();
  for (int call = 1; call <= 3; ++call) EXPECT_TRUE(fails(call));
  is_answered(earlier);
  for (int call = 1; call <= 3; ++call) EXPECT_TRUE(fails(call));
  for (int call = 1; call <= 3; ++call) EXPECT_FALSE(alone(call));
}

TEST_F(FailingCallsTest, WhatFailsLeavesItsPlaceUntilEnoughFailToShowAnOutage) {
  EXPECT_EQ(calls.leave_places(), 0u);
  for (int call = 1; call <= 5; ++call) {
    EXPECT_TRUE(fails(call));
    EXPECT_EQ(calls.leave_places(), static_cast<std::size_t>(std::min(call, 3))) << call;
  }
}

TEST_F(FailingCallsTest, WhatEndsTogetherIsToldInAnyOrder) {
  const auto first = begins();
  is_answered(begins());
  EXPECT_TRUE(calls.failed(&names.at(1), first, now));
  EXPECT_TRUE(alone(1));
}

// The last case of a suite is answered as all others, or fails for good.
TEST_F(FailingCallsTest, OneThatFailsAsTheLastOfManyIsNoOutage) {
  const auto other = begins();
  const auto last = begins();
  is_answered(other);
  EXPECT_TRUE(fails(1, last)) << "the first one may be anything";
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(fails(1)) << i;
}

TEST_F(FailingCallsTest, SeveralThatFailAsTheLastAreOne) {
  const auto other = begins();
  const std::array last{begins(), begins(), begins()};
  is_answered(other);
  for (int call = 0; call < 3; ++call) EXPECT_TRUE(fails(call, last.at(static_cast<std::size_t>(call))));
  for (int call = 0; call < 3; ++call) EXPECT_TRUE(fails(call));
}

TEST_F(FailingCallsTest, MoreMustFailThanAreKnownToFailAlone) {
  for (int call = 0; call < 3; ++call) fails(call);
  is_answered(begins());
  for (int call = 3; call < 6; ++call) EXPECT_TRUE(fails(call)) << "its first failure";
  for (int call = 0; call < 6; ++call) EXPECT_FALSE(fails(call));
  EXPECT_TRUE(fails(6));
  for (int call = 3; call < 7; ++call) EXPECT_TRUE(fails(call)) << "four, and three of the other kind";
  EXPECT_FALSE(fails(0)) << "what is known stays known";
}

TEST_F(FailingCallsTest, WhatAnOutageFailedIsNotHeldAgainstIt) {
  fails(1);
  is_answered(begins());
  const auto hangs = begins();
  fails(2);
  calls.outage_began();
  is_answered(begins());
  EXPECT_TRUE(alone(1)) << "it was known before";
  EXPECT_FALSE(alone(2));
  EXPECT_TRUE(fails(3, hangs));
  is_answered(begins());
  EXPECT_FALSE(alone(3)) << "it had begun before";
}

}  // namespace failing_calls_test
}  // namespace sluice
