#include "coordinator/governor/places.hpp"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::places_test {

using namespace std::chrono_literals;

constexpr BootTime start = std::chrono::hours(1);

TEST(Places, AreSplitByWhatIsWanted) {
  Places places(Places::Bound::fixed);
  for (WorkerId worker = 1; worker <= 3; ++worker) places.join(worker, 100, start);
  places.on_demand(1, 2, 0, {});
  places.on_demand(2, 50, 0, {});
  places.on_demand(3, 50, 0, {});
  places.allot(20, start);
  EXPECT_EQ(places.of(1), 2u);
  EXPECT_EQ(places.of(2), 9u);
  EXPECT_EQ(places.of(3), 9u);
}

TEST(Places, NobodyGetsMoreThanItsMost) {
  Places places(Places::Bound::fixed);
  places.join(1, 5, start);
  places.join(2, 100, start);
  places.on_demand(1, 50, 0, {});
  places.on_demand(2, 50, 0, {});
  places.allot(40, start);
  EXPECT_EQ(places.of(1), 5u);
  EXPECT_EQ(places.of(2), 35u);
}

TEST(Places, WhoWantsNoneOfAFixedNumberHasNone) {
  Places places(Places::Bound::fixed);
  places.join(1, 100, start);
  places.join(2, 100, start);
  places.on_demand(1, 3, 0, {});
  places.allot(10, start);
  EXPECT_EQ(places.of(1), 10u) << "what nobody else wants, so that it need not ask again";
  EXPECT_EQ(places.of(2), 0u);
  places.on_demand(1, 0, 0, {});
  places.allot(10, start + 1s);
  EXPECT_EQ(places.of(1), 0u);
  places.leave(2, start + 60s);
  EXPECT_EQ(places.taken(start + 1s), 10u) << "worker 1 has not taken it in yet; worker 2 had none";
}

TEST(Places, OfASearchedNumberAreMovedAtOnceAndLostWithNobody) {
  Places places(Places::Bound::searched);
  places.join(1, 100, start);
  places.join(2, 100, start);
  places.allot(10, start);
  EXPECT_EQ(places.of(1), 5u) << "before anybody asks";
  places.on_demand(1, 10, 5, {});
  places.allot(10, start + 1s);
  EXPECT_EQ(places.of(1), 10u);
  places.leave(1, start + 60s);
  places.on_demand(2, 10, 0, {});
  places.allot(10, start + 2s);
  EXPECT_EQ(places.of(2), 10u);
}

TEST(Places, APlaceMovesOnlyWhenItsHolderHasTakenInThatItIsGone) {
  Places places(Places::Bound::fixed);
  places.join(1, 100, start);
  places.on_demand(1, 10, 10, {});
  places.allot(10, start);
  EXPECT_EQ(places.of(1), 10u);
  places.join(2, 100, start);
  places.on_demand(2, 10, 0, {});
  places.allot(10, start + 1s);
  EXPECT_EQ(places.of(1), 5u);
  EXPECT_EQ(places.of(2), 0u) << "worker 1 may still start ten calls";
  places.on_demand(1, 10, 8, start + 1s);
  places.allot(10, start + 2s);
  EXPECT_EQ(places.of(2), 2u) << "it knows, and has eight calls under way";
  places.on_demand(1, 10, 5, start + 1s);
  places.allot(10, start + 3s);
  EXPECT_EQ(places.of(2), 5u);
}

TEST(Places, ThoseOfALostWorkerStayTakenUntilItsCallsMustHaveEnded) {
  Places places(Places::Bound::fixed);
  places.join(1, 100, start);
  places.on_demand(1, 10, 7, {});
  places.allot(10, start);
  places.leave(1, start + 60s);
  places.join(2, 100, start);
  places.on_demand(2, 10, 0, {});
  places.allot(10, start + 1s);
  EXPECT_EQ(places.of(2), 0u);
  EXPECT_EQ(places.next_change(start + 1s), start + 60s);
  places.allot(10, start + 60s);
  EXPECT_EQ(places.of(2), 10u);
}

TEST(Places, AWorkerThatComesBackTakesItsPlacesOver) {
  Places places(Places::Bound::fixed);
  places.join(1, 100, start);
  places.on_demand(1, 10, 7, {});
  places.allot(10, start);
  places.leave(1, start + 60s);
  places.join(1, 100, start + 1s);
  places.allot(10, start + 1s);
  EXPECT_EQ(places.of(1), 0u) << "how many are under way is not known yet";
  places.on_demand(1, 10, 3, start);
  places.allot(10, start + 1s);
  EXPECT_EQ(places.of(1), 0u) << "it goes by its old places yet";
  places.on_demand(1, 10, 3, start + 1s);
  places.allot(10, start + 2s);
  EXPECT_EQ(places.of(1), 10u);
}

TEST(Places, FewerPlacesThanWorkersGoRound) {
  Places places(Places::Bound::fixed);
  for (WorkerId worker = 1; worker <= 5; ++worker) places.join(worker, 10, start);
  std::map<WorkerId, int> turns;
  auto now = start;
  for (int second = 0; second < 20; ++second) {
    for (WorkerId worker = 1; worker <= 5; ++worker) places.on_demand(worker, 4, 0, now);
    now += 500ms;
    places.allot(2, now);
    for (WorkerId worker = 1; worker <= 5; ++worker) places.on_demand(worker, 4, places.of(worker), now);
    now += 500ms;
    places.allot(2, now);
    for (WorkerId worker = 1; worker <= 5; ++worker) turns[worker] += places.of(worker) > 0 ? 1 : 0;
  }
  for (const auto& [worker, count] : turns) EXPECT_GE(count, 4) << worker;
}

/// Workers that take in what they are sent after any delay, and start and end calls within it.
RC_GTEST_PROP(Places, NeverMoreCallsInFlightThanPlaces, ()) {
  struct Worker {
    bool there = false;
    std::uint32_t in_flight = 0;
    std::uint32_t places = 0;
    BootTime newest_grants{};
    std::vector<std::pair<BootTime, std::uint32_t>> on_the_way;
    BootTime calls_end{};
  };
  const auto total = static_cast<std::uint32_t>(*rc::gen::inRange(1, 20));
  constexpr auto call_time = 10s;
  Places places(Places::Bound::fixed);
  std::map<WorkerId, Worker> workers;
  std::vector<std::pair<BootTime, std::uint32_t>> ghosts;
  auto now = start;
  for (int step = 0; step < 200; ++step) {
    now += BootTime(*rc::gen::inRange(1, 400'000));
    const WorkerId id = static_cast<WorkerId>(*rc::gen::inRange(1, 6));
    auto& worker = workers[id];
    switch (*rc::gen::inRange(0, 12)) {
      case 0:
        if (worker.there) {
          places.leave(id, now + call_time);
          ghosts.emplace_back(now + call_time, worker.in_flight);
          worker = {};
        }
        break;
      case 1:
      case 2:
        if (!worker.there) {
          places.join(id, static_cast<std::uint32_t>(*rc::gen::inRange(1, 12)), now);
          worker = {};
          worker.there = true;
        }
        break;
      case 3:
      case 4:
        if (!worker.on_the_way.empty()) {
          worker.newest_grants = worker.on_the_way.front().first;
          worker.places = worker.on_the_way.front().second;
          worker.on_the_way.erase(worker.on_the_way.begin());
        }
        break;
      case 5:
      case 6:
      case 7:
        if (worker.there && worker.in_flight < worker.places) ++worker.in_flight;
        break;
      case 8:
        if (worker.in_flight > 0) --worker.in_flight;
        break;
      default:
        if (worker.there) {
          places.on_demand(id, worker.in_flight + static_cast<std::uint64_t>(*rc::gen::inRange(0, 9)),
                           worker.in_flight, worker.newest_grants);
        }
    }
    places.allot(total, now);
    std::uint64_t in_flight = 0;
    std::uint64_t given = 0;
    for (auto& [one, state] : workers) {
      if (state.there) state.on_the_way.emplace_back(now, places.of(one));
      in_flight += state.in_flight;
      given += places.of(one);
    }
    for (const auto& [until, count] : ghosts) in_flight += until > now ? count : 0;
    RC_ASSERT(in_flight <= total);
    RC_ASSERT(given <= total);
    RC_ASSERT(places.taken(now) <= total);
  }
}

}  // namespace sluice::places_test
