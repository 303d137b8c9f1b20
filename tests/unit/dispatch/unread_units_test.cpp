// Units that end each worker that is leased them, since it cannot read them.
#include "coordinator/dispatch/defaults.hpp"
#include "tests/unit/dispatch/dispatcher_fixture.hpp"

#include <chrono>
#include <vector>

namespace sluice::unread_units_test {
namespace {

using namespace std::chrono_literals;

using dispatcher_test::config;
using dispatcher_test::units;

class UnreadUnits : public dispatcher_test::DispatcherTest {
 protected:
  std::vector<UnitId> lease(WorkerId worker) { return dispatcher.lease(worker, 100, at(0ms)); }
  /// A worker joins and begins with each unit that it is leased, until it cannot read this one.
  std::vector<UnitId> leave_by(UnitId unreadable, WorkerId worker) {
    join(dispatcher, worker, 10);
    for (auto leased = lease(worker); !leased.empty(); leased = lease(worker)) {
      EXPECT_EQ(leased.size(), 1u) << "while it is not known which unit it is";
      if (leased[0] == unreadable) break;
      dispatcher.started(worker, leased[0], at(0ms));
    }
    const auto given_up = dispatcher.suspect_unread(worker);
    for (const UnitId unit : given_up) dispatcher.begin_recording(unit);
    dispatcher.leave(worker);
    return given_up;
  }

  Dispatcher dispatcher{config, units(10), {}};
};

TEST_F(UnreadUnits, TheOneThatTwoWorkersCannotReadIsGivenUp) {
  static_assert(defaults::max_unread == 2);
  join(dispatcher, 1, 4);
  const auto first = lease(1);
  ASSERT_EQ(first.size(), 4u);
  EXPECT_TRUE(dispatcher.suspect_unread(1).empty()) << "it may be any of the four";
  dispatcher.leave(1);
  EXPECT_EQ(leave_by(first[2], 2), std::vector<UnitId>{first[2]});
  join(dispatcher, 3, 10);
  std::size_t leased = 0;
  for (auto more = lease(3); !more.empty(); more = lease(3)) {
    for (const UnitId unit : more) {
      EXPECT_NE(unit, first[2]);
      dispatcher.started(3, unit, at(0ms));
      ++leased;
    }
  }
  EXPECT_EQ(leased, 9u) << "all the others";
}

TEST_F(UnreadUnits, OnlyOneIsLeasedAtATimeUntilItHasBegun) {
  join(dispatcher, 1, 2);
  const auto suspected = lease(1);
  ASSERT_EQ(suspected.size(), 2u);
  dispatcher.suspect_unread(1);
  dispatcher.leave(1);
  join(dispatcher, 2, 10);
  for (std::size_t i = 0; i < suspected.size(); ++i) {
    const auto leased = lease(2);
    ASSERT_EQ(leased.size(), 1u);
    EXPECT_TRUE(lease(2).empty()) << "it has not begun";
    dispatcher.started(2, leased[0], at(0ms));
  }
  EXPECT_EQ(lease(2).size(), 8u) << "nothing is suspected any more";
}

TEST_F(UnreadUnits, WhatBeganWasRead) {
  join(dispatcher, 1, 1);
  const auto begun = lease(1);
  dispatcher.started(1, begun[0], at(0ms));
  EXPECT_TRUE(dispatcher.suspect_unread(1).empty());
  dispatcher.leave(1);
  join(dispatcher, 2, 10);
  EXPECT_EQ(lease(2).size(), 10u) << "one that began is not suspected";
}

// A machine that fails says nothing of the unit that it had.
TEST_F(UnreadUnits, AWorkerThatDiesOrLeavesOtherwiseMakesNoneSuspect) {
  join(dispatcher, 1, 4);
  const auto first = lease(1);
  dispatcher.suspect_unread(1);
  dispatcher.leave(1);
  for (WorkerId worker = 2; worker < 6; ++worker) {
    join(dispatcher, worker, 10);
    ASSERT_EQ(lease(worker).size(), 1u);
    dispatcher.leave(worker);
  }
  EXPECT_EQ(leave_by(first[3], 7), std::vector<UnitId>{first[3]});
  EXPECT_TRUE(dispatcher.lost_units().empty());
}

TEST_F(UnreadUnits, AWorkerThatComesBackAndLeavesAgainCountsOnce) {
  join(dispatcher, 1, 1);
  const auto first = lease(1);
  ASSERT_EQ(first.size(), 1u);
  dispatcher.suspect_unread(1);
  dispatcher.leave(1);
  EXPECT_TRUE(leave_by(first[0], 1).empty());
  EXPECT_EQ(leave_by(first[0], 2), first);
}

}  // namespace
}  // namespace sluice::unread_units_test
