// The governor with the workers' real budgets on simulated time: what outages and refusals by chance cost.
#include "tests/properties/limited_fleet.hpp"

#include <chrono>
#include <cstdint>

#include <gtest/gtest.h>

namespace sluice::fleet_test {

using namespace std::chrono_literals;

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

}  // namespace sluice::fleet_test
