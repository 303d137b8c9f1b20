// What a run leaves to the next one, and how that one begins with it.
#include "coordinator/governor/governor.hpp"
#include "coordinator/governor/rate_proof.hpp"
#include "coordinator/governor/rate_search.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

namespace sluice::remembered_limits_test {

using namespace std::chrono_literals;

constexpr BootTime start = std::chrono::hours(1);

/// One worker tells of a limit of 6,000 a minute; an earlier run knew 120.
BudgetFacts facts_beside(LimitSource source, std::uint32_t announced = 6000) {
  LearnedLimits known;
  known.requests_per_minute = 120;
  known.source = source;
  Governor governor({{{"openai", {}}}, {60s, 1s, 600s}, {known}}, start);
  governor.join(1, {50}, start);
  wire::Demand demand;
  demand.provider = "openai";
  demand.ready_calls = 10;
  demand.sizes.resize(10);
  demand.announced.requests_per_minute = announced;
  demand.outcomes.answered = 1;
  governor.on_heartbeat(1, {"run", 1, 10, {std::move(demand)}, 0}, start);
  governor.turn(start);
  return governor.facts(start)[0];
}

// A key that was raised tenfold was used at the old limit for the whole of the next run.
TEST(RememberedLimits, WhatIsAnnouncedAnewReplacesWhatWasAnnounced) {
  const auto facts = facts_beside(LimitSource::announced);
  EXPECT_EQ(facts.effective_per_minute, 6000);
  EXPECT_EQ(facts.learned.requests_per_minute, 6000);
}

// A run that read no header handed it on as found, and then it held against every header.
TEST(RememberedLimits, WhatWasAnnouncedStaysThatInARunWithoutHeaders) {
  for (const auto source : {LimitSource::announced, LimitSource::found}) {
    const auto learned = facts_beside(source, 0).learned;
    EXPECT_EQ(learned.requests_per_minute, 120);
    EXPECT_EQ(learned.source, source);
  }
}

// A report of a run that called nobody had "Learnt: max_in_flight = 2".
TEST(RememberedLimits, WhatIsOnlyHandedOnWasNotLearnt) {
  LearnedLimits known;
  known.requests_per_minute = 1055.3;
  known.in_flight = 2;
  const Governor idle({{{"openai", {}}}, {60s, 1s, 600s}, {known}}, start);
  const auto facts = idle.facts(start + 1s)[0];
  EXPECT_EQ(facts.learned.in_flight, 2) << "the next run of this process begins with it";
  EXPECT_TRUE(facts.learned_before);
  EXPECT_FALSE(facts.has_learned());
  EXPECT_FALSE(facts_beside(LimitSource::found, 0).has_learned()) << "one call shows nothing new";
  EXPECT_TRUE(facts_beside(LimitSource::announced).has_learned());
}

TEST(RememberedLimits, WhatRefusalsShowedHoldsWhateverIsAnnounced) {
  EXPECT_EQ(facts_beside(LimitSource::found).effective_per_minute, 120);
}

// Of 1,667 calls a second, spaced as for a bucket of one, 63 were made, and the bucket was said to be learnt.
TEST(RememberedLimits, ARateWithoutABurstCountsOnTheUsualOne) {
  RateSearch search;
  search.begin_with(1000, std::nullopt, start);
  EXPECT_GE(search.burst(), 50);
  EXPECT_FALSE(search.found_burst());
  search.begin_with(20, std::nullopt, start);
  EXPECT_EQ(search.burst(), 2) << "of that rate";
  search.begin_with(1000, 3, start);
  EXPECT_EQ(search.burst(), 3);
  EXPECT_EQ(search.found_burst(), 3);
}

/// A window of a minute, sixty calls each, which are made in three seconds.
RateProof after_windows(RateProof::Time& time) {
  RateProof proof;
  for (int window = 0; window < 3; ++window) {
    for (int part = 0; part < 6; ++part) {
      time = {time.now + 500ms, time.held_up + 500ms};
      proof.on_outcomes({10, 0}, {20.0, {}}, time);
    }
    proof.on_outcomes({1, 1}, {20.0, {}}, time);
    time = {time.now + 57s, time.held_up + 57s};
  }
  return proof;
}

// 60 a minute, all at once, were handed on as 1,100 a minute.
TEST(RememberedLimits, AWindowThatIsEmptiedBetweenLongPausesIsNoSuchRate) {
  RateProof::Time time{start, {}};
  const auto proof = after_windows(time);
  ASSERT_TRUE(proof.proved(time, 171s));
  EXPECT_NEAR(*proof.proved(time, 171s), 1, 0.05);
  EXPECT_EQ(proof.proved(time, 120s), 20) << "twice only";
}

// A setting of 20 a second was said to be refused "as if the limit were 8.3/s", where two were taken.
TEST(RememberedLimits, AGuessIsNoMoreThanWhatWasTaken) {
  RateProof proof;
  RateProof::Time time{start, {}};
  proof.on_outcomes({4, 0}, {}, time);
  for (int second = 0; second < 10; ++second) {
    time = {time.now + 1s, time.held_up + 1s};
    proof.on_outcomes({4, 2}, {8.0 - 0.5 * second, {}}, time);
  }
  EXPECT_NEAR(proof.believed(8, time, {}), 2.4, 0.1);
  EXPECT_EQ(RateProof().believed(8, {start, {}}, {}), 8) << "nothing is known";
}

// After a short overload 20 a minute were reported and left to the next run, with 150 answered a minute.
TEST(RememberedLimits, ARateThatMoreIsTakenThanOfLateIsHigher) {
  for (const double burst : {0.0, 100.0}) {
    RateProof proof;
    RateProof::Time time{start, {}};
    const auto take = [&](std::uint32_t a_second, int seconds) {
      for (int second = 0; second < seconds; ++second) {
        proof.on_outcomes({a_second, 0}, {5.0, burst}, time);
        time = {time.now + 1s, time.held_up + 1s};
      }
    };
    take(10, 4);
    EXPECT_EQ(proof.proved(time, {}), 5) << "so soon its bucket may have filled";
    take(10, 16);
    if (burst > 0) {
      EXPECT_EQ(proof.proved(time, {}), 5) << "what was in a full bucket is no rate";
      continue;
    }
    EXPECT_NEAR(*proof.proved(time, {}), 10, 1);
    take(5, 60);
    EXPECT_EQ(proof.proved(time, {}), 5) << "no more was needed, or taken, since";
  }
}

}  // namespace sluice::remembered_limits_test
