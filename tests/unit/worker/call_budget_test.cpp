#include "worker/budget/call_budget.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace call_budget_test {

using namespace std::chrono_literals;

class CallBudgetTest : public testing::Test {
 protected:
  CallBudgetTest() { clock.on_grants(boot(), boot(), boot()); }

  BootTime boot() const { return BootTime(std::chrono::duration_cast<BootTime>(now.time_since_epoch())); }
  Moment at() const { return {now, boot()}; }
  void pass(Duration time) {
    now += time;
    clock.on_grants(boot(), boot(), boot());
  }

  static wire::Grant unlimited(std::uint32_t places = wire::unlimited_places) {
    wire::Grant grant;
    grant.provider = "p";
    grant.unlimited = true;
    grant.places = places;
    return grant;
  }
  wire::Grant permits(std::vector<std::uint64_t> ids, bool probe = false) const {
    wire::Grant grant;
    grant.provider = "p";
    for (const auto id : ids) {
      const auto opens = static_cast<std::uint64_t>((boot() - 1ms).count());
      grant.permits.push_back({id, opens, opens + 51'000, {}, probe});
    }
    return grant;
  }
  bool starts(wire::CallSize size = {}) { return budget.start(size, clock, at()).has_value(); }
  wire::Demand take_demand(std::size_t ready = 0) { return budget.demand(ready, {}, now); }

  TimePoint now{1000s};
  ClockBounds clock;
  CallBudget budget{"p", 15min};
};

TEST_F(CallBudgetTest, NothingStartsBeforeTheFirstGrant) {
  EXPECT_FALSE(starts());
  EXPECT_TRUE(budget.is_due(1, now)) << "the coordinator does not know yet that a call is ready";
  take_demand(1);
  EXPECT_FALSE(budget.is_due(1, now));
  budget.take(unlimited(), now);
  EXPECT_TRUE(starts());
}

TEST_F(CallBudgetTest, EachCallTakesAPermit) {
  budget.take(permits({1, 2}), now);
  EXPECT_TRUE(starts());
  EXPECT_TRUE(starts());
  EXPECT_FALSE(starts());
  const auto demand = take_demand(3);
  EXPECT_EQ(demand.in_flight, 2u);
  EXPECT_EQ(demand.ready_calls, 3u);
  EXPECT_EQ(demand.spent, (std::vector<wire::SpentPermit>{{1, true}, {2, true}}));
}

TEST_F(CallBudgetTest, PlacesHoldWithAndWithoutPermits) {
  budget.take(unlimited(2), now);
  EXPECT_TRUE(starts());
  EXPECT_TRUE(starts());
  EXPECT_FALSE(starts());
  budget.ended();
  EXPECT_TRUE(starts());
  budget.take(unlimited(1), now);
  budget.ended();
  EXPECT_FALSE(starts()) << "fewer places than calls in flight: none starts until they fit";
  budget.ended();
  EXPECT_TRUE(starts());
  budget.ended();
  auto grant = permits({1});
  grant.places = 0;
  budget.take(grant, now);
  EXPECT_FALSE(starts());
}

TEST_F(CallBudgetTest, PlacesThatWereTakenAreReportedAtOnce) {
  budget.take(unlimited(4), now);
  EXPECT_TRUE(starts());
  take_demand();
  budget.take(unlimited(2), now);
  EXPECT_TRUE(budget.is_due(0, now)) << "the others wait for them";
  take_demand();
  budget.take(unlimited(3), now);
  EXPECT_FALSE(budget.is_due(0, now));
}

TEST_F(CallBudgetTest, AnAskedPauseIsNeverShorter) {
  budget.take(unlimited(), now);
  budget.pause(3s, now);
  EXPECT_TRUE(budget.is_due(0, now));
  EXPECT_EQ(take_demand().pause_ms, 3000u);
  EXPECT_FALSE(budget.is_due(0, now));
  auto shorter = unlimited();
  shorter.pause_ms = 500;
  budget.take(shorter, now);
  pass(2999ms);
  EXPECT_FALSE(starts());
  EXPECT_EQ(budget.next_chance(clock, at()), now + 1ms);
  EXPECT_EQ(take_demand().pause_ms, 1u) << "repeated until it is over";
  pass(1ms);
  EXPECT_TRUE(starts());
  EXPECT_EQ(take_demand().pause_ms, 0u);
  EXPECT_EQ(budget.paused(now), 3s);
  EXPECT_EQ(budget.out(now), 0s);
}

TEST_F(CallBudgetTest, APauseOfOthersIsKeptAndNotRepeated) {
  auto grant = unlimited();
  grant.pause_ms = 2000;
  grant.hold = wire::HoldReason::named_delay;
  budget.take(grant, now);
  EXPECT_FALSE(starts());
  EXPECT_EQ(take_demand().pause_ms, 0u);
  pass(2s);
  EXPECT_TRUE(starts());
}

TEST_F(CallBudgetTest, APauseOfOthersMayEndEarly) {
  auto grant = unlimited();
  grant.pause_ms = 86'400'000;
  grant.hold = wire::HoldReason::named_delay;
  budget.take(grant, now);
  EXPECT_TRUE(budget.in_long_pause(now));
  pass(1s);
  budget.take(unlimited(), now);
  EXPECT_FALSE(budget.in_long_pause(now));
  EXPECT_TRUE(starts());
  EXPECT_EQ(budget.paused(now), 1s);
}

TEST_F(CallBudgetTest, ALongPauseOfOthersIsOneToItsEnd) {
  auto grant = unlimited();
  grant.pause_ms = 20 * 60'000;
  budget.take(grant, now);
  pass(19min);
  grant.pause_ms = 60'000;
  budget.take(grant, now);
  EXPECT_TRUE(budget.in_long_pause(now));
  pass(1min);
  EXPECT_FALSE(budget.in_long_pause(now));
}

TEST_F(CallBudgetTest, APauseThatNoCaseCanWaitForIsNobodysTime) {
  budget.take(unlimited(), now);
  budget.pause(15min - 1ms, now);
  EXPECT_FALSE(budget.in_long_pause(now));
  pass(1min);
  EXPECT_EQ(budget.out(now), Duration::zero());
  budget.pause(15min, now);
  EXPECT_TRUE(budget.in_long_pause(now));
  pass(10min);
  auto repeated = unlimited();
  repeated.pause_ms = 300'000;
  budget.take(repeated, now);
  pass(10min);
  EXPECT_FALSE(budget.in_long_pause(now));
  EXPECT_EQ(budget.out(now), Duration(15min));
}

TEST_F(CallBudgetTest, APauseOfOthersThatNoCaseCanWaitForIsNobodysTimeEither) {
  auto grant = unlimited();
  grant.pause_ms = 86'400'000;
  budget.take(grant, now);
  EXPECT_TRUE(budget.in_long_pause(now));
  pass(24h);
  EXPECT_EQ(budget.out(now), Duration(24h));
}

// A pause as long as a case's time is a long one; what a grant names is what is left of it.
TEST_F(CallBudgetTest, APauseOfOthersIsLongThoughSomeOfItHasPassedOnTheWay) {
  auto grant = unlimited();
  grant.pause_ms = 15 * 60'000 - 6000;
  budget.take(grant, now);
  EXPECT_FALSE(budget.in_long_pause(now));
  grant.pause_ms = 15 * 60'000 - 2000;
  budget.take(grant, now);
  EXPECT_TRUE(budget.in_long_pause(now));
  CallBudget hasty("openai", 2s);
  grant.pause_ms = 1500;
  hasty.take(grant, now);
  EXPECT_FALSE(hasty.in_long_pause(now)) << "such a case can wait for it";
}

TEST_F(CallBudgetTest, InAnOutageOnlyProbesStart) {
  auto down = unlimited();
  down.hold = wire::HoldReason::outage;
  down.pause_ms = 1000;
  budget.take(down, now);
  EXPECT_TRUE(budget.in_outage());
  pass(5s);
  EXPECT_FALSE(starts()) << "it is over when the coordinator decides so";
  auto probe = permits({7}, true);
  probe.hold = wire::HoldReason::outage;
  budget.take(probe, now);
  const auto start = budget.start({}, clock, at());
  ASSERT_TRUE(start && start->permit);
  EXPECT_TRUE(start->permit->permit.probe);
  pass(1s);
  budget.take(unlimited(), now);
  EXPECT_TRUE(starts());
  pass(1s);
  EXPECT_EQ(budget.out(now), 6s);
  EXPECT_EQ(budget.paused(now), 6s);
}

// A pause ends with the worker whose word it was; that an outage was on kept it for good.
TEST_F(CallBudgetTest, APauseEndsEarlyInAnOutageToo) {
  auto paused = unlimited();
  paused.pause_ms = 86'400'000;
  budget.take(paused, now);
  EXPECT_TRUE(budget.in_long_pause(now));
  auto down = unlimited();
  down.hold = wire::HoldReason::outage;
  down.pause_ms = 5000;
  budget.take(down, now);
  const auto probe_at = [&] {
    auto probe = permits({7}, true);
    probe.hold = wire::HoldReason::outage;
    probe.pause_ms = 5000;
    budget.take(probe, now);
    return starts();
  };
  EXPECT_FALSE(probe_at());
  pass(5s);
  EXPECT_TRUE(probe_at());
}

TEST_F(CallBudgetTest, AfterGivingUpNothingStarts) {
  auto over = unlimited();
  over.hold = wire::HoldReason::given_up;
  budget.take(over, now);
  EXPECT_TRUE(budget.given_up());
  EXPECT_FALSE(starts());
}

TEST_F(CallBudgetTest, WithoutPermitsCallsThatComeAndGoAreNotReported) {
  budget.take(unlimited(), now);
  take_demand();
  for (int call = 0; call < 1000; ++call) {
    EXPECT_TRUE(starts());
    budget.answered(2ms, now);
    budget.ended();
    EXPECT_FALSE(budget.is_due(0, now));
  }
  const auto demand = take_demand();
  EXPECT_EQ(demand.outcomes.answered, 1000u);
  EXPECT_EQ(demand.outcomes.latency_sum_us, 2'000'000u);
  EXPECT_EQ(demand.outcomes.latency_deviation_us, 0u);
  EXPECT_EQ(take_demand().outcomes, wire::CallOutcomes{}) << "each is reported once";
}

TEST_F(CallBudgetTest, ReportsHowMuchAnswersDifferInLength) {
  budget.take(unlimited(), now);
  take_demand();
  for (const auto latency : {2ms, 4ms, 4ms, 4ms, 5ms, 5ms, 7ms, 9ms}) budget.answered(latency, now);
  const auto outcomes = take_demand().outcomes;
  EXPECT_EQ(outcomes.latency_sum_us, 40'000u);
  EXPECT_EQ(outcomes.latency_deviation_us, 2'000u);
  EXPECT_FALSE(take_demand().outcomes.latency_deviation_us) << "of no answer there is none";
}

TEST_F(CallBudgetTest, FailuresAndUnnamedLimitsAreReportedAtOnce) {
  budget.take(unlimited(), now);
  take_demand();
  budget.failed();
  EXPECT_TRUE(budget.is_due(0, now));
  EXPECT_EQ(take_demand().outcomes.failed, 1u);
  budget.was_rate_limited();
  EXPECT_TRUE(budget.is_due(0, now));
  EXPECT_EQ(take_demand().outcomes.rate_limited, 1u);
  budget.announced({60, 0, 0, 0}, {});
  EXPECT_TRUE(budget.is_due(0, now));
  EXPECT_EQ(take_demand().announced.requests_per_minute, 60u);
  EXPECT_FALSE(budget.is_due(0, now));
}

TEST_F(CallBudgetTest, ASearchLearnsOfEachRoundButNotOfEachCall) {
  auto grant = unlimited(20);
  grant.searched = true;
  budget.take(grant, now);
  EXPECT_EQ(budget.searched_places(), 20u);
  take_demand(5);
  for (int call = 1; call <= 20; ++call) {
    EXPECT_FALSE(budget.is_due(5, now)) << call;
    budget.answered(1ms, now);
  }
  EXPECT_FALSE(budget.is_due(5, now)) << "rounds of no time at all show little";
  pass(50ms);
  EXPECT_TRUE(budget.is_due(5, now));
  take_demand(5);
  EXPECT_TRUE(budget.is_due(0, now)) << "nothing is wanted any more";
}

TEST_F(CallBudgetTest, WhoSharesAFixedNumberOfPlacesReportsWhatIsWanted) {
  budget.take(unlimited(1), now);
  take_demand(2);
  EXPECT_TRUE(starts());
  EXPECT_FALSE(budget.is_due(1, now)) << "one of the two has started";
  EXPECT_TRUE(budget.is_due(2, now));
}

TEST_F(CallBudgetTest, WithPermitsWhatIsWantedIsReportedAtOnceAndTheRestIsGathered) {
  budget.take(permits({1}), now);
  take_demand(1);
  EXPECT_FALSE(budget.is_due(1, now));
  EXPECT_TRUE(budget.is_due(2, now));
  EXPECT_TRUE(starts());
  pass(99ms);
  EXPECT_FALSE(budget.is_due(0, now)) << "the coordinator knew that it would start";
  pass(1ms);
  EXPECT_TRUE(budget.is_due(0, now));
  EXPECT_EQ(take_demand(0).spent.size(), 1u);
  EXPECT_FALSE(budget.is_due(0, now));
  budget.ended();
  budget.settle(1, {10, 20});
  EXPECT_TRUE(budget.is_due(0, now));
  EXPECT_EQ(take_demand(0).settled, (std::vector<wire::SettledCall>{{1, {10, 20}}}));
}

TEST_F(CallBudgetTest, ACallThatWaitsIsReportedAtOnceWhereNoOtherIsKnownToWait) {
  budget.take(permits({}), now);
  take_demand(3);
  budget.take(permits({1, 2}), now);
  EXPECT_TRUE(starts());
  EXPECT_TRUE(starts());
  EXPECT_FALSE(budget.is_due(1, now)) << "one more is known to wait";
  budget.take(permits({3}), now);
  EXPECT_TRUE(starts());
  budget.ended();
  EXPECT_TRUE(budget.is_due(1, now)) << "a permit was sent for each that is known";
}

TEST_F(CallBudgetTest, APlaceThatIsFreeAgainIsReportedAtOnceWhereNoOtherIs) {
  auto none = permits({});
  auto two = permits({1, 2});
  none.places = two.places = 2;
  budget.take(none, now);
  take_demand(5);
  budget.take(two, now);
  EXPECT_TRUE(starts());
  EXPECT_TRUE(starts());
  EXPECT_FALSE(budget.is_due(3, now));
  budget.ended();
  EXPECT_TRUE(budget.is_due(4, now));
}

TEST_F(CallBudgetTest, UnusedPermitsGoBackAtOnce) {
  budget.take(permits({1, 2, 3}), now);
  take_demand(3);
  const std::vector<wire::CallSize> ready(1);
  budget.give_back(ready, clock, at());
  EXPECT_TRUE(budget.is_due(3, now));
  EXPECT_EQ(take_demand(3).spent.size(), 2u);
  pass(60ms);
  budget.give_back(ready, clock, at());
  EXPECT_EQ(take_demand(3).spent.size(), 1u) << "closed";
}

TEST_F(CallBudgetTest, WhoBeginsAnewHoldsNothing) {
  budget.take(permits({1}), now);
  budget.settle(7, {});
  budget.forget_permits();
  EXPECT_FALSE(starts());
  EXPECT_TRUE(take_demand(1).spent.empty());
  EXPECT_TRUE(take_demand(1).settled.empty());
}

TEST_F(CallBudgetTest, AfterASilenceNothingStartsUntilTheNextGrant) {
  budget.take(unlimited(), now);
  EXPECT_TRUE(starts());
  budget.suspend();
  EXPECT_FALSE(starts());
  budget.take(unlimited(), now);
  EXPECT_TRUE(starts());
  budget.forget_permits();
  EXPECT_FALSE(starts());
}

TEST_F(CallBudgetTest, ADelayBeyondTheWiresRangeIsTheLongestThatFits) {
  budget.pause(std::chrono::hours(24 * 60), now);
  EXPECT_EQ(take_demand(1).pause_ms, 0xffffffffu);
}

TEST_F(CallBudgetTest, ACallBeyondTheCeilingEndsWithWhatWouldFit) {
  auto grant = unlimited();
  EXPECT_FALSE(budget.ceiling_problem({1'000'000, 1'000'000}));
  grant.ceiling = {5000, 0, 0};
  budget.take(grant, now);
  EXPECT_TRUE(budget.needs_sizes());
  EXPECT_FALSE(budget.ceiling_problem({1000, 4000}));
  const auto problem = budget.ceiling_problem({1000, 4096});
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->reason, Reason::request_refused);
  EXPECT_NE(problem->message.find("lower --max-output-tokens to 4000"), std::string::npos)
      << problem->message;
  EXPECT_NE(problem->message.find("tokens_per_minute"), std::string::npos) << problem->message;
  EXPECT_NE(problem->message.find("\"p\""), std::string::npos) << problem->message;
  EXPECT_NE(budget.ceiling_problem({5000, 1})->message.find("shorten the case"), std::string::npos);
  grant.ceiling = {0, 100, 200};
  budget.take(grant, now);
  EXPECT_FALSE(budget.ceiling_problem({100, 200}));
  EXPECT_NE(budget.ceiling_problem({101, 0})->message.find("input_tokens_per_minute"), std::string::npos);
  EXPECT_NE(budget.ceiling_problem({0, 201})->message.find("lower --max-output-tokens to 200"),
            std::string::npos);
}

TEST(HoldTime, AddsUpWhatWasOnHold) {
  HoldTime hold;
  TimePoint now{100s};
  EXPECT_EQ(hold.total(now), 0s);
  hold.hold_until(now + 5s, now);
  EXPECT_EQ(hold.total(now + 2s), 2s);
  EXPECT_EQ(hold.total(now + 9s), 5s);
  hold.hold_until(now + 3s, now + 2s);
  EXPECT_EQ(hold.total(now + 9s), 3s) << "its end was moved";
  hold.hold_until(TimePoint::max(), now + 10s);
  hold.hold_until(now, now + 12s);
  EXPECT_EQ(hold.total(now + 20s), 5s) << "it ended then";
}

}  // namespace call_budget_test
}  // namespace sluice
