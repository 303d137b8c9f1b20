#include "worker/held_units.hpp"

#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice {
namespace held_units_test {

std::uint64_t lease_of(UnitId id) {
  return 1000 + id;
}

WorkUnit unit(UnitId id) {
  WorkUnit work;
  work.unit = id;
  work.lease = lease_of(id);
  return work;
}

using Held = std::vector<wire::HeldUnit>;

UnitResult result(UnitId id) {
  UnitResult done;
  done.unit = id;
  return done;
}

/// Whether its result was held until now.
bool acknowledge(HeldUnits& held, UnitId id) {
  const bool was_held = held.unacknowledged(id) != nullptr;
  held.acknowledge({.unit = id});
  return was_held && held.unacknowledged(id) == nullptr;
}

TEST(HeldUnits, AUnitGoesFromWaitingToRunningToUnacknowledged) {
  HeldUnits held;
  const auto shared = held.add(unit(3));
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->unit, 3u);
  held.add(unit(1));
  EXPECT_EQ(held.waiting(), 2u);
  EXPECT_TRUE(held.begin(3));
  EXPECT_FALSE(held.begin(3));
  EXPECT_EQ(held.running_units(), std::vector<UnitId>{3});
  EXPECT_TRUE(held.finish(result(3)));
  EXPECT_EQ(held.running(), 0u);
  EXPECT_EQ(held.all(), (Held{{1, lease_of(1)}, {3, lease_of(3)}}));
  ASSERT_EQ(held.unacknowledged().size(), 1u);
  EXPECT_EQ(held.unacknowledged()[0].lease, lease_of(3));
  EXPECT_TRUE(acknowledge(held, 3));
  EXPECT_FALSE(acknowledge(held, 3));
  EXPECT_EQ(held.all(), (Held{{1, lease_of(1)}}));
}

TEST(HeldUnits, WhatIsHeldIsNotTakenTwice) {
  HeldUnits held;
  EXPECT_TRUE(held.add(unit(1)));
  EXPECT_FALSE(held.add(unit(1)));
  EXPECT_EQ(held.waiting(), 1u);
  held.begin(1);
  EXPECT_FALSE(held.add(unit(1)));
  EXPECT_EQ(held.waiting(), 0u);
  held.finish(result(1));
  held.add(unit(1));
  EXPECT_EQ(held.waiting(), 0u);
  acknowledge(held, 1);
  held.add(unit(1));
  EXPECT_EQ(held.waiting(), 1u) << "a new lease of what was dropped";
}

TEST(HeldUnits, OnlyWhatIsHeldCanFinish) {
  HeldUnits held;
  EXPECT_FALSE(held.begin(1));
  EXPECT_FALSE(held.finish(result(1)));
  held.add(unit(1));
  EXPECT_FALSE(acknowledge(held, 1)) << "it still waits";
  EXPECT_TRUE(held.finish(result(1))) << "one that is done at once is not reported as begun";
  EXPECT_FALSE(held.finish(result(1))) << "it has its result";
}

RC_GTEST_PROP(HeldUnits, AUnitIsInOnePlaceAtMost, ()) {
  enum class Place { none, waiting, running, unacknowledged };
  std::map<UnitId, Place> model;
  HeldUnits held;
  const auto steps = *rc::gen::container<std::vector<std::pair<int, UnitId>>>(
      rc::gen::pair(rc::gen::inRange(0, 4), rc::gen::inRange<UnitId>(0, 6)));
  for (const auto& [step, id] : steps) {
    auto& place = model[id];
    if (step == 0) {
      held.add(unit(id));
      if (place == Place::none) place = Place::waiting;
    } else if (step == 1) {
      RC_ASSERT(held.begin(id) == (place == Place::waiting));
      if (place == Place::waiting) place = Place::running;
    } else if (step == 2) {
      const bool works = place == Place::running || place == Place::waiting;
      RC_ASSERT(held.finish(result(id)) == works);
      if (works) place = Place::unacknowledged;
    } else {
      RC_ASSERT(acknowledge(held, id) == (place == Place::unacknowledged));
      if (place == Place::unacknowledged) place = Place::none;
    }
    Held all;
    std::vector<UnitId> running;
    std::size_t waiting = 0;
    std::size_t unacknowledged = 0;
    for (const auto& [known, where] : model) {
      if (where != Place::none) all.push_back({known, lease_of(known)});
      if (where == Place::running) running.push_back(known);
      if (where == Place::waiting) ++waiting;
      if (where == Place::unacknowledged) ++unacknowledged;
    }
    RC_ASSERT(held.all() == all);
    RC_ASSERT(held.running_units() == running);
    RC_ASSERT(held.waiting() == waiting);
    RC_ASSERT(held.unacknowledged().size() == unacknowledged);
  }
}

TEST(HeldUnits, WhatIsGivenBackIsHeldNoMore) {
  HeldUnits held;
  for (UnitId id = 0; id < 3; ++id) {
    WorkUnit unit;
    unit.unit = id;
    ASSERT_TRUE(held.add(std::move(unit)));
  }
  held.begin(1);
  UnitResult result;
  result.unit = 2;
  held.finish(result);
  EXPECT_TRUE(held.give_back(0));
  EXPECT_TRUE(held.give_back(1)) << "its call had not begun, or failed";
  EXPECT_FALSE(held.give_back(2)) << "a result is not given back";
  EXPECT_FALSE(held.give_back(0));
  EXPECT_TRUE(held.holds(2));
  EXPECT_FALSE(held.empty());
  acknowledge(held, 2);
  EXPECT_TRUE(held.empty());
}

}  // namespace held_units_test
}  // namespace sluice
