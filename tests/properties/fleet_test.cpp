#include "tests/properties/simulated_fleet.hpp"
#include "tests/properties/windows.hpp"

#include <gtest/gtest.h>

/// The governor with the workers' real budgets on simulated time: how much of a limit is used, and how soon
/// what nobody named is found.
namespace sluice::testing {
namespace {

using namespace std::chrono_literals;

constexpr double rate = 100;
constexpr double burst = 10;
constexpr std::size_t call_count = 1000;

double seconds(BootTime time) {
  return static_cast<double>(time.count()) * 1e-6;
}

FleetProvider limited(BootTime latency) {
  FleetProvider provider;
  provider.limits.requests_per_minute = 6000;
  provider.limits.burst_seconds = 0.1;
  provider.nature.requests_per_second = rate;
  provider.nature.burst = burst;
  provider.nature.latency = latency;
  provider.calls = calls(call_count);
  return provider;
}

/// Workers that never lack calls to make, whatever the way to the coordinator takes.
std::uint32_t saturating(std::uint32_t workers, BootTime latency, BootTime network) {
  const double in_flight = 1.3 * rate * seconds(latency + 3 * network);
  return static_cast<std::uint32_t>(in_flight / workers) + 1;
}

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

struct RateBounds {
  double of_ideal_time = 1.25;
  double refused_share = 0.055;
};

/// A fleet of any size that saturates the provider finds its rate of 100 calls a second.
void expect_rate_is_found(BootTime latency, bool reports_each_answer, const RateBounds& bounds) {
  for (const BootTime network : {BootTime(1ms), BootTime(20ms)}) {
    for (const std::uint32_t workers : {1u, 4u, 16u}) {
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        auto provider = limited(latency);
        provider.limits = {};
        FleetOptions options;
        options.seed = seed;
        options.workers = workers;
        options.network.delay_max = network;
        options.arrival_jitter = network;
        options.max_concurrent = saturating(workers, latency, network);
        options.reports_each_answer = reports_each_answer;
        Fleet fleet(options, {provider});
        ASSERT_TRUE(fleet.run());
        const double ideal = (call_count - burst) / rate + seconds(latency);
        const auto refused = static_cast<double>(fleet.refused());
        EXPECT_LE(seconds(fleet.elapsed()), bounds.of_ideal_time * ideal)
            << workers << " workers, latency of " << latency.count() << " us, seed " << seed;
        EXPECT_LE(refused, bounds.refused_share * (call_count + refused))
            << workers << " workers, latency of " << latency.count() << " us, seed " << seed;
        EXPECT_EQ(fleet.facts().requests->source, LimitSource::found);
        EXPECT_NEAR(fleet.facts().requests->per_minute, 6000, 2000);
      }
    }
  }
}

TEST(Fleet, FindsARateThatNobodyNamed) {
  for (const BootTime latency : {10ms, 50ms, 100ms, 200ms}) expect_rate_is_found(latency, true, {});
  expect_rate_is_found(500ms, true, {1.25, 0.08});  // What is refused is known half a second late.
}

/// Until calls need permits, a real worker reports its answers in rounds of at least 16 (CallBudget::is_due).
/// Where answers take half a second the search learns of the first ones late, and in larger steps: more calls
/// are refused at first, and more is to be made up for.
TEST(Fleet, FindsARateThatNobodyNamedByRoundsOfAnswers) {
  for (const BootTime latency : {10ms, 50ms, 100ms, 200ms}) expect_rate_is_found(latency, false, {});
  expect_rate_is_found(500ms, false, {1.3, 0.09});
}

/// Calls a second that are answered where such a share is refused by chance.
double speed_beside_chance(double share, bool known_limit, std::uint64_t seed) {
  auto provider = limited(100ms);
  provider.nature.requests_per_second = 0;
  provider.nature.refused_at_random = share;
  provider.calls = calls(3000);
  if (!known_limit) provider.limits = {};
  FleetOptions options;
  options.seed = seed;
  options.max_concurrent = 20;
  options.network.delay_max = 2ms;
  Fleet fleet(options, {provider});
  EXPECT_TRUE(fleet.run());
  return 3000 / seconds(fleet.elapsed());
}

TEST(Fleet, RefusalsThatComeAtAnyRateDoNotStarveIt) {
  for (const bool known_limit : {true, false}) {
    for (const double share : {0.02, 0.05, 0.1, 0.2}) {
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        EXPECT_GE(speed_beside_chance(share, known_limit, seed), share > 0.1 ? 30 : 60)
            << share << " of the calls are refused, seed " << seed;
      }
    }
  }
}

TEST(Fleet, AnOutageOfRefusalsIsAskedRarely) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    FleetProvider provider;
    provider.nature.down_from = EventQueue::beginning + 400ms;
    provider.nature.down_until = EventQueue::beginning + 9400ms;
    provider.nature.refuses_while_down = true;
    provider.calls = calls(400);
    FleetOptions options;
    options.seed = seed;
    options.max_concurrent = 10;
    options.network.delay_max = 1ms;
    Fleet fleet(options, {provider});
    ASSERT_TRUE(fleet.run());
    EXPECT_LE(fleet.refused(), 40u + 60u) << "beyond those that were in flight, seed " << seed;
    EXPECT_LE(seconds(fleet.elapsed()), 9.4 + 6) << "seed " << seed;
  }
}

// A rate that was counted over a few calls, and a third of them refused, went down to one in 20 s.
TEST(Fleet, AThirdOfFewCallsRefusedWithAShortDelayDoesNotStarveThem) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    FleetProvider provider;
    provider.nature.latency = 5ms;
    provider.nature.refused_at_random = 0.3;
    provider.nature.names_delays = true;
    provider.nature.named_delay_min = 100ms;
    provider.calls = calls(60);
    FleetOptions options;
    options.seed = seed;
    options.workers = 2;
    options.max_concurrent = 10;
    options.network.delay_max = 1ms;
    options.arrival_jitter = 1ms;
    Fleet fleet(options, {provider});
    ASSERT_TRUE(fleet.run());
    EXPECT_LE(seconds(fleet.elapsed()), 25) << "seed " << seed;
  }
}

TEST(Fleet, AnOutageCostsItsTime) {
  for (const bool known_limit : {true, false}) {
    auto provider = limited(100ms);
    if (!known_limit) {
      provider.limits = {};
      provider.nature.requests_per_second = 0;
      provider.nature.parallel = 10;
    }
    FleetOptions options;
    options.workers = 4;
    options.max_concurrent = 20;
    options.network.delay_max = 2ms;
    provider.nature.down_from = EventQueue::beginning + 3s;
    provider.nature.down_until = EventQueue::beginning + 123s;
    Fleet fleet(options, {provider});
    ASSERT_TRUE(fleet.run());
    EXPECT_LE(seconds(fleet.elapsed()), 10 * 1.2 + 120 + 16) << "the end is noticed 15 s late at most";
    EXPECT_LE(fleet.facts().failed, 60u) << "until it was noticed, and single probes";
    EXPECT_GE(fleet.facts().outage_time, 118s);
    EXPECT_FALSE(fleet.facts().given_up);
  }
}

TEST(Fleet, AnOutageThatLastsTooLongIsGivenUp) {
  auto provider = limited(100ms);
  provider.nature.down_from = EventQueue::beginning + 1s;
  provider.nature.down_until = std::chrono::hours(100);
  FleetOptions options;
  options.outage_timeout = 60s;
  options.patience = 2min;
  Fleet fleet(options, {provider});
  EXPECT_FALSE(fleet.run());
  EXPECT_TRUE(fleet.facts().given_up);
  EXPECT_EQ(fleet.facts().hold, wire::HoldReason::given_up);
}

/// Runs a fleet against a provider that serves `parallel` calls at a time, and returns the number in flight
/// that it found; 0: none yet. Whatever the number, the answers come hardly later than they could.
std::uint32_t found_number(std::uint32_t parallel, std::uint32_t workers, BootTime latency,
                           bool reports_each_answer) {
  FleetProvider provider;
  provider.nature.parallel = parallel;
  provider.nature.latency = latency;
  provider.calls = calls(200 * parallel);
  FleetOptions options;
  options.workers = workers;
  options.max_concurrent = 5;
  options.network.delay_max = 2ms;
  options.arrival_jitter = 2ms;
  options.reports_each_answer = reports_each_answer;
  Fleet fleet(options, {provider});
  EXPECT_TRUE(fleet.run());
  EXPECT_LE(seconds(fleet.elapsed()), 1.15 * 200 * seconds(latency)) << parallel << " at " << workers;
  return fleet.facts().found_concurrency.value_or(0);
}

TEST(Fleet, FindsTheNumberInFlightWithTheBestThroughput) {
  for (const std::uint32_t parallel : {4u, 32u, 128u}) {
    for (const std::uint32_t workers : {1u, 4u, 16u}) {
      for (const BootTime latency : {BootTime(50ms), BootTime(1s)}) {
        const auto found = found_number(parallel, workers, latency, true);
        EXPECT_GE(found, 0.8 * parallel) << parallel << " at " << workers;
        EXPECT_LE(found, 2 * parallel) << parallel << " at " << workers;
      }
    }
  }
}

/// A real worker reports its answers in rounds, 50 ms apart at least (CallBudget::is_due). Where answers take
/// no longer than that, and few calls fall to each of many workers, the rounds are too coarse for a number
/// as exact as above: it comes out larger, or not before the calls are over. The throughput holds.
TEST(Fleet, FindsTheNumberInFlightByRoundsOfAnswers) {
  for (const std::uint32_t parallel : {4u, 32u, 128u}) {
    for (const std::uint32_t workers : {1u, 4u, 16u}) {
      const auto found = found_number(parallel, workers, 1s, false);
      EXPECT_GE(found, 0.8 * parallel) << parallel << " at " << workers;
      EXPECT_LE(found, 2 * parallel) << parallel << " at " << workers;
      EXPECT_LE(found_number(parallel, workers, 50ms, false), 3 * parallel) << parallel << " at " << workers;
    }
  }
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

}  // namespace
}  // namespace sluice::testing
