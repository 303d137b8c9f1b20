// Runs that follow each other at one provider on simulated time, each with what the one before has learnt.
#include "tests/properties/simulated_fleet.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::learned_limits_test {

using namespace std::chrono_literals;
using namespace testing;

struct Run {
  double seconds = 0;
  std::uint64_t refused = 0;
  BudgetFacts facts;
};

FleetProvider server(double per_second, double burst, bool in_whole_seconds, BootTime latency,
                     std::size_t count) {
  FleetProvider provider;
  provider.nature.limits = {SimulatedLimit::bucket(per_second, burst)};
  provider.nature.names_delays = true;
  provider.nature.in_whole_seconds = in_whole_seconds;
  provider.nature.latency = latency;
  provider.calls = calls(count);
  return provider;
}

FleetOptions one_worker(std::uint64_t seed) {
  FleetOptions options;
  options.seed = seed;
  options.workers = 1;
  options.max_concurrent = 5;
  options.network.delay_max = 2ms;
  options.arrival_jitter = 2ms;
  options.request_timeout = 2min;
  return options;
}

Run run(const FleetProvider& provider, std::uint64_t seed) {
  Fleet fleet(one_worker(seed), {provider});
  EXPECT_TRUE(fleet.run());
  return {static_cast<double>(fleet.elapsed().count()) * 1e-6, fleet.refused(), fleet.facts()};
}

// What an earlier run left was taken for a delay of a quarter of a second: the pace never fell below four
// calls a second, and each later run had half of its calls refused.
TEST(LearnedLimits, LaterRunsConvergeWhereDelaysAreShort) {
  for (const double learnt : {120.0, 160.0, 240.0}) {
    for (const double burst : {1.0, 4.0}) {
      auto provider = server(2, 2, false, 1s, 100);
      provider.learned.requests_per_minute = learnt;
      provider.learned.burst = burst;
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const auto done = run(provider, seed);
        EXPECT_LE(done.refused, seed == 1 ? 15u : 8u) << "run " << seed << " from " << learnt;
        EXPECT_LE(done.seconds, 57) << "run " << seed << " from " << learnt;
        provider.learned = done.facts.learned;
        ASSERT_TRUE(provider.learned.requests_per_minute);
        EXPECT_NEAR(*provider.learned.requests_per_minute, 120, 18) << "run " << seed << " from " << learnt;
      }
    }
  }
}

// One refusal of a limit that was learnt too high left it as it was, or raised it: the rate had grown by
// then.
TEST(LearnedLimits, ARefusalLowersWhatWasLearnt) {
  for (const double learnt : {1285.0, 1500.0}) {
    auto provider = server(20, 20, true, 50ms, 400);
    provider.learned.requests_per_minute = learnt;
    provider.learned.burst = 36;
    const auto first = run(provider, 1);
    EXPECT_GT(first.refused, 0u);
    provider.learned = first.facts.learned;
    EXPECT_LT(*provider.learned.requests_per_minute, 0.98 * learnt);
    for (std::uint64_t seed = 2; seed <= 5; ++seed) {
      const auto done = run(provider, seed);
      EXPECT_LE(done.refused, 1u) << "run " << seed << " from " << learnt;
      EXPECT_LE(done.seconds, 22) << "run " << seed << " from " << learnt;
      provider.learned = done.facts.learned;
      EXPECT_NEAR(*provider.learned.requests_per_minute, 1200, 120) << "run " << seed << " from " << learnt;
    }
  }
}

// A search that was stopped in the middle, or that half of the calls were refused in, left several times the
// limit to the runs after it.
TEST(LearnedLimits, WhatTooLittleWasSeenOfIsNotLearnt) {
  for (const double per_second : {5.0, 20.0}) {
    for (const bool in_whole_seconds : {false, true}) {
      for (const BootTime latency : {BootTime(50ms), BootTime(1s)}) {
        for (const BootTime stopped_after : {2s, 3s, 4s, 5s, 6s, 60s}) {
          Fleet fleet(one_worker(1), {server(per_second, per_second, in_whole_seconds, latency, 100)});
          fleet.run_for(stopped_after);
          const auto facts = fleet.facts();
          if (const auto rate = facts.learned.requests_per_minute)
            EXPECT_NEAR(*rate, 60 * per_second, 20 * per_second)
                << per_second << ", " << stopped_after.count();
          EXPECT_EQ(facts.requests.has_value(), facts.learned.requests_per_minute.has_value());
        }
      }
    }
  }
}

/// Of a server of 5 calls a second, or of a limit that was raised to so many times as much.
FleetProvider learnt_as_five(double times, std::size_t count, BootTime age) {
  auto provider = server(5 * times, std::max(1.0, times / 2), true, 300ms, count);
  provider.learned.requests_per_minute = 300;
  provider.learned.age = age;
  return provider;
}

// Each run found again that it could have more, and none of them left it to the next one.
TEST(LearnedLimits, ALimitThatWasRaisedIsLearnt) {
  for (const double times : {2.0, 5.0, 20.0}) {
    for (const BootTime age : {BootTime(0s), BootTime(2h)}) {
      SCOPED_TRACE(::testing::Message() << times << " times as much, age " << age.count());
      auto provider = learnt_as_five(times, 150, age);
      const auto first = run(provider, 1);
      provider.learned = first.facts.learned;
      EXPECT_GE(*provider.learned.requests_per_minute, 300 * 1.3);
      EXPECT_LE(*provider.learned.requests_per_minute, 300 * times * 1.1);
      EXPECT_LE(run(provider, 2).seconds, 0.8 * first.seconds);
    }
  }
}

TEST(LearnedLimits, AnOldLimitIsHeldForLess) {
  EXPECT_LE(run(learnt_as_five(5, 100, 2h), 1).seconds, 0.7 * run(learnt_as_five(5, 100, 0s), 1).seconds);
  const auto unchanged = run(learnt_as_five(1, 100, 2h), 1);
  EXPECT_LE(unchanged.refused, 2u);
  EXPECT_LE(unchanged.seconds, 24);
  EXPECT_NEAR(*unchanged.facts.learned.requests_per_minute, 300, 20);
  EXPECT_LT(unchanged.facts.learned.age, BootTime(1min)) << "a refusal has shown that it still holds";
}

// Calls were spaced as for a bucket of one: of a thousand a second fifty to two hundred were made.
TEST(LearnedLimits, AHighRateIsUsedThoughItsBurstIsNotKnown) {
  auto provider = server(1000, 100, true, 20ms, 3000);
  provider.learned.requests_per_minute = 57'000;
  auto options = one_worker(1);
  options.max_concurrent = 60;
  Fleet fleet(options, {provider});
  ASSERT_TRUE(fleet.run());
  EXPECT_LE(fleet.elapsed(), BootTime(6s));
  EXPECT_FALSE(fleet.facts().learned.burst);
}

// Four a second were handed on for ever, half of which were refused each time.
TEST(LearnedLimits, WhatHalfOfTheCallsRefuteIsNotHandedOn) {
  auto provider = server(5, 5, false, 1s, 100);
  provider.learned.requests_per_minute = 1100;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) provider.learned = run(provider, seed).facts.learned;
  EXPECT_LE(*provider.learned.requests_per_minute, 400);
}

// The first calls, before an answer had told the limit, were refused: that halved the burst at the known
// rate.
TEST(LearnedLimits, RefusalsBeforeTheLimitWasAnnouncedSayNothingOfTheBurst) {
  for (const std::uint32_t workers : {1u, 4u}) {
    for (const bool in_whole_seconds : {true, false}) {
      auto provider = server(20, 3, in_whole_seconds, 300ms, 200);
      provider.nature.announced_per_minute = 1200;
      auto options = one_worker(1);
      options.workers = workers;
      Fleet fleet(options, {provider});
      ASSERT_TRUE(fleet.run());
      EXPECT_FALSE(fleet.facts().learned.burst) << workers;
      EXPECT_LE(fleet.elapsed(), BootTime(11'700ms)) << workers;
    }
  }
}

// The settings said 3,000 a minute and the headers 600: each run was refused until it had found that.
TEST(LearnedLimits, WhatIsAnnouncedCountsOnceMoreIsRefused) {
  for (const std::uint32_t workers : {1u, 4u}) {
    auto provider = server(10, 2, true, 50ms, 200);
    provider.limits.requests_per_minute = 3000;
    provider.nature.announced_per_minute = 600;
    auto options = one_worker(1);
    options.workers = workers;
    Fleet fleet(options, {provider});
    ASSERT_TRUE(fleet.run());
    EXPECT_EQ(fleet.facts().requests, (KnownLimit{600, LimitSource::announced}));
    EXPECT_EQ(fleet.facts().announced_below, 600);
    EXPECT_LE(fleet.refused(), 3u) << workers;
    EXPECT_LE(fleet.elapsed(), BootTime(23s)) << workers;
  }
}

}  // namespace sluice::learned_limits_test
