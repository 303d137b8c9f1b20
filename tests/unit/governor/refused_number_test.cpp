// What a provider's budget makes of the number of calls in flight at which calls are refused.
#include "tests/unit/governor/governor_fixture.hpp"

#include <cstdint>
#include <vector>

namespace sluice::refused_number_test {

using namespace std::chrono_literals;
using governor_test::GovernorTest;
using governor_test::start;

class RefusedNumber : public GovernorTest {
 protected:
  explicit RefusedNumber(const ProviderLimits& limits = {}) : GovernorTest(limits) {}

  void report(std::uint32_t in_flight, std::uint32_t answered, std::uint32_t refused, BootTime now,
              std::uint32_t waiting = 100) {
    auto demand = ready(waiting, in_flight);
    demand.outcomes.answered = answered;
    demand.outcomes.rate_limited = refused;
    demand.outcomes.latency_sum_us = std::uint64_t{300'000} * answered;
    demand.outcomes.latency_deviation_us = 100'000;
    send(1, demand, now);
    governor.turn(now);
  }
  /// Calls are refused with twenty in flight, at two paces.
  void refuse_at_twenty(WorkerConcurrency concurrency = {50}) {
    governor.join(1, concurrency, start);
    report(0, 0, 0, start);
    report(20, 30, 10, start + 1s);
    report(20, 100, 0, start + 2s);
    report(20, 10, 2, start + 3s);
    for (auto now = start + 4s; now <= start + 8s; now += 1s) report(20, 40, 0, now);
  }
  BudgetFacts facts(BootTime now) { return governor.facts(now)[0]; }
};

TEST_F(RefusedNumber, IsFoundAndTheRateIsDropped) {
  refuse_at_twenty();
  EXPECT_EQ(facts(start + 8s).found_concurrency, 20u);
  EXPECT_FALSE(facts(start + 8s).effective_per_minute);
}

// It grew by a sixteenth each 20 s that nobody used, and was said to be found and left to later runs.
TEST_F(RefusedNumber, GrowsWhereCallsWaitForItAlone) {
  refuse_at_twenty();
  report(3, 40, 0, start + 30s, 0);
  EXPECT_EQ(facts(start + 30s).found_concurrency, 20u);
  report(20, 40, 0, start + 31s);
  EXPECT_EQ(facts(start + 31s).found_concurrency, 21u);
}

// What they had found was taken in, and then forgotten with the number.
TEST_F(RefusedNumber, IsGivenUpForTheRateOfRunsThatCome) {
  refuse_at_twenty();
  const auto now = start + 9s;
  governor.share("openai", 2, {}, false);
  const std::vector<ForeignUse> uses{{1, RateFound{20, 20, 3, 0, now}}};
  OtherPlaces others;
  others.living = {1};
  governor.count("openai", uses, others, now);
  governor.turn(now);
  EXPECT_FALSE(facts(now).found_concurrency);
  EXPECT_EQ(facts(now).effective_per_minute, 1200);
}

ProviderLimits beside_tokens() {
  ProviderLimits limits;
  limits.tokens_per_minute = 100'000'000;
  return limits;
}

ProviderLimits with_a_number() {
  ProviderLimits limits;
  limits.max_in_flight = 100;
  return limits;
}

class RefusedNumberBesideTokens : public RefusedNumber {
 protected:
  RefusedNumberBesideTokens() : RefusedNumber(beside_tokens()) {}
};

class RefusedNumberBesideSettings : public RefusedNumber {
 protected:
  RefusedNumberBesideSettings() : RefusedNumber(with_a_number()) {}
};

// Then it bounded nothing: calls had neither a rate nor a number, until they were refused twice more.
TEST_F(RefusedNumberBesideTokens, IsNotLookedForAndTheRateStays) {
  refuse_at_twenty();
  EXPECT_TRUE(facts(start + 8s).effective_per_minute);
}

TEST_F(RefusedNumberBesideSettings, IsNotLookedForAndTheRateStays) {
  refuse_at_twenty({50, true});
  EXPECT_TRUE(facts(start + 8s).effective_per_minute);
}

}  // namespace sluice::refused_number_test
