#include "worker/budget/clock_bounds.hpp"

#include "common/clock_distance.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice {
namespace clock_bounds_test {

using namespace std::chrono_literals;

TEST(ClockBounds, KnowsNothingBeforeAnEchoCame) {
  ClockBounds clock;
  EXPECT_FALSE(clock.at(1s));
  clock.on_grants(50s, std::nullopt, 1s);
  EXPECT_FALSE(clock.at(1s)) << "the message may have been on its way for any time";
  EXPECT_FALSE(clock.own_times_within({40s, 60s}));
  clock.on_grants(51s, 1990ms, 2s);
  EXPECT_TRUE(clock.at(2s));
}

TEST(ClockBounds, AreAsWideAsTheWayThereAndBack) {
  ClockBounds clock;
  clock.on_grants(50s, 1s, 1s + 10ms);
  EXPECT_EQ(clock.at(1s + 10ms), (TimeSpan{50s, 50s + 10ms + 2us})) << "with 200 ppm of 10 ms";
  const auto later = clock.at(11s + 10ms);
  ASSERT_TRUE(later);
  EXPECT_EQ(later->from, 60s - 2ms);
  EXPECT_EQ(later->to, 60s + 10ms + 2002us);
}

TEST(ClockBounds, TheBestOfEachEndIsKept) {
  ClockBounds clock;
  clock.on_grants(50s, 1s, 1s + 1ms);
  clock.on_grants(50s + 100ms, 1s, 1s + 101ms) /* An old echo: the upper end stays. */;
  const auto bounds = clock.at(1s + 101ms);
  ASSERT_TRUE(bounds);
  EXPECT_EQ(bounds->from, 50s + 100ms);
  EXPECT_LE(bounds->to, 50s + 101ms + 22us);
}

TEST(ClockBounds, WhatContradictsEverythingReplacesIt) {
  ClockBounds clock;
  clock.on_grants(50s, 1s, 1s + 1ms);
  clock.on_grants(90s, 2s, 2s + 1ms);
  EXPECT_EQ(clock.at(2s + 1ms), (TimeSpan{90s, 90s + 1ms + 1us}));
}

TEST(ClockBounds, AnEchoFromTheFutureIsNone) {
  ClockBounds clock;
  clock.on_grants(50s, 3s, 2s);
  EXPECT_FALSE(clock.at(2s));
}

TEST(ClockBounds, NoTimeIsWithinAWindowThatIsNarrowerThanTheBounds) {
  ClockBounds clock;
  clock.on_grants(50s, 1s, 1s + 100ms);
  const auto times = clock.own_times_within({60s, 60s + 50ms});
  ASSERT_TRUE(times);
  EXPECT_GT(times->from, times->to);
  const auto past = clock.own_times_within({40s, 41s});
  ASSERT_TRUE(past);
  EXPECT_GT(past->from, past->to);
}

/// A window that opens 10 s after the coordinator's 50 s, and a worker with a round trip of 300 ms.
class FarClock : public ::testing::Test {
 protected:
  /// GRANTS, half of the round trip after they were sent.
  void exchange(BootTime round_trip) {
    now += 100ms;
    clock.on_grants(50s + now - round_trip / 2, now - round_trip, now);
  }
  BootTime usable(BootTime window) const {
    const auto times = clock.own_times_within({60s, 60s + window});
    return times->to - times->from;
  }
  ClockBounds clock;
  BootTime now = 1s;
};

TEST_F(FarClock, OfALongRoundTripMostIsLeftOutOnceEnoughWereMeasured) {
  for (int i = 0; i < 7; ++i) exchange(300ms);
  EXPECT_LT(usable(250ms), 0s) << "it may be anywhere in 300 ms";
  exchange(300ms);
  EXPECT_NEAR(usable(58ms).count(), BootTime(10ms).count(), 6000)
      << "48 ms of it count: 20, and a tenth of 280";
  const auto times = clock.own_times_within({60s, 60s + 58ms});
  EXPECT_GE(times->from, 10s + 20ms) << "the middle, where the ways are alike";
}

TEST_F(FarClock, AClearlyShorterWayBeginsAnew) {
  for (int i = 0; i < 8; ++i) exchange(300ms);
  EXPECT_GT(usable(60ms), 0s);
  exchange(200ms);
  EXPECT_LT(usable(60ms), 0s) << "the others were in a queue";
  for (int i = 0; i < 7; ++i) exchange(200ms);
  EXPECT_GT(usable(60ms), 0s);
}

TEST_F(FarClock, WhatAStalledLinkLetsThroughAtOnceMeasuresTheWayOnce) {
  now = 3s;
  for (int i = 0; i < 20; ++i) {
    const auto sent = 1s + i * 10ms;
    clock.on_grants(50s + sent + 150ms, sent, now += 100us);
  }
  EXPECT_LT(usable(500ms), 0s) << "it may be anywhere in 1.8 s";
}

TEST_F(FarClock, NearbyTheProofIsKept) {
  for (int i = 0; i < 20; ++i) exchange(48ms);
  EXPECT_LT(usable(45ms), 0s);
}

TEST(ClockBounds, NumbersOfTheWireCannotOverflow) {
  ClockBounds clock;
  clock.on_grants(boot_time(~std::uint64_t{0}), 1s, 2s);
  EXPECT_TRUE(clock.own_times_within({boot_time(0), boot_time(~std::uint64_t{0})}));
  clock.on_grants(1s, 2s, 2s + 1ms);
  const auto times = clock.own_times_within({boot_time(0), boot_time(~std::uint64_t{0})});
  ASSERT_TRUE(times);
  EXPECT_LE(times->from, 3s);
  EXPECT_GE(times->to, 1h);
}

/// Two machines whose clocks differ by an offset and a rate; the coordinator's is exact in this world.
struct World {
  std::int64_t offset_us = 0;
  std::int64_t ppm = 0;  ///< By which the worker's clock is fast; within half of what is allowed for two.

  BootTime own(BootTime coordinator) const {
    return BootTime(offset_us + coordinator.count() + coordinator.count() * ppm / 1'000'000);
  }
};

RC_GTEST_PROP(ClockBoundsProperty, HoldTheTrueTimeWhateverTheDelays, ()) {
  const World world{*rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000),
                    *rc::gen::inRange<std::int64_t>(-190, 191)};
  ClockBounds clock;
  BootTime received{0};
  BootTime now(1'000'000);
  const auto steps = *rc::gen::inRange(1, 40);
  bool echoed = false;
  for (int step = 0; step < steps; ++step) {
    now += BootTime(*rc::gen::inRange<std::int64_t>(0, 3'000'000));
    const auto echoed_at = now - BootTime(*rc::gen::inRange<std::int64_t>(0, 900'000));
    const auto sent = echoed_at + BootTime(*rc::gen::inRange<std::int64_t>(0, (now - echoed_at).count() + 1));
    const bool with_echo = *rc::gen::arbitrary<bool>();
    clock.on_grants(sent, with_echo ? std::optional(world.own(echoed_at)) : std::nullopt, world.own(now));
    echoed = echoed || with_echo;
    received = now;
    const auto bounds = clock.at(world.own(now));
    RC_ASSERT(bounds.has_value() == echoed);
    if (!bounds) continue;
    RC_ASSERT(bounds->from <= now + BootTime(1));  // The world's own rounding.
    RC_ASSERT(now <= bounds->to + BootTime(1));
    const TimeSpan window{now + BootTime(*rc::gen::inRange<std::int64_t>(-500'000, 500'000)),
                          now + BootTime(*rc::gen::inRange<std::int64_t>(0, 1'000'000))};
    const auto times = clock.own_times_within(window);
    RC_ASSERT(times.has_value());
    if (times->from > times->to || times->to < world.own(now)) continue;
    for (const auto own : {std::max(times->from, world.own(now)), times->to}) {
      const auto at = clock.at(own);
      // Of a long round trip a part is left out.
      const auto out = (at->to - at->from - clock_uncertainty(at->to - at->from)) / 2;
      RC_ASSERT(at->from + out >= window.from);
      RC_ASSERT(at->to - out <= window.to);
    }
  }
}

}  // namespace clock_bounds_test
}  // namespace sluice
