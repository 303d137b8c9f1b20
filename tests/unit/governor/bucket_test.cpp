#include "coordinator/governor/bucket.hpp"

#include "coordinator/governor/slot_rule.hpp"
#include "coordinator/governor/token_ledger.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::bucket_test {

using namespace std::chrono_literals;

constexpr BootTime start = std::chrono::hours(1);

// --- Bucket ---

// Found by the fuzzer of the coordinator: a number of microseconds that no clock holds.
TEST(Bucket, OneThatWillNotBeFullIsWaitedForOverYears) {
  Bucket bucket({1e-9, 10, 0}, start);
  bucket.take(4e12, start);
  EXPECT_GT(bucket.earliest(1, start), start + std::chrono::hours(24 * 365));
  EXPECT_LT(bucket.earliest(1, start), start + std::chrono::hours(24 * 365 * 20));
}

TEST(Bucket, HoldsItsCapacityAndFillsAtItsRate) {
  Bucket bucket({10, 2, 0}, start);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(bucket.earliest(1, start), start);
    bucket.take(1, start);
  }
  EXPECT_EQ(bucket.earliest(1, start), start + 100ms);
  EXPECT_EQ(bucket.earliest(2, start), start + 200ms);
  EXPECT_EQ(bucket.level(start + 10s), 2) << "no more than its capacity";
}

TEST(Bucket, AChargeAheadOfTheClockIsTheNewest) {
  Bucket bucket({10, 1, 0}, start);
  bucket.take(1, start + 50ms);
  EXPECT_EQ(bucket.earliest(1, start), start + 150ms);
}

TEST(Bucket, AChargeAboveTheCapacityWaitsUntilItIsFullAndLeavesItInDebt) {
  Bucket bucket({10, 2, 0}, start, 0);
  EXPECT_EQ(bucket.earliest(5, start), start + 200ms);
  bucket.take(5, start + 200ms);
  EXPECT_EQ(bucket.level(start + 200ms), -3);
  EXPECT_EQ(bucket.earliest(1, start), start + 600ms);
}

TEST(Bucket, WithoutCapacityASurchargeSpacesTheCharges) {
  Bucket bucket({10, 0, 0.5}, start);
  bucket.take(1, start);
  EXPECT_EQ(bucket.earliest(1, start), start + 150ms);
}

TEST(Bucket, AShapeThatSpacesItsChargesBeginsNoEarlier) {
  Bucket bucket({10, 1, 0}, start);
  bucket.take(1, start);
  ASSERT_EQ(bucket.earliest(1, start), start + 100ms);
  bucket.reshape({10, 0, 0.5}, start);
  EXPECT_EQ(bucket.earliest(1, start), start + 150ms) << "one unit and the surcharge after the last";
}

TEST(Bucket, ADelayIsWaitedForOnce) {
  Bucket bucket({10, 1, 0}, start);
  bucket.delay(30ms);
  EXPECT_GE(bucket.earliest(1, start), start + 30ms);
  EXPECT_LE(bucket.earliest(1, start), start + 30ms + BootTime(1)) << "rounded up";
}

TEST(Bucket, AnotherShapeGoesOnFromTheLevel) {
  Bucket bucket({10, 10, 0}, start);
  bucket.take(4, start);
  bucket.reshape({1, 100, 0}, start);
  EXPECT_EQ(bucket.level(start), 6);
  EXPECT_EQ(bucket.earliest(7, start), start + 1s);
  bucket.reshape({1, 2, 0}, start);
  EXPECT_EQ(bucket.level(start), 2) << "a smaller bucket overflows";
}

RC_GTEST_PROP(Bucket, ChargesOverAnyWindowStayWithinRateAndCapacity, ()) {
  const double rate = *rc::gen::inRange(1, 5000);
  const double capacity = *rc::gen::inRange(0, 100);
  const double surcharge = *rc::gen::inRange(0, 3);
  Bucket bucket({rate, capacity, surcharge}, start);
  std::vector<std::pair<BootTime, double>> taken;
  auto now = start;
  double greatest = 0;
  for (int i = 0; i < 60; ++i) {
    now += BootTime(*rc::gen::inRange(0, 30'000));
    const double charge = *rc::gen::inRange(1, 150);
    const auto at = bucket.earliest(charge, now);
    RC_ASSERT(at >= now);
    bucket.take(charge, at);
    taken.emplace_back(at, charge);
    greatest = std::max(greatest, charge);
  }
  for (std::size_t first = 0; first < taken.size(); ++first) {
    double sum = 0;
    for (std::size_t last = first; last < taken.size(); ++last) {
      sum += taken[last].second;
      const double window = static_cast<double>((taken[last].first - taken[first].first).count()) * 1e-6;
      RC_ASSERT(sum <= std::max(capacity, greatest) + rate * window + 1e-6);
    }
  }
}

// --- SlotRule ---

TEST(SlotRule, ABurstLeavesRoomForTheLifetimeTheWayAndOneCall) {
  ProviderLimits limits;
  limits.requests_per_minute = 6000;
  limits.burst_seconds = 0.1;
  const auto rule = slot_rule(limits);
  EXPECT_EQ(rule.lifetime, 59ms) << "(10 - 2) / 100 s less 20 ms and 1 ms";
  ASSERT_TRUE(rule.requests);
  EXPECT_DOUBLE_EQ(rule.requests->shape.rate, 99.9);
  EXPECT_NEAR(rule.requests->shape.capacity, 1, 1e-9);
  EXPECT_EQ(rule.requests->shape.surcharge, 0);
}

TEST(SlotRule, ALimitWithoutRoomIsSpaced) {
  ProviderLimits limits;
  limits.requests_per_minute = 60;
  limits.burst_seconds = 1;
  const auto rule = slot_rule(limits);
  EXPECT_EQ(rule.lifetime, 50ms);
  ASSERT_TRUE(rule.requests);
  Bucket bucket(rule.requests->shape, start);
  bucket.take(1, start);
  const auto next = bucket.earliest(1, start) - start;
  EXPECT_GE(next, 1071ms) << "1 / rate + lifetime + jitter + clock error";
  EXPECT_LE(next, 1073ms);
}

TEST(SlotRule, SpacedSlotsLiveForATwentiethOfTheirDistance) {
  const auto lifetime = [](std::uint64_t requests_per_minute) {
    ProviderLimits limits;
    limits.requests_per_minute = requests_per_minute;
    limits.burst_seconds = 0.01;
    return slot_rule(limits).lifetime;
  };
  EXPECT_EQ(lifetime(1), 100ms);
  EXPECT_EQ(lifetime(120), 25ms);
  EXPECT_EQ(lifetime(6000), 5ms);
}

TEST(SlotRule, ABurstThatNobodyNamedIsATenthOfASecondForLateCallsAlone) {
  ProviderLimits limits;
  limits.requests_per_minute = 6000;
  const auto rule = slot_rule(limits);
  EXPECT_NEAR(rule.burst, 10, 1e-9);
  EXPECT_EQ(rule.lifetime, 10ms);
  EXPECT_EQ(rule.requests->shape.capacity, 0) << "none of it is taken at once";
  EXPECT_EQ(rule.requests->shape.surcharge, 0) << "and it costs nothing of the rate";
  limits.requests_per_minute = 120;
  EXPECT_EQ(slot_rule(limits).burst, 1) << "at least one call";
}

// At 3 a minute a machine that was busy for 10 ms missed half of the permits, and 20 s with each.
TEST(SlotRule, SpacedSlotsOfABurstThatNobodyNamedLiveForAPartOfTheirDistance) {
  const auto lifetime = [](std::uint64_t requests_per_minute) {
    ProviderLimits limits;
    limits.requests_per_minute = requests_per_minute;
    return slot_rule(limits).lifetime;
  };
  EXPECT_EQ(lifetime(3), 100ms);
  EXPECT_EQ(lifetime(60), 20ms);
  EXPECT_EQ(lifetime(120), 10ms);
  EXPECT_EQ(lifetime(600), 5ms);
}

TEST(SlotRule, OnlyWhatATightBurstDoesNotCoverIsPaidFor) {
  const auto used = [](double rate, double burst, BootTime variation) {
    ProviderLimits limits;
    limits.requests_per_minute = static_cast<std::uint64_t>(rate * 60 + 0.5);
    limits.burst_seconds = burst / rate;
    SlotConditions conditions;
    conditions.variation = variation;
    const auto shape = slot_rule(limits, conditions).requests->shape;
    return shape.rate / (1 + shape.surcharge) / rate;
  };
  EXPECT_GE(used(8.33, 1, 3ms), 0.91);
  EXPECT_GE(used(8.33, 2, 20ms), 0.998);
  EXPECT_GE(used(20, 2, 20ms), 0.998);
  EXPECT_GE(used(100, 5, 20ms), 0.998);
  EXPECT_GE(used(100, 2, 3ms), 0.998);
  EXPECT_NEAR(used(100, 2, 20ms), 1 / (1 + 0.8), 0.01) << "26 ms less one distance, shared by two";
  EXPECT_NEAR(used(500, 5, 20ms), 1 / (1 + 1.8), 0.01) << "26 ms less four distances, shared by five";
}

TEST(SlotRule, AReserveIsKeptWhereTheBurstHasItToSpare) {
  const auto has_reserve = [](double burst_seconds) {
    ProviderLimits limits;
    limits.requests_per_minute = 6000;
    limits.burst_seconds = burst_seconds;
    return slot_rule(limits).has_reserve;
  };
  EXPECT_TRUE(has_reserve(0.1));
  EXPECT_TRUE(has_reserve(0.047)) << "(4.7 - 2) / 100 s are 27 ms";
  EXPECT_FALSE(has_reserve(0.045));
  EXPECT_FALSE(has_reserve(0.02));
}

TEST(SlotRule, ABurstThatWasLearntBoundsTheOneThatIsSet) {
  ProviderLimits limits;
  limits.requests_per_minute = 6000;
  limits.burst_seconds = 0.1;
  SlotConditions conditions;
  conditions.burst = 5;
  EXPECT_EQ(slot_rule(limits, conditions).burst, 5);
  conditions.burst = 50;
  EXPECT_NEAR(slot_rule(limits, conditions).burst, 10, 1e-9);
}

TEST(SlotRule, ACallMayHaveAMinutesTokensOrWhatANamedBurstHolds) {
  ProviderLimits limits;
  limits.tokens_per_minute = 60'000;
  EXPECT_EQ(slot_rule(limits).tokens->ceiling, 60'000u);
  limits.burst_seconds = 10;
  EXPECT_EQ(slot_rule(limits).tokens->ceiling, 9879u) << "10 s of 1,000 less the margin";
  limits.burst_seconds = 0.02;
  EXPECT_EQ(slot_rule(limits).tokens->ceiling, 20u) << "spaced: the whole burst";
}

TEST(SlotRule, APermitsLifetimeTakesLittleOfTheTokens) {
  ProviderLimits limits;
  limits.tokens_per_minute = 600'000;
  const auto lifetime = [&](std::optional<double> burst_seconds) {
    limits.burst_seconds = burst_seconds;
    return slot_rule(limits).lifetime;
  };
  EXPECT_EQ(lifetime(60.0), 100ms);
  EXPECT_EQ(lifetime(1.0), 50ms);
  EXPECT_EQ(lifetime(std::nullopt), 50ms) << "a second's";
  EXPECT_EQ(lifetime(0.15), 10ms) << "a twentieth is little to start in";
  EXPECT_EQ(lifetime(0.02), 5ms);
}

TEST(SlotRule, ArrivalsKeepToTheLimitWhereverInItsWindowACallStarts) {
  for (const std::uint64_t per_minute : {1u, 59u, 60u, 121u, 600u, 6000u, 60'000u, 600'000u}) {
    for (const double burst_seconds : {0.001, 0.02, 0.1, 0.5, 1.0, 60.0}) {
      ProviderLimits limits;
      limits.requests_per_minute = per_minute;
      limits.burst_seconds = burst_seconds;
      const auto rule = slot_rule(limits);
      const double rate = static_cast<double>(per_minute) / 60;
      const double burst = std::max(1.0, rate * burst_seconds);
      Bucket slots(rule.requests->shape, start);
      // The worst: an early slot's call arrives at the latest, all later ones at once.
      const auto latest = rule.lifetime + 20ms;
      std::vector<BootTime> opens;
      for (int i = 0; i < 300; ++i) {
        opens.push_back(slots.earliest(1, start));
        slots.take(1, opens.back());
      }
      for (std::size_t first = 0; first < opens.size(); first += 7) {
        const auto from = opens[first] + latest;
        for (std::size_t last = first; last < opens.size(); ++last) {
          const auto window = std::max(BootTime(0), opens[last] - from);
          const double allowed = burst + rate * static_cast<double>(window.count()) * 1e-6;
          ASSERT_LE(static_cast<double>(last - first + 1), allowed + 1e-6)
              << per_minute << " a minute, burst of " << burst_seconds << " s, slots " << first << " to "
              << last;
        }
      }
    }
  }
}

// --- TokenLedger ---

TEST(TokenLedger, WhatIsSettledIsReplayed) {
  TokenLedger ledger({100, 1000, 0}, start);
  ledger.reserve(1, 900, start);
  EXPECT_EQ(ledger.earliest(500, start), start + 4s);
  ledger.settle(1, 100);
  EXPECT_EQ(ledger.earliest(500, start), start);
  EXPECT_EQ(ledger.level(start), 900);
}

TEST(TokenLedger, AnOverflowMeanwhileIsNotGivenBack) {
  TokenLedger ledger({100, 1000, 0}, start);
  ledger.reserve(1, 500, start);
  ledger.reserve(2, 1000, start + 10s);
  EXPECT_EQ(ledger.level(start + 10s), 0);
  ledger.settle(1, 0);
  EXPECT_EQ(ledger.level(start + 10s), 0) << "the bucket was full by then with or without it";
}

TEST(TokenLedger, MoreThanReservedLeavesADebt) {
  TokenLedger ledger({100, 1000, 0}, start);
  ledger.reserve(1, 100, start);
  ledger.settle(1, 1500);
  EXPECT_EQ(ledger.level(start), -500);
}

TEST(TokenLedger, SettlesEachChargeOnceAndForgetsWhatIsFolded) {
  TokenLedger ledger({100, 1000, 0}, start);
  for (std::uint64_t id = 1; id <= 4; ++id) ledger.reserve(id, 100, start);
  ledger.settle(2, 0);
  ledger.settle(2, 50);
  EXPECT_EQ(ledger.level(start), 700);
  EXPECT_EQ(ledger.retained(), 4u);
  ledger.settle(1, 100);
  EXPECT_EQ(ledger.level(start), 700);
  EXPECT_EQ(ledger.retained(), 2u);
  ledger.settle(77, 0);
  ledger.give_up(start + 1us);
  EXPECT_EQ(ledger.level(start), 700) << "as reserved";
  EXPECT_EQ(ledger.retained(), 0u);
}

// The margin for the way changes while calls are under way: what they had reserved was lost.
TEST(TokenLedger, AnotherMarginLeavesOpenChargesToBeSettled) {
  TokenLedger ledger({100, 1000, 0}, start);
  ledger.reserve(1, 600, start);
  ledger.reshape({100, 1010, 0}, start);
  EXPECT_LE(ledger.level(start), 400) << "room that is new is not had at once";
  ledger.settle(1, 100);
  EXPECT_LE(ledger.level(start), 900);
  EXPECT_GE(ledger.level(start), 880);
  ledger.reserve(2, 500, start);
  ledger.reshape({100, 900, 0}, start);
  EXPECT_LE(ledger.level(start), 400);
  ledger.settle(2, 0);
  EXPECT_LE(ledger.level(start), 900);
  EXPECT_GE(ledger.level(start), 780);
}

RC_GTEST_PROP(TokenLedger, AnyOrderOfSettlingComesToWhatWasUsed, ()) {
  TokenLedger ledger({50, 300, 0}, start);
  Bucket truth({50, 300, 0}, start);
  struct Use {
    std::uint64_t id = 0;
    BootTime at{};
    double used = 0;
  };
  std::vector<Use> open;
  std::vector<Use> all;
  auto now = start;
  const int steps = *rc::gen::inRange(1, 80);
  for (int i = 0; i < steps; ++i) {
    now += BootTime(*rc::gen::inRange(0, 4'000'000));
    const double reserved = *rc::gen::inRange(1, 300);
    const auto at = ledger.earliest(reserved, now);
    const auto id = static_cast<std::uint64_t>(i) + 1;
    ledger.reserve(id, reserved, at);
    now = std::max(now, at);
    all.push_back({id, at, static_cast<double>(*rc::gen::inRange(0, static_cast<int>(reserved) + 1))});
    open.push_back(all.back());
    if (*rc::gen::inRange(0, 3) > 0) continue;
    const auto which = static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(open.size())));
    ledger.settle(open[which].id, open[which].used);
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
  }
  for (const auto& one : open) ledger.settle(one.id, one.used);
  for (const auto& one : all) truth.take(one.used, one.at);
  RC_ASSERT(std::abs(ledger.level(now) - truth.level(now)) < 1e-6);
  RC_ASSERT(truth.level(now) >= -1e-6);
  RC_ASSERT(ledger.retained() == 0u);
}

}  // namespace sluice::bucket_test
