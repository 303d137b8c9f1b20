// A search for a rate where refusals name delays.
#include "tests/unit/governor/search_steps.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

namespace sluice::rate_search_test {

/// A provider's bucket that refuses with a delay, and a fleet that waits for it.
struct Paused {
  double accepted = 0;
  double refused = 0;
  double found = 0;  ///< What the search takes the rate for in the end.
};

/// Calls of a fleet with `in_flight` at a time and 100 ms each, for two minutes at a bucket of `rate` and
/// `burst` whose refusals name `delay`. The calls of the last half are counted.
Paused run_with_pauses(double rate, double burst, BootTime delay, std::size_t in_flight,
                       std::optional<double> ceiling = std::nullopt) {
  constexpr BootTime step = 10ms;
  RateSearch search;
  Paused paused;
  double level = burst;
  double owed = 0;
  auto now = start;
  auto paused_until = start;
  std::deque<std::pair<BootTime, bool>> calls;  // When each ends, and whether it is answered.
  for (BootTime gone{}; gone < 2min; gone += step) {
    now += step;
    level = std::min(burst, level + rate * 0.01);
    const auto allowed = search.rate() ? search.rate() : ceiling;
    owed = allowed ? std::min(owed + *allowed * 0.01, 2.0) : 100;
    std::uint32_t started = 0;
    std::uint32_t refused = 0;
    while (!calls.empty() && calls.front().first <= now) {
      const bool answered = calls.front().second;
      if (!answered) ++refused;
      if (gone > 1min) (answered ? paused.accepted : paused.refused) += 1;
      calls.pop_front();
    }
    for (; now >= paused_until && owed >= 1 && calls.size() < in_flight; owed -= 1, ++started) {
      const bool answered = level >= 1;
      if (answered) level -= 1;
      calls.emplace_back(now + 100ms, answered);
    }
    search.on_demand(now);
    search.on_outcomes(started, 0, 0, now);
    // Workers report each by itself.
    for (; refused > 0; --refused) {
      paused_until = now + delay;
      search.on_paused(0, 1, 0, delay, false, {now, now}, now);
    }
    search.grow(now >= paused_until, ceiling, now);
  }
  paused.found = search.accepted().value_or(0);
  return paused;
}

TEST(RateSearchDelays, NamedDelaysBelongToTheTimeInWhichTheProviderTookItsCalls) {
  for (const double rate : {2.0, 4.0, 20.0}) {
    for (const BootTime delay : {BootTime(1s), BootTime(6s), BootTime(20s)}) {
      SCOPED_TRACE(::testing::Message() << rate << " calls a second, " << delay.count() / 1'000'000 << " s");
      const auto run = run_with_pauses(rate, rate, delay, 5);
      EXPECT_LE(run.refused, 0.1 * run.accepted);
      EXPECT_GE(run.accepted / 60, (delay == 1s ? 0.7 : 0.35) * rate) << "each refusal costs the delay";
      EXPECT_GE(run.found, 0.3 * rate);
      EXPECT_LE(run.found, 1.3 * rate);
    }
  }
}

TEST(RateSearchDelays, ALimitThatIsSetTooHighIsFoundToBeSo) {
  const auto run = run_with_pauses(2, 2, 1s, 5, 10);
  EXPECT_LE(run.refused, 0.1 * run.accepted);
  EXPECT_GE(run.accepted / 60, 1.4);
  EXPECT_GE(run.found, 1);
  EXPECT_LE(run.found, 2.6);
}

// Forty calls, a second's pause for each wave, and nothing but refusals: it came to one call a second.
TEST(RateSearchDelays, AProviderThatHasAnsweredNothingIsClosedAndSaysNothingOfARate) {
  RateSearch search;
  BootTime now = std::chrono::hours(1);
  search.on_demand(now);
  for (int wave = 0; wave < 5; ++wave) {
    search.on_paused(40, 10, 0, std::chrono::seconds(1), false, {now, now + std::chrono::milliseconds(20)},
                     now + std::chrono::milliseconds(20));
    search.on_paused(0, 30, 0, std::chrono::seconds(1), true, {now, now + std::chrono::milliseconds(40)},
                     now + std::chrono::milliseconds(40));
    EXPECT_EQ(search.rate(), std::nullopt) << wave;
    now += std::chrono::milliseconds(1100);
    search.grow(true, std::nullopt, now);
  }
}

// A pace of a hundred a second was down to one after seven such seconds, and took minutes to come back.
TEST(RateSearchDelays, AProviderThatTakesNoCallsForAWhileSaysNothingOfItsRate) {
  RateSearch search;
  BootTime now = std::chrono::hours(1);
  search.begin_with(100, 10, now);
  search.on_demand(now);
  for (int wave = 0; wave < 12; ++wave) {
    const BootTime pause = 1s;
    search.on_paused(6, 6, 0, pause, false, {now, now + 30ms}, now + 30ms);
    const BootTime until = now + 30ms + pause;
    while (now < until) search.grow(true, std::nullopt, now += 10ms);
  }
  EXPECT_GE(*search.rate(), 95);
}

// Each run on such a server took what the one before had found for too little, and found more than that.
TEST(RateSearchDelays, WhatIsRememberedOfAServerThatNamesNoDelayIsSearchedForAsThere) {
  RateSearch search;
  BootTime now = start;
  search.begin_with(20, 1, now);
  search.on_demand(now);
  run_at(search, 20, now, 10s);
  EXPECT_GE(*search.rate(), 20);
  const double grown = *search.rate();
  EXPECT_TRUE(search.on_outcomes(10, 4, 0, now));
  EXPECT_LT(*search.rate(), grown);
  EXPECT_FALSE(search.burst()) << "the search's own, not the estimate's";
}

// After the last of a few refusals in a row, far below the limit, it was held for half a minute.
TEST(RateSearchDelays, AfterARowOfRefusalsItGrowsAgainSoon) {
  RateSearch search;
  BootTime now = start;
  search.begin_with(100, 10, now);
  search.on_demand(now);
  for (int refusal = 0; refusal < 3; ++refusal) {
    search.on_paused(10, 1, 0, 1s, false, {now, now + 100ms}, now + 100ms);
    now += 100ms;
    const BootTime until = now + 1s;
    while (now < until) search.grow(true, std::nullopt, now += 10ms);
  }
  const double low = *search.rate();
  EXPECT_LT(low, 90);
  run_at(search, low, now, 6s);
  EXPECT_GT(*search.rate(), 1.05 * low);
}

// Two of five first calls were answered: the same speed again said nothing, and cost another pause.
// It asked for the end of the last named delay where none had been named.
TEST(RateSearchDelays, TheFirstLongDelayMayComeAfterACutByRefusalsWithoutOne) {
  RateSearch search;
  const BootTime now = std::chrono::hours(1);
  search.on_demand(now);
  ASSERT_TRUE(search.on_outcomes(20, 8, 0, now));
  EXPECT_TRUE(search.on_paused(10, 2, 0, 1s, false, {now, now + 5s}, now + 5s));
}

TEST(RateSearchDelays, AfterABucketOfAFewCallsTheSpeedRampsUp) {
  RateSearch search;
  BootTime now = start;
  search.on_demand(now);
  search.on_paused(5, 2, 0, 1s, false, {now, now + 5ms}, now + 5ms);
  search.on_paused(0, 1, 0, 1s, false, {now, now + 6ms},
                   now + 6ms);  // That three were refused is known a little later.
  const BootTime until = now + 1s;
  while (now < until) search.grow(true, std::nullopt, now += 10ms);
  const double first = *search.rate();
  EXPECT_GT(first, 10) << "the middle of one a second, as the delay says, and the speed that was refused";
  EXPECT_LT(first, 20);
  run_at(search, first, now, 1s);
  EXPECT_GT(*search.rate(), 2 * first);
}

// Ten calls at once, of any speed, say as little: the second refusal gave nothing but the burst again.
TEST(RateSearchDelays, AfterABurstThatIsEmptyAtOnceTheSpeedRampsUp) {
  RateSearch search;
  BootTime now = start;
  search.on_demand(now);
  search.on_paused(17, 7, 0, 1s, false, {now, now + 5ms}, now + 5ms);
  const BootTime until = now + 1s;
  while (now < until) search.grow(true, std::nullopt, now += 10ms);
  const double first = *search.rate();
  EXPECT_LT(first, 40);
  run_at(search, first, now, 1s);
  EXPECT_GT(*search.rate(), 2 * first);
}

// A minute's quota that was spent made a run go on at a fraction of the rate that its bucket gives.
TEST(RateSearchDelays, ALongDelayAmongShortOnesIsThatOfAnotherLimit) {
  const auto pause_for = [](RateSearch& search, BootTime delay, BootTime& now) {
    search.on_paused(1, 1, 0, delay, false, {now, now}, now);
    now += delay;
  };
  RateSearch search;
  auto now = start;
  run_into(search, 100, now, 15s);
  const double before = *search.rate();
  pause_for(search, 30s, now);
  EXPECT_EQ(*search.rate(), before);
  run_into(search, 100, now, 2s);
  EXPECT_GT(*search.rate(), 0.8 * before);
  pause_for(search, 30s, now);
  run_into(search, 100, now, 100ms);
  pause_for(search, 30s, now);
  pause_for(search, 30s, now);
  EXPECT_LT(*search.rate(), 0.7 * before) << "it comes again at once: it is the rate's";
}

// The worker that heard of the delay left, and nobody kept to it: refusals were not counted until its end.
TEST(RateSearchDelays, ALongDelayThatNobodyKeepsToHidesNoRefusal) {
  RateSearch search;
  auto now = start;
  run_into(search, 100, now, 15s);
  search.on_paused(1, 1, 0, 600s, false, {now, now}, now);
  run_into(search, 20, now, 20s);
  EXPECT_LT(*search.rate(), 30);
}

// Each pause let one call in and one be refused, at any rate: that was taken for chance, and the rate from
// before came back again and again. It was handed on, too.
TEST(RateSearchDelays, ALimitThatFellIsFoundThoughPausesRefuseEveryOtherCall) {
  for (const BootTime way : {BootTime(4ms), BootTime(10ms), BootTime(60ms)}) {
    RateSearch search;
    auto now = start;
    auto paused_until = start;
    double rate = 20;
    double level = 20;
    double owed = 1;
    int answered = 0;
    int refused = 0;
    std::deque<std::pair<BootTime, BootTime>> refusals;  // When each is back, and the delay that it names.
    for (BootTime gone{}; gone < 30s; gone += 2ms) {
      now += 2ms;
      if (gone >= 6s) rate = 8;
      level = std::min(rate, level + rate * 0.002);
      owed = std::min(owed + search.rate().value_or(200) * 0.002, 1.0);
      for (; !refusals.empty() && refusals.front().first <= now; refusals.pop_front()) {
        paused_until = std::max(paused_until, now + refusals.front().second);
        search.on_paused(0, 1, 0, paused_until - now, false, {now, now}, now);
        if (gone >= 20s) ++refused;
      }
      if (now >= paused_until && owed >= 1) {
        owed -= 1;
        search.on_outcomes(1, 0, 0, now);
        if (level >= 1) {
          level -= 1;
          if (gone >= 20s) ++answered;
        } else {
          refusals.emplace_back(now + way,
                                BootTime(static_cast<BootTime::rep>((1 - level) / rate * 1e6)) + 1ms);
        }
      }
      search.grow(now >= paused_until, std::nullopt, now);
    }
    EXPECT_GE(answered, 65);
    EXPECT_LE(refused, 0.4 * answered) << way.count();
    EXPECT_LE(*search.accepted(), 16) << way.count();
  }
}

TEST(RateSearchDelays, ALongDelayIsThatOfAnotherLimitAtLowRatesAsWell) {
  RateSearch search;
  auto now = start;
  run_into(search, 3, now, 60s);
  const double before = *search.rate();
  search.on_paused(1, 1, 0, 30s, false, {now, now}, now);
  EXPECT_EQ(*search.rate(), before);
}

}  // namespace sluice::rate_search_test
