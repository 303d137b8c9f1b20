// Runs that follow each other at one provider on simulated time, each with what the one before has learnt.
#include "tests/properties/simulated_fleet.hpp"

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

}  // namespace sluice::learned_limits_test
