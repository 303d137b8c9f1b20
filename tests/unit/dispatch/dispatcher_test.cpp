#include "common/defaults.hpp"
#include "tests/unit/dispatch/dispatcher_fixture.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace sluice::dispatcher_test {
namespace {

TEST_F(DispatcherTest, LeasesNoMoreThanTheWindow) {
  Dispatcher dispatcher(config, units(10), {});
  join(dispatcher, 1, 4);
  EXPECT_EQ(dispatcher.lease(1, 100, at(0ms)).size(), 4u);
  EXPECT_TRUE(dispatcher.lease(1, 100, at(0ms)).empty());
}

// One worker asked for four billion units, and got all there were.
TEST_F(DispatcherTest, NobodyHoldsMoreThanAnybodyCanWorkOn) {
  Dispatcher dispatcher(config, units(defaults::max_window + 10), {});
  join(dispatcher, 1, 0xffffffff);
  EXPECT_EQ(dispatcher.lease(1, 0xffffffff, at(0ms)).size(), defaults::max_window);
  dispatcher.set_window(1, 0xffffffff);
  EXPECT_TRUE(dispatcher.lease(1, 100, at(0ms)).empty());
  join(dispatcher, 2, 100);
  EXPECT_EQ(dispatcher.lease(2, 100, at(0ms)).size(), 10u) << "the rest is others'";
}

TEST_F(DispatcherTest, ResultsThatAreNotAcknowledgedCountAgainstTheWindow) {
  Dispatcher dispatcher(config, units(10), {});
  join(dispatcher, 1, 2);
  const auto leased = dispatcher.lease(1, 100, at(0ms));
  ASSERT_EQ(leased.size(), 2u);
  dispatcher.settle(leased[0]);
  EXPECT_TRUE(dispatcher.lease(1, 100, at(0ms)).empty());
  dispatcher.release(1, leased[0]);
  EXPECT_EQ(dispatcher.lease(1, 100, at(0ms)).size(), 1u);
}

TEST_F(DispatcherTest, WhoHoldsNothingIsIdle) {
  Dispatcher dispatcher(config, units(1), {});
  join(dispatcher, 1, 3);
  join(dispatcher, 2, 3);
  EXPECT_EQ(dispatcher.idle_count(), 2u);
  ASSERT_EQ(dispatcher.lease(1, 3, at(0ms)).size(), 1u);
  EXPECT_EQ(dispatcher.idle_count(), 1u);
  dispatcher.settle(0);
  dispatcher.release(1, 0);
  EXPECT_EQ(dispatcher.idle_count(), 2u);
}

TEST_F(DispatcherTest, AReconnectedWorkerKeepsWhatItHolds) {
  Dispatcher dispatcher(config, units(3), {});
  join(dispatcher, 1, 3);
  const auto leased = dispatcher.lease(1, 3, at(0ms));
  ASSERT_EQ(leased.size(), 3u);
  dispatcher.join(1, "cache-1", {leased[0], leased[2]}, at(100ms));
  dispatcher.set_window(1, 3);
  EXPECT_EQ(dispatcher.leased_count(), 2u);
  EXPECT_EQ(dispatcher.lease(1, 3, at(100ms)), std::vector<UnitId>{leased[1]});
}

TEST_F(DispatcherTest, HeldUnitsOfAnotherLeaseAreNotTakenAway) {
  Dispatcher dispatcher(config, units(1), {});
  join(dispatcher, 1, 1);
  ASSERT_EQ(dispatcher.lease(1, 1, at(0ms)).size(), 1u);
  dispatcher.join(2, "cache-2", {0, 77}, at(0ms));
  dispatcher.leave(1);
  dispatcher.set_window(2, 1);
  EXPECT_EQ(dispatcher.lease(2, 1, at(0ms)), std::vector<UnitId>{0});
}

TEST_F(DispatcherTest, AMissIsFinalWhenEveryWorkerHasAnswered) {
  Dispatcher dispatcher(config, units(1), {});
  join(dispatcher, 1, 1);
  join(dispatcher, 2, 1);
  const WorkerId first = dispatcher.lease(1, 1, at(0ms)).empty() ? 2 : 1;
  const WorkerId second = 3 - first;
  if (first == 2) {
    ASSERT_EQ(dispatcher.lease(2, 1, at(0ms)).size(), 1u);
  }
  dispatcher.missed(first, 0);
  EXPECT_FALSE(dispatcher.finished());
  EXPECT_TRUE(dispatcher.lease(first, 1, at(0ms)).empty()) << "it has answered already";
  ASSERT_EQ(dispatcher.lease(second, 1, at(0ms)).size(), 1u);
  dispatcher.missed(second, 0);
  EXPECT_TRUE(dispatcher.finished());
  EXPECT_EQ(dispatcher.missed_units(), std::vector<UnitId>{0});
  join(dispatcher, 3, 1);
  EXPECT_FALSE(dispatcher.finished()) << "somebody new may hold it";
  EXPECT_EQ(dispatcher.lease(3, 1, at(0ms)).size(), 1u);
}

TEST_F(DispatcherTest, AMissBecomesFinalWhenTheOnlyOtherWorkerLeaves) {
  Dispatcher dispatcher(config, units(20), {});
  join(dispatcher, 1, 20);
  for (const auto unit : dispatcher.lease(1, 20, at(0ms))) dispatcher.missed(1, unit);
  EXPECT_TRUE(dispatcher.finished());
  join(dispatcher, 2, 20);
  EXPECT_FALSE(dispatcher.finished());
  dispatcher.leave(2);
  EXPECT_TRUE(dispatcher.finished());
  EXPECT_EQ(dispatcher.missed_units().size(), 20u);
}

TEST_F(DispatcherTest, MissesCostAFewLooksAUnitHoweverManyWait) {
  constexpr std::size_t count = 20'000;
  Dispatcher dispatcher(config, units(count), {});
  join(dispatcher, 1, 1);
  join(dispatcher, 2, 1);
  std::size_t messages = 0;
  while (!dispatcher.finished()) {
    ASSERT_LT(++messages, 13 * count);
    // Ten units of the first worker's in the time of one of the second's, whose queue fills with its misses.
    const WorkerId worker = messages % 11 == 0 ? 2 : 1;
    for (const auto unit : dispatcher.lease(worker, 1, at(0ms))) dispatcher.missed(worker, unit);
  }
  EXPECT_EQ(dispatcher.missed_units().size(), count);
  EXPECT_LE(dispatcher.looked_at(), 10 * messages);
}

TEST_F(DispatcherTest, AWorkerThatLeavesTakesNoWalkForEachUnitItMissed) {
  Dispatcher dispatcher(config, units(1000), {});
  join(dispatcher, 1, 1000);
  join(dispatcher, 2, 1000);
  for (const auto unit : dispatcher.lease(1, 1000, at(0ms))) dispatcher.missed(1, unit);
  EXPECT_FALSE(dispatcher.finished());
  dispatcher.leave(2);
  EXPECT_TRUE(dispatcher.finished()) << "whoever is left has missed them all";
  EXPECT_EQ(dispatcher.missed_units().size(), 1000u);
}

TEST_F(DispatcherTest, WhatIsBeingRecordedIsLeasedToNobody) {
  Dispatcher dispatcher(config, units(2), {});
  join(dispatcher, 1, 2);
  ASSERT_EQ(dispatcher.lease(1, 2, at(0ms)).size(), 2u);
  dispatcher.begin_recording(0);
  dispatcher.leave(1);
  join(dispatcher, 2, 2);
  EXPECT_EQ(dispatcher.lease(2, 2, at(0ms)), std::vector<UnitId>{1});
  EXPECT_FALSE(dispatcher.finished());
  dispatcher.settle(1);
  EXPECT_FALSE(dispatcher.finished()) << "the first is not in the ledger yet";
  dispatcher.settle(0);
  EXPECT_TRUE(dispatcher.finished());
}

TEST_F(DispatcherTest, AWorkerThatComesBackWithWhatIsBeingRecordedHasNoLeaseOfIt) {
  Dispatcher dispatcher(config, units(1), {});
  join(dispatcher, 1, 1);
  ASSERT_EQ(dispatcher.lease(1, 1, at(0ms)).size(), 1u);
  dispatcher.begin_recording(0);
  dispatcher.join(1, "cache-1", {0}, at(0ms));
  EXPECT_EQ(dispatcher.leased_count(), 0u);
  EXPECT_EQ(dispatcher.pending_count(), 0u);
}

TEST_F(DispatcherTest, AMissOfALateWorkerDoesNotBringBackWhatIsBeingRecorded) {
  Dispatcher dispatcher(config, units(1), {});
  join(dispatcher, 1, 1);
  join(dispatcher, 2, 1);
  dispatcher.begin_recording(0);
  dispatcher.missed(2, 0);
  EXPECT_EQ(dispatcher.pending_count(), 0u);
  EXPECT_FALSE(dispatcher.finished());
  dispatcher.settle(0);
  EXPECT_TRUE(dispatcher.finished());
}

TEST_F(DispatcherTest, UnitsWaitForTheHolderOfTheirAnswers) {
  auto affinities = units(10);
  for (std::size_t i = 0; i < 6; ++i) affinities[i].holder = 1;
  Dispatcher dispatcher(config, std::move(affinities), {"cache-2"});
  dispatcher.wait_for_holders();
  join(dispatcher, 1, 100);
  EXPECT_EQ(dispatcher.lease(1, 100, at(0ms)).size(), 4u);
  EXPECT_EQ(dispatcher.waiting_for_holders(), 6u);
  EXPECT_FALSE(dispatcher.finished());
  join(dispatcher, 2, 100);
  EXPECT_EQ(dispatcher.waiting_for_holders(), 0u);
  EXPECT_EQ(dispatcher.lease(2, 100, at(0ms)).size(), 6u);
}

TEST_F(DispatcherTest, UnitsDoNotWaitForAHolderForEver) {
  auto affinities = units(10);
  for (auto& affinity : affinities) affinity.holder = 1;
  Dispatcher dispatcher(config, std::move(affinities), {"cache-2"});
  dispatcher.wait_for_holders();
  join(dispatcher, 1, 100);
  EXPECT_TRUE(dispatcher.lease(1, 100, at(0ms)).empty());
  dispatcher.end_wait_for_holders();
  EXPECT_EQ(dispatcher.lease(1, 100, at(0ms)).size(), 10u);
}

TEST_F(DispatcherTest, TheHolderOfAnAnswerComesFirst) {
  auto affinities = units(50);
  for (auto& affinity : affinities) affinity.holder = 1;
  Dispatcher dispatcher(config, std::move(affinities), {"cache-2"});
  for (WorkerId worker = 1; worker <= 3; ++worker) join(dispatcher, worker, 100);
  EXPECT_EQ(dispatcher.lease(2, 25, at(0ms)).size(), 25u);
  EXPECT_EQ(dispatcher.lease(1, 100, at(0ms)).size(), 25u) << "idle workers take what is not theirs";
}

TEST_F(DispatcherTest, RendezvousHashingSpreadsUnitsAndKeepsThem) {
  WorkQueue queue(units(3000), {});
  for (WorkerId worker = 1; worker <= 3; ++worker)
    queue.add_worker(worker, "cache-" + std::to_string(worker));
  std::vector<UnitId> first;
  for (int i = 0; i < 700; ++i) first.push_back(*queue.pop(1));
  EXPECT_TRUE(std::ranges::is_sorted(first)) << "the own queue is in plan order";
  WorkQueue again(units(3000), {});
  for (WorkerId worker = 4; worker >= 1; --worker)
    again.add_worker(worker, "cache-" + std::to_string(worker));
  again.remove_worker(4);
  std::vector<UnitId> second;
  for (int i = 0; i < 700; ++i) second.push_back(*again.pop(1));
  EXPECT_EQ(first, second) << "who came and went does not change whose unit it is";
}

// Each READY dealt every waiting unit anew: 500 workers and 10,000 units kept a coordinator busy for longer
// than it may be silent.
TEST_F(DispatcherTest, WorkersThatComeAndGoMoveNoUnitOneByOne) {
  constexpr std::size_t count = 200'000;
  constexpr WorkerId workers = 500;
  WorkQueue queue(units(count), {});
  for (WorkerId worker = 1; worker <= workers; ++worker) {
    queue.add_worker(worker, "cache-" + std::to_string(worker));
  }
  for (WorkerId worker = 1; worker <= workers; worker += 2) EXPECT_TRUE(queue.remove_worker(worker).empty());
  EXPECT_EQ(queue.size(), count);
  std::vector<bool> seen(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto unit = queue.pop(2 + 2 * (i % (workers / 2)));
    ASSERT_TRUE(unit && !seen[*unit]);
    seen[*unit] = true;
  }
  EXPECT_EQ(queue.size(), 0u);
}

TEST_F(DispatcherTest, SharesOfManyWorkersAreMuchTheSame) {
  for (WorkerId worker = 1; worker <= 50; worker += 7) {
    WorkQueue queue(units(100'000), {});
    for (WorkerId one = 1; one <= 50; ++one) queue.add_worker(one, "cache-" + std::to_string(one));
    std::size_t own = 0;
    // Its own units come in plan order; the first that it takes from another is of that one's last.
    for (UnitId last = 0, next = *queue.pop(worker); next >= last && own < 10'000;
         next = *queue.pop(worker)) {
      last = next;
      ++own;
    }
    EXPECT_GT(own, 1'500u) << "2,000 would be even";
    EXPECT_LT(own, 2'600u);
  }
}

TEST_F(DispatcherTest, WhatComesBackGoesFirst) {
  WorkQueue queue(units(100), {});
  queue.add_worker(1, "cache-1");
  queue.add_worker(2, "cache-2");
  const auto first = *queue.pop(1);
  const auto second = *queue.pop(1);
  EXPECT_TRUE(queue.push(first));
  EXPECT_TRUE(queue.push(second));
  EXPECT_EQ(queue.pop(1), second);
  queue.remove_worker(1);
  EXPECT_EQ(queue.pop(2), first) << "also at another worker";
}

TEST_F(DispatcherTest, KnowsWhoHasRoom) {
  Dispatcher dispatcher(config, units(10), {});
  join(dispatcher, 1, 4);
  join(dispatcher, 2, 0);
  EXPECT_EQ(dispatcher.with_room(), (std::set<WorkerId>{1}));
  const auto leased = dispatcher.lease(1, 100, at(0ms));
  EXPECT_TRUE(dispatcher.with_room().empty());
  dispatcher.settle(leased[0]);
  dispatcher.release(1, leased[0]);
  dispatcher.set_window(2, 1);
  EXPECT_EQ(dispatcher.with_room(), (std::set<WorkerId>{1, 2}));
  dispatcher.leave(1);
  EXPECT_EQ(dispatcher.with_room(), (std::set<WorkerId>{2}));
  dispatcher.lease(2, 1, at(0ms));
  EXPECT_TRUE(dispatcher.with_room().empty());
  for (auto now = 1000ms; now <= 61'000ms; now += 1000ms) {
    dispatcher.on_message(2, at(now));
    dispatcher.tick(at(now));
  }
  EXPECT_EQ(dispatcher.with_room(), (std::set<WorkerId>{2})) << "its lease has expired";
}

TEST_F(DispatcherTest, CountsTheLeasesThatBegan) {
  Dispatcher dispatcher(config, units(4), {});
  join(dispatcher, 1, 4);
  const auto leased = dispatcher.lease(1, 4, at(0ms));
  for (const auto unit : leased) dispatcher.started(1, unit, at(0ms));
  dispatcher.started(1, leased[0], at(0ms));
  EXPECT_EQ(dispatcher.started_count(), 4u);
  dispatcher.settle(leased[0]);
  dispatcher.give_back(1, leased[1]);
  EXPECT_EQ(dispatcher.started_count(), 2u);
  dispatcher.leave(1);
  EXPECT_EQ(dispatcher.started_count(), 0u);
}

// Units that waited for the ledger, or for commands, counted as calls in flight.
TEST_F(DispatcherTest, WhatIsBeingRecordedHasNotBegunAndDoesNotWait) {
  Dispatcher dispatcher(config, units(4), {});
  join(dispatcher, 1, 3);
  const auto leased = dispatcher.lease(1, 3, at(0ms));
  ASSERT_EQ(leased.size(), 3u);
  const UnitId not_leased = 0 + 1 + 2 + 3 - leased[0] - leased[1] - leased[2];
  dispatcher.started(1, leased[0], at(0ms));
  EXPECT_EQ(dispatcher.started_count(), 1u);
  EXPECT_EQ(dispatcher.waiting_count(), 2u);
  dispatcher.begin_recording(leased[0]);
  EXPECT_EQ(dispatcher.started_count(), 0u);
  EXPECT_EQ(dispatcher.waiting_count(), 2u);
  dispatcher.started(1, leased[0], at(0ms));
  EXPECT_EQ(dispatcher.started_count(), 0u) << "said again";
  dispatcher.begin_recording(leased[1]);
  EXPECT_EQ(dispatcher.started_count(), 0u) << "it was not said that it began";
  EXPECT_EQ(dispatcher.waiting_count(), 1u);
  for (const auto unit : {leased[0], leased[1]}) {
    dispatcher.settle(unit);
    dispatcher.release(1, unit);
  }
  EXPECT_EQ(dispatcher.leased_count(), 1u);
  EXPECT_EQ(dispatcher.started_count(), 0u);
  EXPECT_EQ(dispatcher.waiting_count(), 1u);
  // Nobody has the lease of what is recorded, or loses it with its worker.
  dispatcher.begin_recording(not_leased);
  dispatcher.begin_recording(leased[2]);
  EXPECT_EQ(dispatcher.waiting_count(), 0u);
  dispatcher.leave(1);
  dispatcher.settle(not_leased);
  dispatcher.settle(leased[2]);
  EXPECT_EQ(dispatcher.started_count(), 0u);
  EXPECT_EQ(dispatcher.waiting_count(), 0u);
}

TEST_F(DispatcherTest, AnEmptyPlanIsFinished) {
  const Dispatcher dispatcher(config, {}, {});
  EXPECT_TRUE(dispatcher.finished());
}

}  // namespace
}  // namespace sluice::dispatcher_test
