#include "coordinator/statistics/intervals.hpp"

#include "clopper_pearson.hpp"
#include "coordinator/statistics/random_stream.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

struct Published {
  std::uint64_t successes;
  std::uint64_t trials;
  Interval wilson;
  Interval exact;
};

/// R. G. Newcombe, "Two-sided confidence intervals for the single proportion: comparison of seven methods",
/// Statistics in Medicine 17 (1998), Table I: methods 3 (Wilson) and 5 (Clopper-Pearson), to four digits.
constexpr Published newcombe[] = {
    {81, 263, {0.2553, 0.3662}, {0.2527, 0.3676}},
    {15, 148, {0.0624, 0.1605}, {0.0578, 0.1617}},
    {0, 20, {0.0000, 0.1611}, {0.0000, 0.1684}},
    {1, 29, {0.0061, 0.1718}, {0.0009, 0.1776}},
};

TEST(Intervals, AgreeWithNewcombe1998) {
  for (const Published& row : newcombe) {
    const auto trials = static_cast<double>(row.trials);
    const Interval wilson = wilson_interval(static_cast<double>(row.successes) / trials, trials, 0.95);
    EXPECT_NEAR(wilson.low, row.wilson.low, 5e-5);
    EXPECT_NEAR(wilson.high, row.wilson.high, 5e-5);
    const Interval exact = clopper_pearson_interval(static_cast<double>(row.successes),
                                                    static_cast<double>(row.trials - row.successes), 0.95);
    EXPECT_NEAR(exact.low, row.exact.low, 5e-5);
    EXPECT_NEAR(exact.high, row.exact.high, 5e-5);
  }
}

TEST(Intervals, AgreeWithMpmathToNineDigits) {
  const Interval wilson = wilson_interval(81.0 / 263.0, 263, 0.95);
  EXPECT_NEAR(wilson.low, 0.25528851987827423, 1e-12);
  EXPECT_NEAR(wilson.high, 0.36620957698280007, 1e-12);
  const Interval exact = clopper_pearson_interval(57, 943, 0.95);
  EXPECT_NEAR(exact.low, 0.043453581936958596, 1e-11);
  EXPECT_NEAR(exact.high, 0.07322272946066227, 1e-11);
  const Interval wide = clopper_pearson_interval(5, 5, 0.99);
  EXPECT_NEAR(wide.low, 0.12831055393508325, 1e-11);
  EXPECT_NEAR(wide.high, 0.87168944606491675, 1e-11);
}

TEST(Intervals, WilsonAtTheEndsIsClosedThere) {
  EXPECT_EQ(wilson_interval(0.0, 20, 0.95).low, 0.0);
  EXPECT_EQ(wilson_interval(1.0, 29, 0.95).high, 1.0);
  EXPECT_NEAR(wilson_interval(1.0, 29, 0.95).low, 0.88303020150025923, 1e-12);
  EXPECT_EQ(wilson_interval(0.5, 0, 0.95), (Interval{0.0, 1.0}));
}

TEST(Intervals, OneSidedLimitWithoutSuccessesHasItsClosedForm) {
  for (const std::uint64_t n : {1u, 5u, 50u, 3000u}) {
    EXPECT_NEAR(clopper_pearson_upper(0, n, 0.95), 1.0 - std::pow(0.05, 1.0 / static_cast<double>(n)), 1e-12);
    EXPECT_NEAR(clopper_pearson_lower(n, n, 0.95), std::pow(0.05, 1.0 / static_cast<double>(n)), 1e-12);
  }
  EXPECT_EQ(clopper_pearson_interval(0, 0, 0.95), (Interval{0.0, 1.0}));
}

TEST(ClusteredProportion, IsAsCalculatedByHand) {
  // Three cases of four answers with 4, 4 and 2 successes: p = 10/12. Residuals s - p t: 2/3, 2/3, -4/3;
  // their squares add up to 8/3. Clustered variance 3/2 * (8/3) / 144 = 1/36, independent (5/36) / 12 =
  // 5/432, so the design effect is 12/5 and n_eff is 5.
  ClusteredProportion proportion;
  for (const double successes : {4.0, 4.0, 2.0}) proportion.add(successes, 4.0);
  EXPECT_NEAR(*proportion.proportion(), 10.0 / 12.0, 1e-12);
  EXPECT_NEAR(proportion.design_effect(), 2.4, 1e-9);
  EXPECT_NEAR(proportion.interval(0.95).high, wilson_interval(10.0 / 12.0, 5.0, 0.95).high, 1e-9);
  // Without the two failures three of three cases agree, which has a lower end of 3 / (3 + z^2).
  const double all_alike = wilson_interval(1.0, 3.0, 0.95).low;
  EXPECT_NEAR(proportion.interval(0.95).low, 10.0 / 12.0 * all_alike, 1e-9);
  EXPECT_NEAR(wilson_interval(10.0 / 12.0, proportion.effective_trials(0.95), 0.95).low,
              proportion.interval(0.95).low, 1e-9);
}

TEST(ClusteredProportion, NeverClaimsMoreThanIndependentTrials) {
  // Each cluster has just the same share: less scatter than chance would give.
  ClusteredProportion proportion;
  for (int i = 0; i < 10; ++i) proportion.add(2.0, 4.0);
  EXPECT_LT(proportion.design_effect(), 1.0);
  EXPECT_EQ(proportion.interval(0.95), wilson_interval(0.5, 40, 0.95));
}

TEST(ClusteredProportion, CountsClustersWhereTheDataDoNotShowTheDesignEffect) {
  ClusteredProportion all_alike;
  for (int i = 0; i < 10; ++i) all_alike.add(7.0, 7.0);
  EXPECT_DOUBLE_EQ(all_alike.design_effect(), 7.0);
  EXPECT_EQ(all_alike.interval(0.95), wilson_interval(1.0, 10, 0.95));
  ClusteredProportion one;
  one.add(3.0, 7.0);
  EXPECT_EQ(one.interval(0.95), wilson_interval(3.0 / 7.0, 1, 0.95));
  EXPECT_EQ(ClusteredProportion().proportion(), std::nullopt);
  EXPECT_EQ(ClusteredProportion().interval(0.95), (Interval{0.0, 1.0}));
}

// One failure of a hundred made the design effect 1, and the lower end jumped from 0.839 to 0.945.
TEST(ClusteredProportion, AFailureMoreIsNoEvidenceForIndependentTrials) {
  const auto low = [](double first, double second) {
    ClusteredProportion proportion;
    for (int i = 0; i < 20; ++i) proportion.add(i == 0 ? 5.0 - first : i == 1 ? 5.0 - second : 5.0, 5.0);
    return proportion.interval(0.95).low;
  };
  EXPECT_NEAR(low(0, 0), 0.838875, 1e-6);
  EXPECT_NEAR(low(1, 0), 0.830486, 1e-6);
  EXPECT_NEAR(low(1, 1), 0.822097, 1e-6);
  // A case that failed as a whole, and one failure in another.
  EXPECT_NEAR(low(5, 0), 0.757204, 1e-6);
  EXPECT_NEAR(low(5, 1), 0.749233, 1e-6);
}

TEST(ClusteredProportion, NoFailureMoreRaisesTheLowerEnd) {
  RandomStream random(12);
  for (int path = 0; path < 200; ++path) {
    const std::uint64_t cases = 1 + random.below(20);
    const double trials = random.unit() < 0.5 ? 5.0 : 20.0;
    // Some paths have cases that fail as a whole, others failures all over.
    const double stay = random.unit();
    ClusteredProportion proportion;
    std::vector<double> successes(cases, trials);
    for (const double of_case : successes) proportion.add(of_case, trials);
    double before = proportion.interval(0.95).low;
    std::uint64_t failing = 0;
    for (double failures = 1.0; failures < static_cast<double>(cases) * trials; ++failures) {
      if (random.unit() > stay) failing = random.below(cases);
      while (successes[failing] <= 0.0) failing = random.below(cases);
      successes[failing] -= 1.0;
      ClusteredProportion worse;
      for (const double of_case : successes) worse.add(of_case, trials);
      const double now = worse.interval(0.95).low;
      EXPECT_LE(now, before + 1e-12) << cases << " cases, " << failures << " failures";
      before = now;
    }
  }
}

TEST(ClusteredProportion, CoversWhereRareCasesFailAsAWhole) {
  // 20 cases of five answers; one in ten is always wrong, and 1 % of all answers are otherwise: the truth is
  // 0.892. One run in eight has none of these cases. The lower end lay above the truth in 8 % of runs.
  constexpr double truth = 1.0 - (0.1 * 0.99 + 0.9 * 0.01);
  constexpr int runs = 1000;
  RandomStream random(1);
  int above = 0;
  for (int run = 0; run < runs; ++run) {
    ClusteredProportion proportion;
    for (int i = 0; i < 20; ++i) {
      const bool wrong = random.unit() < 0.1;
      double successes = 0.0;
      for (int answer = 0; answer < 5; ++answer) successes += (random.unit() < 0.01) == wrong;
      proportion.add(successes, 5.0);
    }
    above += proportion.interval(0.95).low > truth;
  }
  EXPECT_LE(above, 0.025 * runs);
}

TEST(ClusteredProportion, CoversWhereIndependentTrialsWouldNot) {
  // Model: 60 cases of 7 answers; a case is sensitive with probability 0.2, and then each of its answers is
  // identical with probability 0.3, else with 0.97. True share: 0.8 * 0.97 + 0.2 * 0.3 = 0.836. Seed 4711.
  constexpr double truth = 0.836;
  constexpr int runs = 1000;
  RandomStream random(4711);
  int covered = 0;
  int covered_as_if_independent = 0;
  for (int run = 0; run < runs; ++run) {
    ClusteredProportion proportion;
    for (int i = 0; i < 60; ++i) {
      const double p = random.unit() < 0.2 ? 0.3 : 0.97;
      double successes = 0.0;
      for (int answer = 0; answer < 7; ++answer) successes += random.unit() < p;
      proportion.add(successes, 7.0);
    }
    const auto covers = [&](const Interval& interval) {
      return interval.low <= truth && truth <= interval.high;
    };
    covered += covers(proportion.interval(0.95));
    covered_as_if_independent += covers(wilson_interval(*proportion.proportion(), 420, 0.95));
  }
  EXPECT_GE(covered, 0.92 * runs);
  EXPECT_LT(covered_as_if_independent, 0.80 * runs);
}

}  // namespace
}  // namespace sluice
