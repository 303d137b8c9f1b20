// The governor with the workers' real budgets on simulated time: how much of a limit is used, and by whom.
#include "tests/properties/limited_fleet.hpp"
#include "tests/properties/windows.hpp"

#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::fleet_test {

using namespace std::chrono_literals;

/// A window in which more calls started than the limit allows.
std::optional<ChargedWindow> over_the_limit(const Fleet& fleet) {
  std::vector<Charge> charges;
  for (const auto& start : fleet.starts()) charges.push_back({start.at, 1});
  return window_over(std::move(charges), ExactLimit::with_burst_of(6000, 100ms, 1));
}

TEST(Fleet, UsesALimitToTheFullAndNeverMore) {
  for (const std::uint32_t workers : {1u, 4u, 16u}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      FleetOptions options;
      options.seed = seed;
      options.workers = workers;
      options.max_concurrent = saturating(workers, 200ms, 20ms);
      Fleet fleet(options, {limited(200ms)});
      ASSERT_TRUE(fleet.run());
      const double ideal = (call_count - burst) / rate + 0.2;
      EXPECT_LE(seconds(fleet.elapsed()), 1.03 * ideal) << workers << " workers, seed " << seed;
      EXPECT_EQ(fleet.refused(), 0u) << workers << " workers, seed " << seed;
      EXPECT_FALSE(over_the_limit(fleet)) << *over_the_limit(fleet) << ", seed " << seed;
      EXPECT_EQ(fleet.facts().permits_used, call_count);
      EXPECT_GE(*fleet.facts().utilisation, 0.97);
    }
  }
}

/// So long to the coordinator and so long back, with some variation.
Network round_trip_of(BootTime time) {
  return {time / 2, time / 2 + time / 20};
}

/// 30 calls a second, of which nobody named the burst.
FleetProvider limited_to_thirty() {
  auto provider = limited(250ms);
  provider.limits.requests_per_minute = 1800;
  provider.limits.burst_seconds.reset();
  provider.nature.requests_per_second = 30;
  provider.nature.burst = 3;
  provider.calls = calls(3600);
  return provider;
}

// Permits used to open before they came, and to close before a far worker could be sure of the time: 80 ms of
// round trip left 0.82 of a limit, 300 ms nothing at all.
TEST(Fleet, UsesALimitFromFarAwayAndNeverMore) {
  const std::vector<std::vector<BootTime>> fleets = {{5ms},
                                                     {80ms},
                                                     {300ms},
                                                     {80ms, 80ms, 80ms, 80ms},
                                                     {300ms, 300ms, 300ms, 300ms},
                                                     {1ms, 5ms, 80ms, 300ms}};
  for (const auto& round_trips : fleets) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      FleetOptions options;
      options.seed = seed;
      options.workers = static_cast<std::uint32_t>(round_trips.size());
      options.max_concurrent = 5;  // More where the limit calls for more.
      for (const auto time : round_trips) options.networks.push_back(round_trip_of(time));
      options.arrival_jitter = 2ms;
      Fleet fleet(options, {limited_to_thirty()});
      ASSERT_TRUE(fleet.run());
      const double ideal = 3600 / 30.0;
      EXPECT_GE(ideal / seconds(fleet.elapsed()), 0.92) << round_trips.size() << " workers, the last at "
                                                        << round_trips.back().count() << " us, seed " << seed;
      EXPECT_EQ(fleet.refused(), 0u) << "seed " << seed;
    }
  }
}

TEST(Fleet, ThousandsOfCallsASecondAreGrantedInBatches) {
  auto provider = limited(100ms);
  provider.limits.requests_per_minute = 5000 * 60;
  provider.nature.requests_per_second = 5000;
  provider.nature.burst = 500;
  provider.calls = calls(20'000);
  FleetOptions options;
  options.workers = 16;
  options.max_concurrent = 100;
  Fleet fleet(options, {provider});
  ASSERT_TRUE(fleet.run());
  EXPECT_EQ(fleet.refused(), 0u);
  EXPECT_LE(seconds(fleet.elapsed()), 1.06 * (19'500.0 / 5000 + 0.1)) << "within a few round trips";
}

TEST(Fleet, ATokenLimitIsUsedToTheFullAndNeverMore) {
  for (const std::uint32_t workers : {1u, 4u, 16u}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      FleetProvider provider;
      provider.limits.tokens_per_minute = 600'000;
      provider.nature.tokens_per_second = 10'000;
      provider.nature.token_burst = 10'000;
      provider.nature.latency = 200ms;
      std::mt19937_64 random(seed);
      double tokens = 0;
      for (int i = 0; i < 1000; ++i) {
        const wire::CallSize used{std::uniform_int_distribution<std::uint32_t>(20, 150)(random),
                                  std::uniform_int_distribution<std::uint32_t>(5, 45)(random)};
        provider.calls.push_back({{used.input_tokens + 5, 50}, used});
        tokens += used.input_tokens + used.output_tokens;
      }
      FleetOptions options;
      options.seed = seed;
      options.workers = workers;
      options.max_concurrent = saturating(workers, 200ms, 20ms);
      Fleet fleet(options, {provider});
      ASSERT_TRUE(fleet.run());
      EXPECT_EQ(fleet.refused(), 0u) << workers << " workers, seed " << seed;
      const double ideal = (tokens - 10'000) / 10'000 + 0.2;
      EXPECT_LE(seconds(fleet.elapsed()), 1.03 * ideal) << workers << " workers, seed " << seed;
    }
  }
}

/// As scripts/bench --budget measures it: half of a bound is never used.
TEST(Fleet, ATokenLimitIsUsedWhereBoundsAreTwiceOfWhatCallsTake) {
  for (const std::uint32_t workers : {1u, 4u, 16u}) {
    FleetProvider provider;
    provider.limits.tokens_per_minute = 600'000;
    provider.limits.burst_seconds = 1;
    provider.nature.tokens_per_second = 10'000;
    provider.nature.token_burst = 10'000;
    provider.nature.latency = 50ms;
    provider.calls = calls(1000, {282, 8}, {113, 4});
    FleetOptions options;
    options.workers = workers;
    options.max_concurrent = saturating(workers, 50ms, 1ms);
    options.network = {{}, 1ms};
    options.arrival_jitter = 1ms;
    Fleet fleet(options, {provider});
    ASSERT_TRUE(fleet.run());
    EXPECT_EQ(fleet.refused(), 0u) << workers << " workers";
    const double ideal = (117'000.0 - 10'000) / 10'000 + 0.05;
    EXPECT_LE(seconds(fleet.elapsed()), 1.025 * ideal) << workers << " workers";
  }
}

TEST(Fleet, ACallThatCanNeverStartKeepsNobodyFromStarting) {
  FleetProvider provider;
  provider.limits.tokens_per_minute = 6000;
  provider.limits.burst_seconds = 10;
  provider.calls = calls(20, {100, 100}, {100, 100});
  provider.calls.insert(provider.calls.begin() + 3, PlannedCall{{5000, 100}, {5000, 100}});
  FleetOptions options;
  options.workers = 2;
  options.patience = 2min;
  Fleet fleet(options, {provider});
  EXPECT_FALSE(fleet.run());
  EXPECT_EQ(fleet.starts().size(), 20u);
}

TEST(Fleet, APausedProviderDoesNotHoldUpTheOther) {
  auto paused = limited(100ms);
  paused.name = "paused";
  paused.nature.names_delays = true;
  paused.nature.requests_per_second = 20;  // Less than the settings name: each refusal names a delay.
  paused.nature.burst = 2;
  paused.calls = calls(100);
  auto free = limited(100ms);
  free.name = "free";
  FleetOptions options;
  options.workers = 4;
  options.max_concurrent = saturating(4, 100ms, 20ms);
  Fleet fleet(options, {paused, free});
  ASSERT_TRUE(fleet.run());
  EXPECT_GT(fleet.refused(0), 0u);
  EXPECT_GT(fleet.facts(0).paused_time, BootTime(0));
  EXPECT_EQ(fleet.refused(1), 0u);
  EXPECT_EQ(fleet.facts(1).paused_time, BootTime(0));
  EXPECT_LE(seconds(fleet.finished_at(1) - EventQueue::beginning),
            1.03 * ((call_count - burst) / rate + 0.1));
}

TEST(Fleet, PlacesAreNeverMoreThanMaxInFlight) {
  for (const std::uint32_t workers : {1u, 4u, 16u}) {
    FleetProvider provider;
    provider.limits.max_in_flight = 8;
    provider.nature.latency = 100ms;
    provider.calls = calls(1000);
    FleetOptions options;
    options.workers = workers;
    options.max_concurrent = 20;
    options.network.delay_max = 5ms;
    Fleet fleet(options, {provider});
    ASSERT_TRUE(fleet.run());
    EXPECT_LE(fleet.most_in_flight(), 8u);
    EXPECT_LE(seconds(fleet.elapsed()), 1000 / 8 * 0.12 * 1.2) << workers;
    for (const auto finished : fleet.answered_by_worker()) EXPECT_GT(finished, 10u) << "no worker starves";
  }
}

TEST(Fleet, NoWorkerStarves) {
  FleetOptions options;
  options.workers = 16;
  options.max_concurrent = 20;
  Fleet fleet(options, {limited(100ms)});
  ASSERT_TRUE(fleet.run());
  for (const auto finished : fleet.answered_by_worker()) {
    EXPECT_GT(finished, 40u) << "62 would be even";
    EXPECT_LT(finished, 90u);
  }
}

TEST(Fleet, ALargeCallIsNotOvertakenForEver) {
  FleetProvider provider;
  provider.limits.tokens_per_minute = 60'000;
  provider.nature.latency = 100ms;
  provider.calls = calls(300, {50, 50}, {50, 50});
  provider.calls.insert(provider.calls.begin() + 5, PlannedCall{{800, 50}, {800, 50}});
  FleetOptions options;
  options.workers = 4;
  options.max_concurrent = 10;
  Fleet fleet(options, {provider});
  ASSERT_TRUE(fleet.run());
  EXPECT_LE(seconds(fleet.elapsed()), 32);
}

TEST(Fleet, ADeadWorkerWastesNoMoreThanTheLookaheadAndALifetime) {
  FleetOptions options;
  options.workers = 4;
  options.max_concurrent = 40;
  Fleet fleet(options, {limited(200ms)});
  fleet.events().after(3s, [&] { fleet.kill(0); });
  fleet.events().after(5s, [&] { fleet.kill(1); });
  // What they had in flight is never answered, so the run does not end; its starts show it.
  fleet.events().after(9s, [&] {
    const auto starts = static_cast<double>(fleet.starts().size());
    EXPECT_GE(starts, 9 * 99.9 - 10 - 2 * 0.11 * 100) << "two workers died";
  });
  fleet.run();
}

}  // namespace sluice::fleet_test
