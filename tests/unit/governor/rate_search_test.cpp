#include "tests/unit/governor/search_steps.hpp"

#include <optional>
#include <utility>

#include <gtest/gtest.h>

namespace sluice::rate_search_test {

TEST(RateSearch, KnowsNoRateUntilACallIsRefused) {
  RateSearch search;
  auto now = start;
  run_at(search, 100, now, 5s);
  EXPECT_FALSE(search.rate());
}

TEST(RateSearch, RefusalsCutToHalfOfWhatWasAccepted) {
  RateSearch search;
  auto now = start;
  run_at(search, 100, now, 2s);
  EXPECT_TRUE(search.on_outcomes(0, 8, 0, now));
  EXPECT_NEAR(*search.rate(), 45, 5);
}

TEST(RateSearch, ASingleRefusalAmongManyCallsDoesNotCut) {
  RateSearch search;
  auto now = start;
  run_at(search, 100, now, 2s);
  EXPECT_FALSE(search.on_outcomes(0, 1, 0, now));
  EXPECT_FALSE(search.rate());
  EXPECT_TRUE(search.on_outcomes(0, 3, 0, now)) << "more than a twentieth of half a second's";
}

TEST(RateSearch, AtLowRatesTwoRefusalsCut) {
  RateSearch search;
  auto now = start;
  run_at(search, 2, now, 5s);
  EXPECT_FALSE(search.on_outcomes(0, 1, 0, now));
  EXPECT_TRUE(search.on_outcomes(0, 1, 0, now));
  EXPECT_GT(*search.rate(), 0.4);
  EXPECT_LT(*search.rate(), 2);
}

TEST(RateSearch, WhatIsRefusedBeforeAnythingWasAcceptedDoesNotStallTheRun) {
  RateSearch search;
  auto now = start;
  EXPECT_TRUE(search.on_outcomes(5, 5, 0, now));
  EXPECT_GE(*search.rate(), 0.5);
  for (int call = 0; call < 5; ++call) {
    run_at(search, 2, now += 1s, 1s);
    search.on_outcomes(0, 2, 0, now);
  }
  EXPECT_FALSE(search.accepted()) << "nothing was";
  const auto again = now;
  while (*search.rate() < 50 && now < again + 60s) run_at(search, *search.rate(), now, 500ms);
  EXPECT_LT(now, again + 20s) << "it grows as fast as at the start, not in slow steps";
}

TEST(RateSearch, WhatIsRefusedAtAnyRateDoesNotStarveTheFleet) {
  RateSearch search;
  auto now = start;
  double owed = 0;
  double refusals_owed = 0;
  run_at(search, 100, now, 2s);
  search.on_outcomes(0, 8, 0, now);
  double started_in_the_end = 0;
  for (int step = 0; step < 12'000; ++step) {
    now += 10ms;
    owed += std::min(100.0, *search.rate()) * 0.01;
    const auto started = static_cast<std::uint32_t>(owed);
    owed -= started;
    refusals_owed += started * 0.1;
    const auto refused = static_cast<std::uint32_t>(refusals_owed);
    refusals_owed -= refused;
    search.on_outcomes(started, refused, 0, now);
    search.grow(true, std::nullopt, now);
    if (step >= 6000) started_in_the_end += started;
  }
  EXPECT_GE(started_in_the_end / 60, 50) << "every tenth call is refused, whatever the rate";
}

TEST(RateSearch, DoublesUntilTheNextRefusalAndThenStaysJustBelowWhatWasAccepted) {
  RateSearch search;
  auto now = start;
  run_at(search, 100, now, 2s);
  search.on_outcomes(0, 8, 0, now);
  EXPECT_NEAR(*search.rate(), 45, 5);
  run_at(search, 50, now, 400ms);
  EXPECT_NEAR(*search.rate(), 90, 10);
  run_at(search, 100, now, 200ms);
  EXPECT_TRUE(search.on_outcomes(0, 8, 0, now));
  ASSERT_TRUE(search.accepted());
  EXPECT_NEAR(*search.accepted(), 70, 15) << "what was accepted since the first cut";
  EXPECT_NEAR(*search.rate(), *search.accepted() / 2, 1);
  run_at(search, 50, now, 390ms);
  EXPECT_NEAR(*search.rate(), *search.accepted() / 2, 1) << "half for a while";
  run_at(search, 75, now, 500ms);
  EXPECT_NEAR(*search.rate(), 0.95 * *search.accepted(), 1);
  const double before = *search.rate();
  run_at(search, 95, now, 500ms);
  EXPECT_GT(*search.rate(), before);
  EXPECT_LT(*search.rate(), 1.3 * before) << "as large as what is roughly known allows";
  run_at(search, 120, now, 2s);
  EXPECT_GT(*search.rate(), 2 * *search.accepted())
      << "a quarter beyond it without a refusal, it is no limit";
}

// A cut to half at each refusal, with a rate that was counted while it rose, left a fifth of 20 a second.
TEST(RateSearch, OnceHalfWasTakenACutGoesToJustBelowWhatWasAccepted) {
  for (const double limit : {20.0, 100.0}) {
    RateSearch search;
    auto now = start;
    run_into(search, limit, now, 15s);
    double least = limit;
    double sum = 0;
    for (int step = 0; step < 300; ++step) {
      run_into(search, limit, now, 100ms);
      least = std::min(least, *search.rate());
      sum += std::min(limit, *search.rate());
    }
    EXPECT_GT(least, 0.85 * limit);
    EXPECT_GT(sum / 300, 0.94 * limit);
  }
}

TEST(RateSearch, RefusalsOfCallsThatBeganBeforeACutDoNotCutAgain) {
  RateSearch search;
  auto now = start;
  run_at(search, 100, now, 2s);
  search.on_outcomes(0, 8, 0, now);
  const auto rate = search.rate();
  EXPECT_FALSE(search.on_outcomes(0, 20, 0, now + 50ms)) << "too soon";
  EXPECT_FALSE(search.on_outcomes(0, 0, 20, now + 500ms)) << "late ones";
  EXPECT_EQ(search.rate(), rate);
}

TEST(RateSearch, DoesNotGrowWhileItIsNotUsed) {
  RateSearch search;
  auto now = start;
  run_at(search, 100, now, 2s);
  search.on_outcomes(0, 8, 0, now);
  const auto rate = search.rate();
  run_at(search, 1, now, 10s, false);
  EXPECT_EQ(search.rate(), rate);
  now += 1h;
  search.grow(true, std::nullopt, now);
  EXPECT_LT(*search.rate(), *rate * 1.5) << "an hour in which nobody looked";
}

TEST(RateSearch, IsOverAtTheKnownRate) {
  RateSearch search;
  auto now = start;
  run_at(search, 100, now, 2s);
  search.on_outcomes(0, 8, 0, now);
  for (int i = 0; i < 50 && search.rate(); ++i) {
    search.on_outcomes(5, 0, 0, now);
    search.grow(true, 100.0, now += 50ms);
  }
  EXPECT_FALSE(search.rate());
}

}  // namespace sluice::rate_search_test
