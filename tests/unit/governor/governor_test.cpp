#include "coordinator/governor/defaults.hpp"
#include "tests/unit/governor/governor_fixture.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace sluice::governor_test {

TEST_F(GovernorTest, GrantsWithoutLimitWhatNobodyLimits) {
  governor.join(1, {5}, start);
  const auto grant = grant_to(1, start);
  ASSERT_TRUE(grant) << "before it asks";
  EXPECT_TRUE(grant->unlimited);
  EXPECT_EQ(grant->pause_ms, 0u);
  EXPECT_EQ(grant->hold, wire::HoldReason::none);
}

TEST_F(GovernorTest, SendsEachChangeOnceAndAnswersEveryHeartbeat) {
  governor.join(1, {5}, start);
  EXPECT_TRUE(grant_to(1, start));
  EXPECT_FALSE(grant_to(1, start));
  send(1, ready(0), start);
  EXPECT_TRUE(grant_to(1, start));
}

TEST_F(GovernorTest, KnowsTheOldestCallOfAllWorkersAndWhatAnswersTake) {
  governor.join(1, {5}, start);
  governor.join(2, {5}, start);
  auto demand = ready(0, 2);
  demand.oldest_ms = 42'000;
  demand.outcomes = {.answered = 3, .latency_sum_us = 6'000'000, .timed_out = 1};
  send(1, demand, start);
  demand = ready(0, 1);
  demand.oldest_ms = 5'000;
  demand.outcomes = {.answered = 1, .latency_sum_us = 2'000'000, .timed_out = 2};
  send(2, demand, start);
  auto facts = governor.facts(start)[0];
  EXPECT_EQ(facts.oldest_call, 42s);
  EXPECT_EQ(facts.mean_latency, 2s);
  EXPECT_EQ(facts.timed_out, 3u);
  send(1, ready(0), start);
  facts = governor.facts(start)[0];
  EXPECT_EQ(facts.oldest_call, 5s);
  EXPECT_EQ(facts.timed_out, 3u);
}

// The sum of two such was no number, nor four times their mean, to which the oldest call is held.
TEST_F(GovernorTest, NoLatencyIsLongerThanARequestMayTake) {
  governor.join(1, {5}, start);
  auto demand = ready(0, 1);
  demand.outcomes = {.answered = 1, .latency_sum_us = std::numeric_limits<std::uint64_t>::max() / 2};
  for (int report = 0; report < 3; ++report) send(1, demand, start);
  EXPECT_EQ(governor.facts(start)[0].mean_latency, defaults::longest_latency);
}

TEST_F(GovernorTest, IgnoresWhoIsNotThere) {
  send(7, ready(3), start);
  EXPECT_TRUE(governor.turn(start).empty());
}

TEST_F(GovernorTest, APauseIsForAllAndEnds) {
  governor.join(1, {5}, start);
  governor.join(2, {5}, start);
  governor.turn(start);
  send(2, paused(1000), start);
  const auto grant = grant_to(1, start);
  ASSERT_TRUE(grant) << "it did not ask";
  EXPECT_EQ(grant->pause_ms, 1000u);
  EXPECT_EQ(grant->hold, wire::HoldReason::named_delay);
  EXPECT_EQ(pause_at(start + 600ms), 400u);
  EXPECT_EQ(pause_at(start + 600ms + 1us), 400u) << "rounded up: never shorter than the server named";
  EXPECT_EQ(pause_at(start + 999ms + 999us), 1u);
  EXPECT_EQ(pause_at(start + 1000ms), 0u);
}

TEST_F(GovernorTest, PausesAreLengthenedAndNeverShortened) {
  governor.join(1, {5}, start);
  send(1, paused(1000), start);
  send(1, paused(100), start);
  EXPECT_EQ(pause_at(start), 1000u);
  send(1, paused(1010), start);
  EXPECT_EQ(pause_at(start), 1010u) << "the others must not call 10 ms early";
  send(1, paused(5000), start);
  EXPECT_EQ(pause_at(start), 5000u);
}

// Nothing was sent for 7 s, and no line said for how long.
TEST_F(GovernorTest, ALongPauseIsNotedOnceWithItsLength) {
  governor.join(1, {5}, start);
  send(1, paused(2000), start);
  const auto of_pauses = [&] {
    std::vector<BootTime> noted;
    for (const auto& notice : governor.take_notices()) {
      if (notice.event == BudgetEvent::paused) noted.push_back(notice.after);
    }
    return noted;
  };
  EXPECT_TRUE(of_pauses().empty());
  send(1, paused(7000), start + 3s);
  EXPECT_EQ(of_pauses(), std::vector<BootTime>{7s});
  send(1, paused(6500), start + 4s);
  send(1, paused(8000), start + 20s);
  EXPECT_TRUE(of_pauses().empty());
  send(1, paused(60'000), start + 40s);
  EXPECT_EQ(of_pauses(), std::vector<BootTime>{60s});
}

TEST_F(GovernorTest, AShortPauseRightAfterAnotherCounts) {
  governor.join(1, {5}, start);
  send(1, paused(1000), start);
  send(1, paused(15), start + 1001ms);
  EXPECT_EQ(pause_at(start + 1001ms), 15u);
}

TEST_F(GovernorTest, WhatIsLeftOfAPauseIsNoNewsToOthers) {
  governor.join(1, {5}, start);
  governor.join(2, {5}, start);
  send(1, paused(3000), start);
  governor.turn(start);
  send(1, paused(2000), start + 1s);
  EXPECT_FALSE(grant_to(2, start + 1s));
}

// One worker's word held all the others for as long as it had said, also when it was gone.
TEST_F(GovernorTest, APauseEndsWithTheWorkerThatWasAskedForIt) {
  for (const WorkerId worker : {1, 2, 3}) governor.join(worker, {5}, start);
  send(2, paused(60'000), start);
  send(3, paused(10'000), start);
  EXPECT_EQ(pause_at(start), 60'000u);
  governor.leave(2, false, start + 1s);
  auto grant = grant_to(1, start + 1s);
  ASSERT_TRUE(grant) << "it is told at once";
  EXPECT_EQ(grant->pause_ms, 9000u) << "another was asked for this much";
  governor.join(3, {5}, start + 2s);
  grant = grant_to(1, start + 2s);
  EXPECT_TRUE(!grant || grant->pause_ms == 8000u) << "it says HELLO again, and its provider's word stands";
  governor.leave(3, false, start + 2s);
  grant = grant_to(1, start + 2s);
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->pause_ms, 0u);
  EXPECT_EQ(grant->hold, wire::HoldReason::none);
  EXPECT_EQ(governor.facts(start + 2s).at(0).paused_time, 2s);
}

TEST_F(GovernorTest, CallsGoOnWhenAPauseEndsEarly) {
  ProviderLimits limits;
  limits.requests_per_minute = 600;
  const auto permits_after = [&](std::uint32_t pause_ms) {
    governor = Governor({{{"openai", limits}}, {60s, 1s, 600s}}, start);
    governor.join(1, {5}, start);
    governor.join(2, {5}, start);
    send(2, paused(pause_ms), start);
    governor.turn(start);
    governor.leave(2, false, start + 1s);
    send(1, ready(3), start + 1s);
    std::size_t permits = 0;
    for (auto now = start + 1s; now < start + 3s; now += 100ms) {
      if (const auto grant = grant_to(1, now)) permits += grant->permits.size();
    }
    return permits;
  };
  const auto without = permits_after(0);
  EXPECT_GT(without, 0u);
  EXPECT_EQ(permits_after(600'000), without);
}

TEST_F(GovernorTest, ProvidersPauseEachForItself) {
  governor.join(1, {5}, start);
  send(1, paused(1000), start);
  EXPECT_EQ(pause_at(start, "openai"), 1000u);
  EXPECT_EQ(pause_at(start, "gemini"), 0u);
}

TEST_F(GovernorTest, AnnouncedLimitsAreLearntAndShown) {
  governor.join(1, {50}, start);
  auto demand = ready(50);
  demand.announced.requests_per_minute = 600;
  send(1, demand, start);
  auto grant = grant_to(1, start);
  ASSERT_TRUE(grant);
  EXPECT_FALSE(grant->unlimited);
  const auto facts = governor.facts(start)[0];
  EXPECT_EQ(facts.requests, (KnownLimit{600, LimitSource::announced}));
  EXPECT_EQ(facts.effective_per_minute, 600);
}

TEST_F(GovernorTest, LimitsOfTokensThatOneLearnsHoldForCallsOfTheOthers) {
  governor.join(1, {50}, start);
  governor.join(2, {50}, start);
  send(2, ready(20), start);
  governor.turn(start);
  auto demand = ready(1);
  demand.announced.tokens_per_minute = 600'000;
  send(1, demand, start);
  const auto first = grant_to(2, start);
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->unlimited);
  EXPECT_TRUE(first->permits.empty()) << "how large its calls are is not known";
  auto sized = ready(1);
  sized.sizes = {{1000, 1000}};
  send(2, sized, start + 1s);
  const auto second = grant_to(2, start + 1s);
  ASSERT_TRUE(second);
  ASSERT_EQ(second->permits.size(), 1u);
  EXPECT_EQ(second->permits[0].size, (wire::CallSize{1000, 1000}));
}

// A single answer with x-ratelimit-limit-tokens: 1 turned 51 of 60 cases into errors.
TEST_F(GovernorTest, ALimitThatIsOnlyAnnouncedEndsNoCall) {
  governor.join(1, {50}, start);
  auto demand = ready(1);
  demand.announced.tokens_per_minute = 600;
  demand.sizes = {{900, 4096}};
  send(1, demand, start);
  EXPECT_EQ(grant_to(1, start)->ceiling, wire::CallCeiling{});
  std::vector<wire::Permit> permits;
  for (auto now = start; permits.empty() && now < start + 2min; now += 1s) {
    send(1, demand, now);
    permits = grant_to(1, now)->permits;
  }
  ASSERT_EQ(permits.size(), 1u) << "when its bucket is full";
  EXPECT_EQ(permits[0].size, (wire::CallSize{900, 4096}));
}

TEST_F(GovernorTest, DoubtedLimitsAreReportedOnceAndShown) {
  governor.join(1, {50}, start);
  auto demand = ready(1);
  demand.doubted.tokens_per_minute = 1;
  send(1, demand, start);
  send(1, demand, start + 1s);
  const auto notices = governor.take_notices();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].event, BudgetEvent::doubts_limits);
  EXPECT_EQ(notices[0].doubted, (wire::AnnouncedLimits{0, 1, 0, 0}));
  send(1, ready(1), start + 2s);
  const auto facts = governor.facts(start + 2s)[0];
  EXPECT_EQ(facts.doubted, (wire::AnnouncedLimits{0, 1, 0, 0}));
  EXPECT_FALSE(facts.tokens);
}

TEST_F(GovernorTest, OfDifferentAnnouncedLimitsTheLeastHolds) {
  governor.join(1, {50}, start);
  governor.join(2, {50}, start);
  const auto announce = [&](WorkerId worker, std::uint64_t limit) {
    auto demand = ready(1);
    demand.announced.requests_per_minute = limit;
    send(worker, demand, start);
    return governor.facts(start)[0].requests;
  };
  EXPECT_EQ(announce(1, 600), (KnownLimit{600, LimitSource::announced}));
  EXPECT_EQ(announce(2, 300), (KnownLimit{300, LimitSource::announced}));
  EXPECT_EQ(announce(1, 600), (KnownLimit{300, LimitSource::announced})) << "it says nothing new";
  EXPECT_EQ(announce(2, 0), (KnownLimit{300, LimitSource::announced})) << "not named is not lifted";
  EXPECT_EQ(announce(2, 900), (KnownLimit{600, LimitSource::announced}));
}

TEST_F(GovernorTest, ALimitThatOnlyOneReadThatHasGoneHoldsNobodyUpForLong) {
  governor.join(1, {5}, start);
  governor.join(2, {5}, start);
  auto lie = ready(1);
  lie.announced.requests_per_minute = 2;
  send(2, lie, start);
  governor.leave(2, false, start);
  EXPECT_EQ(governor.facts(start)[0].learned.requests_per_minute, 2.0);
  EXPECT_FALSE(grant_to(1, start)->unlimited);
  auto honest = ready(1);
  honest.outcomes.answered = 1;
  send(1, honest, start + 1s);
  EXPECT_TRUE(grant_to(1, start + 1s)->unlimited);
  EXPECT_TRUE(governor.facts(start + 1s)[0].learned.empty());
}

TEST_F(GovernorTest, NothingIsLearntOfOneThatIsSentAway) {
  governor.join(1, {5}, start);
  auto lie = ready(1);
  lie.announced.requests_per_minute = 2;
  send(1, lie, start);
  governor.distrust(1, start);
  governor.leave(1, false, start);
  EXPECT_TRUE(governor.facts(start)[0].learned.empty());
}

TEST_F(GovernorTest, AProbeThatHangsKeepsNobodyAwake) {
  governor.join(1, {1}, start);
  auto demand = ready(5);
  demand.outcomes.answered = 1;
  send(1, demand, start);
  governor.turn(start);
  demand.outcomes = {.failed = 5};
  send(1, demand, start + 1s);
  governor.turn(start + 1s);
  const auto probe = grant_to(1, start + 2s);
  ASSERT_TRUE(probe);
  ASSERT_EQ(probe->permits.size(), 1u);
  auto under_way = ready(5, 1);
  under_way.spent = {{probe->permits[0].id, true}};
  send(1, under_way, start + 2100ms);
  governor.turn(start + 2100ms);
  governor.turn(start + 30s);
  const auto wake = governor.next_wake(start + 30s);
  ASSERT_TRUE(wake);
  EXPECT_GT(*wake, start + 31s) << "the only worker has no place for another probe";
}

TEST_F(GovernorTest, AnOutageHoldsAllAndIsProbedByOneCall) {
  governor.join(1, {5}, start);
  governor.join(2, {5}, start);
  auto demand = ready(5);
  demand.outcomes.answered = 1;
  send(1, demand, start);
  governor.turn(start);
  demand.outcomes = {.failed = 5};
  send(1, demand, start + 1s);
  send(2, ready(3), start + 1s);
  for (const auto& answer : governor.turn(start + 1s)) {
    EXPECT_EQ(answer.grants.grants[0].hold, wire::HoldReason::outage);
    EXPECT_GE(answer.grants.grants[0].pause_ms, 1000u);
    EXPECT_TRUE(answer.grants.grants[0].permits.empty());
  }
  EXPECT_EQ(governor.next_wake(start + 1s), start + 2s);
  EXPECT_FALSE(governor.facts(start + 1s)[0].probing);
  std::size_t probes = 0;
  for (const auto& answer : governor.turn(start + 2s)) {
    for (const auto& permit : answer.grants.grants[0].permits) probes += permit.probe ? 1 : 0;
  }
  EXPECT_EQ(probes, 1u);
  EXPECT_TRUE(governor.facts(start + 2s)[0].probing);
  demand.outcomes = {.answered = 1, .latency_sum_us = 100};
  send(1, demand, start + 2100ms);
  const auto grant_to_other = grant_to(2, start + 2100ms);
  ASSERT_TRUE(grant_to_other) << "that it is over";
  EXPECT_EQ(grant_to_other->hold, wire::HoldReason::none);
  EXPECT_EQ(grant_to_other->pause_ms, 0u);
}

TEST_F(GovernorTest, RequestsThatAreWrongDoNotAffectTheConcurrency) {
  const auto places_found = [](std::uint32_t declined) {
    Governor searching({{{"openai", {}}}, {60s, 1s, 600s}}, start);
    searching.join(1, {8}, start);
    auto now = start;
    std::uint32_t places = 8;
    for (int round = 0; round < 200; ++round) {
      // A server with room for 20.
      wire::Demand demand;
      demand.provider = "openai";
      demand.ready_calls = 500;
      demand.in_flight = places;
      demand.outcomes.answered = places;
      demand.outcomes.latency_sum_us = std::uint64_t{places} * 100'000 * std::max(20u, places) / 20;
      demand.outcomes.declined = declined;
      now += 1s;
      searching.on_heartbeat(1, {"run", static_cast<std::uint64_t>(round) + 1, 10, {demand}, 0}, now);
      searching.turn(now);
      places = std::max(1u, searching.facts(now)[0].places);
    }
    return places;
  };
  EXPECT_EQ(places_found(30), places_found(0));
}

}  // namespace sluice::governor_test
