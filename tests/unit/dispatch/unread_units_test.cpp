// Units that workers cannot read.
#include "coordinator/dispatch/defaults.hpp"
#include "tests/unit/dispatch/dispatcher_fixture.hpp"

#include <algorithm>
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

  /// Begins with all that the worker is leased.
  std::vector<UnitId> begin_with_all(WorkerId worker) {
    std::vector<UnitId> begun;
    for (auto leased = lease(worker); !leased.empty(); leased = lease(worker)) {
      for (const UnitId unit : leased) {
        dispatcher.started(worker, unit, at(0ms));
        begun.push_back(unit);
      }
    }
    return begun;
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
  const auto others = begin_with_all(3);
  EXPECT_EQ(others.size(), 9u);
  EXPECT_EQ(std::ranges::count(others, first[2]), 0);
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

// A worker that comes back had the unit again at once, and counts once.
TEST_F(UnreadUnits, AWorkerThatComesBackGetsTheOthersWhileSomebodyElseMayReadThatOne) {
  join(dispatcher, 1, 3);
  const auto suspected = lease(1);
  ASSERT_EQ(suspected.size(), 3u);
  join(dispatcher, 2, 0);
  EXPECT_TRUE(dispatcher.suspect_unread(1).empty());
  dispatcher.leave(1);
  join(dispatcher, 1, 10);
  const auto others = begin_with_all(1);
  EXPECT_EQ(others.size(), 7u);
  for (const UnitId unit : suspected) EXPECT_EQ(std::ranges::count(others, unit), 0);
  dispatcher.set_window(2, 10);
  EXPECT_EQ(lease(2).size(), 1u) << "what was passed over waits for it";
  EXPECT_EQ(dispatcher.suspect_unread(2).size(), 1u);
}

TEST_F(UnreadUnits, OneThatIsAloneGetsThemAllAndFailsOnlyTheOneThatItCannotReadTwice) {
  join(dispatcher, 1, 10);
  const auto all = lease(1);
  ASSERT_EQ(all.size(), 10u);
  EXPECT_TRUE(dispatcher.suspect_unread(1).empty()) << "it may be any of them";
  dispatcher.leave(1);
  EXPECT_EQ(leave_by(all[4], 1), std::vector<UnitId>{all[4]});
  join(dispatcher, 1, 10);
  const auto others = begin_with_all(1);
  EXPECT_EQ(others.size(), 9u);
  EXPECT_EQ(std::ranges::count(others, all[4]), 0);
}

TEST_F(UnreadUnits, WhoGoesIsNotWaitedForToReadIt) {
  join(dispatcher, 1, 1);
  const auto first = lease(1);
  join(dispatcher, 2, 10);
  dispatcher.suspect_unread(1);
  dispatcher.leave(1);
  dispatcher.leave(2);
  EXPECT_EQ(leave_by(first[0], 1), first);
}

// Without it each of the two would wait for the other for ever.
TEST_F(UnreadUnits, OneWhoseCacheLacksTheAnswerIsNotWaitedFor) {
  join(dispatcher, 1, 1);
  join(dispatcher, 2, 1);
  const auto second = lease(2);
  dispatcher.missed(2, second[0]);
  dispatcher.set_window(2, 0);
  dispatcher.set_window(1, 10);
  const auto all = lease(1);
  ASSERT_EQ(std::ranges::count(all, second[0]), 1);
  for (const UnitId unit : all) {
    if (unit != second[0]) dispatcher.started(1, unit, at(0ms));
  }
  EXPECT_TRUE(dispatcher.suspect_unread(1).empty());
  dispatcher.leave(1);
  EXPECT_EQ(leave_by(second[0], 1), second);
}

}  // namespace
}  // namespace sluice::unread_units_test
