// The governor with the workers' real budgets on simulated time: how soon it finds what nobody named.
#include "tests/properties/limited_fleet.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <gtest/gtest.h>

namespace sluice::fleet_test {

using namespace std::chrono_literals;

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

/// Runs a fleet against a provider that serves `parallel` calls at a time, and returns the number in flight
/// that it found; 0: none yet. Whatever the number, the answers come hardly later than they could.
std::uint32_t found_number(const FleetOptions& options, std::uint32_t parallel, BootTime latency) {
  FleetProvider provider;
  provider.nature.parallel = parallel;
  provider.nature.latency = latency;
  provider.calls = calls(200 * parallel);
  Fleet fleet(options, {provider});
  EXPECT_TRUE(fleet.run());
  EXPECT_LE(seconds(fleet.elapsed()), 1.15 * 200 * seconds(latency))
      << parallel << " at " << options.workers << ", seed " << options.seed;
  return fleet.facts().found_concurrency.value_or(0);
}

/// The number of the middle one of five fleets: of few places a single one may find several times as many.
std::uint32_t usual_number(std::uint32_t parallel, std::uint32_t workers, BootTime latency,
                           bool reports_each_answer) {
  FleetOptions options;
  options.workers = workers;
  options.max_concurrent = 5;
  options.network.delay_max = 2ms;
  options.arrival_jitter = 2ms;
  options.reports_each_answer = reports_each_answer;
  std::array<std::uint32_t, 5> found{};
  for (std::uint32_t& one : found) {
    one = found_number(options, parallel, latency);
    ++options.seed;
  }
  std::ranges::sort(found);
  return found[2];
}

/// Of few places the calls may be over before it is found. Each worker's report is a little late, so that
/// more of them find more.
void expect_is_close(std::uint32_t found, std::uint32_t parallel, std::uint32_t workers) {
  if (found > 0 || parallel > 4) EXPECT_GE(found, 0.8 * parallel) << parallel << " at " << workers;
  EXPECT_LE(found, 2.4 * parallel + workers + 4) << parallel << " at " << workers;
}

TEST(Fleet, FindsTheNumberInFlightWithTheBestThroughput) {
  for (const std::uint32_t parallel : {4u, 32u, 128u}) {
    for (const std::uint32_t workers : {1u, 4u, 16u}) {
      for (const BootTime latency : {BootTime(50ms), BootTime(1s)}) {
        expect_is_close(usual_number(parallel, workers, latency, true), parallel, workers);
      }
    }
  }
}

/// A real worker reports its answers in rounds, 50 ms apart at least (CallBudget::is_due). Where answers take
/// no longer than that, the calls may be over before it is found.
TEST(Fleet, FindsTheNumberInFlightByRoundsOfAnswers) {
  for (const std::uint32_t parallel : {4u, 32u, 128u}) {
    for (const std::uint32_t workers : {1u, 4u, 16u}) {
      expect_is_close(usual_number(parallel, workers, 1s, false), parallel, workers);
      const auto of_short_calls = usual_number(parallel, workers, 50ms, false);
      if (of_short_calls > 0) expect_is_close(of_short_calls, parallel, workers);
    }
  }
}

}  // namespace sluice::fleet_test
