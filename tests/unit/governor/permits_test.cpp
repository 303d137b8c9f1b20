#include "tests/unit/governor/governor_fixture.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace sluice::governor_test {

class LimitedGovernorTest : public GovernorTest {
 protected:
  static ProviderLimits limits() {
    ProviderLimits limits;
    limits.requests_per_minute = 6000;
    limits.burst_seconds = 0.1;
    return limits;
  }
  LimitedGovernorTest() : GovernorTest(limits()) {}
};

TEST_F(LimitedGovernorTest, PermitsAreWindowsAheadOfTheClock) {
  governor.join(1, {50}, start);
  send(1, ready(50), start);
  const auto grant = grant_to(1, start);
  ASSERT_TRUE(grant);
  ASSERT_FALSE(grant->permits.empty());
  std::uint64_t last_id = 0;
  std::uint64_t last_opening = 0;
  for (const auto& permit : grant->permits) {
    EXPECT_GT(permit.id, last_id);
    EXPECT_GT(permit.opens_us, last_opening);
    EXPECT_EQ(permit.closes_us - permit.opens_us, 59'000u);
    EXPECT_LE(permit.opens_us, 3'600'200'000u) << "no further than the lookahead";
    EXPECT_EQ(permit.size, any_size);
    last_id = permit.id;
    last_opening = permit.opens_us;
  }
}

TEST_F(LimitedGovernorTest, PermitsThatOpenSoonAreGrantedTogether) {
  governor.join(1, {50}, start);
  send(1, ready(50), start);
  const auto first = grant_to(1, start)->permits;
  const auto open_until = std::chrono::microseconds(first.back().opens_us);
  for (auto now = start; now < open_until - 50ms; now += 10ms) {
    for (const auto& answer : governor.turn(now)) EXPECT_TRUE(answer.grants.grants[0].permits.empty());
  }
  EXPECT_GE(grant_to(1, open_until - 30ms)->permits.size(), 10u) << "all that open in 200 ms";
}

TEST_F(LimitedGovernorTest, NobodyGetsMoreThanItCanUse) {
  governor.join(1, {50}, start);
  send(1, ready(2), start);
  EXPECT_EQ(grant_to(1, start)->permits.size(), 2u);
  send(1, ready(2), start + 10ms);
  EXPECT_TRUE(grant_to(1, start + 10ms)->permits.empty()) << "it holds two";
}

TEST_F(LimitedGovernorTest, TheTimeInWhichItHoldsCallsUpIsThatOfTheClock) {
  governor.join(1, {500}, start);
  governor.join(2, {500}, start);
  const auto held_up = [&](BootTime now) {
    const auto all = governor.facts(now);
    return std::ranges::find(all, "openai", &BudgetFacts::provider)->held_up_time;
  };
  EXPECT_EQ(held_up(start), 0s);
  send(1, ready(400), start);
  send(2, ready(400), start);
  governor.turn(start);
  EXPECT_EQ(held_up(start + 3s), 3s) << "not that of 800 calls";
  send(1, ready(0), start + 3s);
  send(2, ready(0), start + 3s);
  governor.turn(start + 3s);
  EXPECT_EQ(held_up(start + 9s), 3s);
}

TEST_F(LimitedGovernorTest, NobodyGetsMoreThanItHasPlacesFor) {
  governor.join(1, {3}, start);
  send(1, ready(50, 1), start);
  EXPECT_EQ(grant_to(1, start)->permits.size(), 2u);
}

TEST(Governor, ADemandWithoutBoundGetsPermitsWithinBounds) {
  ProviderLimits limits;
  limits.requests_per_minute = 100'000'000'000;
  Governor governor({{{"openai", limits}}, {60s, 1s, 600s}}, start);
  governor.join(1, {0xffffffff}, start);
  wire::Demand demand;
  demand.provider = "openai";
  demand.ready_calls = 0xffffffff;
  governor.on_heartbeat(1, {"run", 1, 10, {demand}, 0}, start);
  const auto answers = governor.turn(start);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].grants.grants[0].permits.size(), wire::max_demand_sizes);
}

TEST_F(LimitedGovernorTest, AWorkerThatDoesNotReportAnExpiredPermitGetsNoMore) {
  governor.join(1, {50}, start);
  send(1, ready(1), start);
  governor.turn(start);
  send(1, ready(5), start + 310ms);
  EXPECT_TRUE(grant_to(1, start + 310ms)->permits.empty());
  auto demand = ready(5);
  demand.spent = {{1, false}};
  send(1, demand, start + 320ms);
  EXPECT_FALSE(grant_to(1, start + 320ms)->permits.empty());
  EXPECT_EQ(governor.facts(start)[0].permits_unused, 1u);
}

TEST_F(LimitedGovernorTest, AReportThatNeverComesIsLostAfterTwoHeartbeats) {
  governor.join(1, {50}, start);
  send(1, ready(1), start);
  governor.turn(start);
  send(1, ready(5), start + 2050ms);
  EXPECT_TRUE(grant_to(1, start + 2050ms)->permits.empty());
  send(1, ready(5), start + 2070ms);
  EXPECT_FALSE(grant_to(1, start + 2070ms)->permits.empty());
  EXPECT_EQ(governor.facts(start)[0].permits_unused, 1u);
}

TEST_F(LimitedGovernorTest, ASilentWorkerLetsNoFurtherPermitsPass) {
  governor.join(1, {50}, start);
  send(1, ready(50), start);
  for (auto now = start; now < start + 350ms; now += 10ms) governor.turn(now);
  const auto granted = governor.facts(start)[0].permits_granted;
  for (auto now = start + 350ms; now < start + 4s; now += 10ms) governor.turn(now);
  EXPECT_EQ(governor.facts(start)[0].permits_granted, granted) << "it may be dead";
}

TEST_F(LimitedGovernorTest, AReturnedPermitIsGrantedAgainInItsOwnWindow) {
  governor.join(1, {50}, start);
  governor.join(2, {50}, start);
  send(1, ready(1), start);
  const auto first = grant_to(1, start)->permits.at(0);
  auto demand = ready(0);
  demand.spent = {{first.id, false}};
  send(1, demand, start + 20ms);
  send(2, ready(1), start + 20ms);
  const auto again = grant_to(2, start + 20ms)->permits.at(0);
  EXPECT_NE(again.id, first.id);
  EXPECT_EQ(again.opens_us, first.opens_us);
  EXPECT_EQ(again.closes_us, first.closes_us);
}

TEST_F(LimitedGovernorTest, AWorkerThatBeginsAnewHoldsNoPermits) {
  governor.join(1, {50}, start);
  send(1, ready(3), start);
  EXPECT_EQ(grant_to(1, start)->permits.size(), 3u);
  governor.join(1, {50}, start + 5ms);
  send(1, ready(3), start + 10ms);
  EXPECT_EQ(grant_to(1, start + 10ms)->permits.size(), 3u);
}

TEST_F(LimitedGovernorTest, CallsDuringAPauseGetSlotsFromItsEndOn) {
  governor.join(1, {50}, start);
  auto demand = ready(10);
  demand.pause_ms = 500;
  send(1, demand, start);
  EXPECT_TRUE(grant_to(1, start)->permits.empty());
  EXPECT_EQ(governor.next_wake(start), start + 450ms);
  const auto grant = grant_to(1, start + 450ms);
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->permits.at(0).opens_us, 3'600'500'000u);
}

TEST_F(LimitedGovernorTest, RefusalsHalveTheBurstAndThenTheRate) {
  governor.join(1, {200}, start);
  auto now = start;
  std::uint64_t granted = 0;
  std::vector<std::uint64_t> held;
  const auto go = [&](BootTime time, std::uint32_t refused) {
    granted = 0;
    for (BootTime gone{}; gone < time; gone += 10ms) {
      now += 10ms;
      auto demand = ready(100);
      for (const auto id : held) demand.spent.push_back({id, true});
      demand.outcomes.answered = static_cast<std::uint32_t>(held.size());
      demand.outcomes.rate_limited = std::exchange(refused, 0);
      held.clear();
      send(1, demand, now);
      const auto grant = grant_to(1, now);
      ASSERT_TRUE(grant);
      for (const auto& permit : grant->permits) held.push_back(permit.id);
      granted += held.size();
    }
  };
  go(2s, 0);
  EXPECT_NEAR(static_cast<double>(granted), 215, 12) << "with those that open later";
  go(300ms, 10);
  EXPECT_EQ(governor.facts(now)[0].learned.burst, 5) << "of ten";
  EXPECT_EQ(*governor.facts(now)[0].effective_per_minute, 6000);
  for (int i = 0; i < 4; ++i) go(300ms, 10);
  EXPECT_EQ(*governor.facts(now)[0].effective_per_minute, 6000) << "5, 2.5, 1.25, 1";
  go(300ms, 10);
  EXPECT_FALSE(governor.facts(now)[0].learned.burst) << "it was not the burst";
  EXPECT_LE(*governor.facts(now)[0].effective_per_minute, 4500);
  go(15s, 0);
  EXPECT_EQ(*governor.facts(now)[0].effective_per_minute, 6000) << "it grows back to what is configured";
}

}  // namespace sluice::governor_test
