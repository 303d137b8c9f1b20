// Leases that end otherwise than by a result: workers that fall silent, and units that take too long.
#include "tests/unit/dispatch/dispatcher_fixture.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace sluice::dispatcher_test {
namespace {

TEST_F(DispatcherTest, ASilentWorkersUnitsGoToAnother) {
  Dispatcher dispatcher(config, units(2), {});
  join(dispatcher, 1, 2);
  ASSERT_EQ(dispatcher.lease(1, 2, at(0ms)).size(), 2u);
  join(dispatcher, 2, 2);
  for (auto now = 1000ms; now <= 3000ms; now += 1000ms) {
    dispatcher.on_message(2, at(now));
    EXPECT_TRUE(dispatcher.tick(at(now)).lost.empty()) << now.count();
  }
  dispatcher.on_message(2, at(4000ms));
  EXPECT_EQ(dispatcher.tick(at(4000ms)).lost, std::vector<WorkerId>{1});
  EXPECT_FALSE(dispatcher.knows(1));
  EXPECT_EQ(dispatcher.lease(2, 2, at(4000ms)).size(), 2u);
}

TEST_F(DispatcherTest, ALeaseWhoseResultHasComeIsNotLostWithItsWorker) {
  Dispatcher dispatcher(config, units(2), {});
  join(dispatcher, 1, 2);
  ASSERT_EQ(dispatcher.lease(1, 2, at(0ms)).size(), 2u);
  dispatcher.begin_recording(0);
  std::size_t leases_lost = 0;
  for (auto now = 1000ms; now <= 4000ms; now += 1000ms) leases_lost += dispatcher.tick(at(now)).leases_lost;
  EXPECT_FALSE(dispatcher.knows(1));
  EXPECT_EQ(leases_lost, 1u);
}

TEST_F(DispatcherTest, ALateTickRestartsAllClocks) {
  Dispatcher dispatcher(config, units(1), {});
  join(dispatcher, 1, 1);
  dispatcher.tick(at(1000ms));
  const auto tick = dispatcher.tick(at(20s));
  EXPECT_TRUE(tick.clocks_restarted);
  EXPECT_TRUE(tick.lost.empty());
  EXPECT_TRUE(dispatcher.tick(at(21s)).lost.empty());
}

TEST_F(DispatcherTest, OnlyStartedUnitsCountALoss) {
  Dispatcher dispatcher(config, units(1), {});
  auto now = 0ms;
  for (WorkerId worker = 1; worker <= 10; ++worker) {
    join(dispatcher, worker, 1, now);
    ASSERT_EQ(dispatcher.lease(worker, 1, at(now)).size(), 1u) << worker;
    dispatcher.leave(worker);
  }
  EXPECT_TRUE(dispatcher.lost_units().empty());
}

TEST_F(DispatcherTest, OnlyWhatAWorkerGaveBackWasCertainlyNotBegun) {
  Dispatcher dispatcher(config, units(1), {});
  join(dispatcher, 1, 1);
  dispatcher.lease(1, 1, at(0ms));
  dispatcher.leave(1);
  EXPECT_EQ(dispatcher.take_returned().size(), 1u);
  auto now = 0ms;
  join(dispatcher, 2, 1, now);
  ASSERT_EQ(dispatcher.lease(2, 1, at(now)).size(), 1u);
  for (int i = 0; i < 5; ++i) dispatcher.tick(at(now += 1000ms));
  ASSERT_FALSE(dispatcher.knows(2));
  EXPECT_TRUE(dispatcher.take_returned().empty()) << "it is silent";
}

TEST_F(DispatcherTest, KnowsWhichUnitsWithoutAResultWereBegun) {
  Dispatcher dispatcher(config, units(5), {});
  join(dispatcher, 1, 5);
  ASSERT_EQ(dispatcher.lease(1, 5, at(0ms)).size(), 5u);
  EXPECT_TRUE(dispatcher.begun_units().empty());
  for (const UnitId unit : {3u, 1u, 0u}) dispatcher.started(1, unit, at(0ms));
  dispatcher.started(2, 4, at(0ms));
  EXPECT_EQ(dispatcher.begun_units(), (std::vector<UnitId>{0, 1, 3})) << "4 is not the other worker's";
  dispatcher.settle(0);
  dispatcher.give_back(1, 1);
  EXPECT_EQ(dispatcher.begun_units(), std::vector<UnitId>{3}) << "0 has a result, and 1 was not paid for";
  dispatcher.missed(1, 2);
  dispatcher.leave(1);
  EXPECT_EQ(dispatcher.begun_units(), (std::vector<UnitId>{2, 3})) << "2 was looked for";
}

TEST_F(DispatcherTest, KnowsWhetherAnythingWasCutOff) {
  Dispatcher dispatcher(config, units(3), {});
  join(dispatcher, 1, 3);
  ASSERT_EQ(dispatcher.lease(1, 3, at(0ms)).size(), 3u);
  EXPECT_FALSE(dispatcher.has_cut_off());
  for (const UnitId unit : {0u, 1u}) dispatcher.started(1, unit, at(0ms));
  EXPECT_TRUE(dispatcher.has_cut_off()) << "if the run ended now";
  dispatcher.release(1, 0);
  dispatcher.leave(1);
  EXPECT_TRUE(dispatcher.has_cut_off()) << "it never said what came of 1";
  dispatcher.settle(1);
  EXPECT_FALSE(dispatcher.has_cut_off()) << "what was paid for 0 was said";
}

TEST_F(DispatcherTest, AUnitThatKillsItsWorkersIsGivenUp) {
  Dispatcher dispatcher(config, units(1), {});
  auto now = 0ms;
  for (WorkerId worker = 1; worker <= 3; ++worker) {
    join(dispatcher, worker, 1, now);
    ASSERT_EQ(dispatcher.lease(worker, 1, at(now)), std::vector<UnitId>{0});
    dispatcher.started(worker, 0, at(now));
    for (int i = 0; i < 5; ++i) dispatcher.tick(at(now += 1000ms));
    ASSERT_FALSE(dispatcher.knows(worker));
  }
  EXPECT_EQ(dispatcher.lost_units(), std::vector<UnitId>{0});
  EXPECT_TRUE(dispatcher.finished());
  // A real result that comes after all replaces the loss.
  EXPECT_TRUE(dispatcher.settle(0));
  EXPECT_TRUE(dispatcher.lost_units().empty());
  EXPECT_TRUE(dispatcher.finished());
}

TEST_F(DispatcherTest, AUnitOnALiveWorkerHasADeadline) {
  Dispatcher dispatcher(config, units(1), {});
  join(dispatcher, 1, 1);
  dispatcher.lease(1, 1, at(0ms));
  dispatcher.started(1, 0, at(0ms));
  std::vector<UnitId> expired;
  for (auto now = 1000ms; now <= 61s; now += 1000ms) {
    dispatcher.on_message(1, at(now));
    const auto tick = dispatcher.tick(at(now));
    expired.insert(expired.end(), tick.expired.begin(), tick.expired.end());
  }
  EXPECT_EQ(expired, std::vector<UnitId>{0});
  EXPECT_EQ(dispatcher.lease(1, 1, at(61s)), std::vector<UnitId>{0}) << "a lone worker is offered it again";
}

// A healthy worker of one place, whose calls take half a minute, had units of its queue given up.
TEST_F(DispatcherTest, WhatWaitsBehindUnitsThatBeginIsNotOverdue) {
  constexpr std::size_t count = 10;
  Dispatcher dispatcher(config, units(count), {});
  join(dispatcher, 1, count);
  const auto leased = dispatcher.lease(1, count, at(0ms));
  ASSERT_EQ(leased.size(), count);
  auto now = 0ms;
  for (const UnitId unit : leased) {
    dispatcher.started(1, unit, at(now));
    for (const auto end = now + 30s; now < end;) {
      dispatcher.on_message(1, at(now += 1000ms));
      EXPECT_EQ(dispatcher.tick(at(now)).leases_lost, 0u) << now.count();
    }
    dispatcher.begin_recording(unit);
    dispatcher.settle(unit);
    dispatcher.release(1, unit);
  }
  EXPECT_TRUE(dispatcher.finished());
  EXPECT_TRUE(dispatcher.lost_units().empty());
}

TEST_F(DispatcherTest, WhatIsStuckIsOverdueThoughOthersBegin) {
  Dispatcher dispatcher(config, units(100), {});
  join(dispatcher, 1, 100);
  const auto leased = dispatcher.lease(1, 100, at(0ms));
  dispatcher.started(1, leased[0], at(0ms));
  std::vector<UnitId> expired;
  for (std::size_t i = 1; i < 70; ++i) {
    const auto now = static_cast<int>(i) * 1000ms;
    dispatcher.on_message(1, at(now));
    dispatcher.started(1, leased[i], at(now));
    const auto tick = dispatcher.tick(at(now));
    expired.insert(expired.end(), tick.expired.begin(), tick.expired.end());
  }
  ASSERT_FALSE(expired.empty());
  EXPECT_EQ(expired[0], leased[0]);
}

TEST_F(DispatcherTest, AUnitThatNeverComesBackIsGivenUpInTheEnd) {
  Dispatcher dispatcher(config, units(1), {});
  join(dispatcher, 1, 1);
  std::size_t leases_lost = 0;
  for (auto now = 1000ms; now <= 200s; now += 1000ms) {
    dispatcher.on_message(1, at(now));
    dispatcher.lease(1, 1, at(now));  // Never reported as started: the worker cannot read it, say.
    leases_lost += dispatcher.tick(at(now)).leases_lost;
  }
  EXPECT_EQ(leases_lost, 3u);
  EXPECT_TRUE(dispatcher.finished());
  EXPECT_EQ(dispatcher.lost_units(), std::vector<UnitId>{0});
}

}  // namespace
}  // namespace sluice::dispatcher_test
