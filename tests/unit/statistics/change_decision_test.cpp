#include "coordinator/statistics/change_decision.hpp"

#include "clopper_pearson.hpp"
#include "paired_cases.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

MetricDecision assessed(const std::vector<PairedCase>& cases, const DecisionRules& rules = {}) {
  const PairedComparison comparison = compare_paired(cases, false, {}, 1);
  return assess_changes({&comparison, 1}, rules).at(0);
}

std::vector<PairedCase> pass_fail(int both, int lost, int gained) {
  std::vector<PairedCase> cases;
  cases.insert(cases.end(), static_cast<std::size_t>(both), scored(1.0, 1.0));
  cases.insert(cases.end(), static_cast<std::size_t>(lost), scored(1.0, 0.0));
  cases.insert(cases.end(), static_cast<std::size_t>(gained), scored(0.0, 1.0));
  return cases;
}

TEST(ChangeDecision, FindsTheRegressionOfDarwinsMaize) {
  // By hand from Fisher's data: mean 314/15 and s = 37.744 thousandths, t(0.95; 14) = 1.76131 (mpmath 1.3.0),
  // so e = 0.0171649; 1 - 0.05^(1/15) = 0.1810363, so c = 0.1772466.
  const MetricDecision decision = assessed(darwins_maize(), {0.95, 0.02});
  EXPECT_EQ(decision.decision, ChangeDecision::regression);
  EXPECT_NEAR(decision.adjusted_p.drop, 863.0 / 32768.0, 1e-12);
  const double c = (1 - 0.314 / 15) * (1 - std::pow(0.05, 1.0 / 15));
  const double e = 0.03809828091301138 - 0.314 / 15;
  EXPECT_NEAR(*decision.drop_upper_bound, 0.314 / 15 + c / 2 + std::sqrt(c * c / 4 + e * e), 1e-9);
  EXPECT_NEAR(*decision.drop_upper_bound, 0.1998269, 1e-7);
  // The formula with s_d gives 0.0282, but fifteen cases show no drop that strikes few of them.
  EXPECT_NEAR(*decision.minimum_detectable_effect, 1 - std::pow(0.05, 1.0 / 15), 1e-9);
  EXPECT_EQ(decision.units_needed, 181u);
  EXPECT_FALSE(decision.too_few_changed);
}

TEST(ChangeDecision, ASignificantDropBelowMinEffectIsNoRegression) {
  std::vector<PairedCase> cases;
  for (int i = 0; i < 20; ++i) {
    for (const PairedCase& one : darwins_maize()) cases.push_back(one);
  }
  EXPECT_LT(assessed(cases, {0.95, 0.05}).adjusted_p.drop, 0.001);
  EXPECT_EQ(assessed(cases, {0.95, 0.05}).decision, ChangeDecision::no_regression);
  EXPECT_EQ(assessed(cases, {0.95, 0.03}).decision, ChangeDecision::underpowered);
}

TEST(ChangeDecision, ADropOfExactlyMinEffectIsARegression) {
  // 0.7 - 0.6 is less than 0.1 in binary.
  const std::vector<PairedCase> cases(6, scored(0.7, 0.6));
  EXPECT_EQ(assessed(cases, {0.95, 0.1}).decision, ChangeDecision::regression);
  EXPECT_EQ(assessed(cases, {0.95, 0.100000001}).decision, ChangeDecision::underpowered);
}

TEST(ChangeDecision, AnImprovementMirrorsARegression) {
  const MetricDecision decision = assessed(swapped(darwins_maize()), {0.95, 0.02});
  EXPECT_EQ(decision.decision, ChangeDecision::improvement);
  EXPECT_NEAR(decision.adjusted_p.improvement, 863.0 / 32768.0, 1e-12);
}

TEST(ChangeDecision, WithoutAnyDifferenceTheSizeOfTheSuiteDecides) {
  // 1 - 0.05^(1/n): 0.0582 for 50 cases, 0.0295 for 100; 59 cases bring it below 0.05.
  const MetricDecision few = assessed(pass_fail(50, 0, 0));
  EXPECT_EQ(few.decision, ChangeDecision::underpowered);
  EXPECT_NEAR(*few.drop_upper_bound, 1.0 - std::pow(0.05, 1.0 / 50.0), 1e-12);
  EXPECT_NEAR(*few.minimum_detectable_effect, 0.1544187, 1e-6);
  EXPECT_EQ(few.units_needed, 59u);
  EXPECT_TRUE(few.too_few_changed);
  EXPECT_EQ(assessed(pass_fail(58, 0, 0)).decision, ChangeDecision::underpowered);
  EXPECT_EQ(assessed(pass_fail(59, 0, 0)).decision, ChangeDecision::no_regression);
  EXPECT_EQ(assessed(pass_fail(100, 0, 0)).decision, ChangeDecision::no_regression);
}

TEST(ChangeDecision, FewerThanFiveChangedCasesCannotBeSignificant) {
  EXPECT_EQ(fewest_significant(0.95), 5u);
  EXPECT_EQ(fewest_significant(0.99), 7u);
  EXPECT_EQ(fewest_significant(0.5), 1u);
  const MetricDecision four = assessed(pass_fail(6, 4, 0));
  EXPECT_TRUE(four.too_few_changed);
  EXPECT_EQ(four.decision, ChangeDecision::underpowered);
  EXPECT_NEAR(four.adjusted_p.drop, 1.0 / 16.0, 1e-12);
  const MetricDecision five = assessed(pass_fail(5, 5, 0));
  EXPECT_FALSE(five.too_few_changed);
  EXPECT_EQ(five.decision, ChangeDecision::regression);
}

TEST(ChangeDecision, ALostCaseNeverLowersTheBound) {
  double last = 0.0;
  for (int lost = 0; lost < 5; ++lost) {
    const double bound = *assessed(pass_fail(50 - lost, lost, 0)).drop_upper_bound;
    EXPECT_GT(bound, last);
    last = bound;
  }
}

TEST(ChangeDecision, FewLostCasesNeedAsManyAsBoundTheirShare) {
  // Clopper and Pearson's upper limit of 2 is 0.0616 of 100, and below 0.05 from 124 on; here it takes one
  // more.
  const MetricDecision decision = assessed(pass_fail(98, 2, 0));
  EXPECT_EQ(decision.decision, ChangeDecision::underpowered);
  EXPECT_NEAR(*decision.drop_upper_bound, 0.0619, 5e-5);
  EXPECT_NEAR(*decision.minimum_detectable_effect, 0.0788847, 1e-6);
  EXPECT_EQ(decision.units_needed, 125u);
  EXPECT_EQ(assessed(pass_fail(123, 2, 0)).decision, ChangeDecision::no_regression);
  EXPECT_EQ(assessed(pass_fail(122, 2, 0)).decision, ChangeDecision::underpowered);
}

TEST(ChangeDecision, TheBoundOfLostCasesIsClopperAndPearsonsToAFewPercent) {
  for (const int cases : {60, 100, 400}) {
    for (const int lost : {0, 1, 2, 3, 5, 9, 20}) {
      const double bound = *assessed(pass_fail(cases - lost, lost, 0)).drop_upper_bound;
      const double exact =
          clopper_pearson_upper(static_cast<std::uint64_t>(lost), static_cast<std::uint64_t>(cases), 0.95);
      EXPECT_GE(bound, 0.995 * exact) << lost << " of " << cases;
      EXPECT_LE(bound, 1.02 * exact) << lost << " of " << cases;
    }
  }
}

TEST(ChangeDecision, ALittleNoiseInEachCaseDoesNotLowerTheBound) {
  // 100 unchanged cases leave 3 points; that their scores move by 0.0005 is no reason to know more.
  std::vector<PairedCase> cases;
  for (int i = 0; i < 100; ++i) cases.push_back(scored(0.8, i % 2 == 0 ? 0.8005 : 0.7995));
  const double bound = *assessed(cases).drop_upper_bound;
  const double unchanged = *assessed(pass_fail(100, 0, 0)).drop_upper_bound;
  EXPECT_GE(bound, unchanged);
  EXPECT_LE(bound, unchanged + 0.0005);
}

TEST(ChangeDecision, ClustersOfUnequalSizeShowLess) {
  // One category of 400 cases and 59 of one: as much as 459^2 / (400^2 + 59) = 1.3 categories, not 60.
  std::vector<PairedCase> cases(400, scored(1.0, 1.0, 0));
  for (std::uint32_t cluster = 1; cluster < 60; ++cluster) cases.push_back(scored(1.0, 1.0, cluster));
  const PairedComparison comparison = compare_paired(cases, true, {}, 1);
  EXPECT_NEAR(comparison.effective_units, 459.0 * 459.0 / 160'059.0, 1e-9);
  const MetricDecision decision = assess_changes({&comparison, 1}, {}).at(0);
  EXPECT_NEAR(*decision.drop_upper_bound, 1 - std::pow(0.05, 160'059.0 / (459.0 * 459.0)), 1e-9);
  EXPECT_EQ(decision.decision, ChangeDecision::underpowered);
  // It said that 59 are enough, and that the sixty find 0.90.
  EXPECT_EQ(decision.minimum_detectable_effect, 1.0);
  EXPECT_EQ(decision.units_needed, 2663u);
  // Sixty categories of one size are sixty.
  for (PairedCase& one : cases) one.cluster = 0;
  for (std::size_t i = 0; i < 420; ++i) cases[i].cluster = static_cast<std::uint32_t>(i % 60);
  cases.resize(420);
  EXPECT_NEAR(compare_paired(cases, true, {}, 1).effective_units, 60.0, 1e-9);
}

TEST(ChangeDecision, TheExamplesOfTheDocumentationHold) {
  // docs/statistics.md, "Three runs of 100 cases".
  const auto shown = [](const MetricDecision& decision) {
    const auto percent = [](double value) { return std::round(value * 1000) / 10; };
    return std::vector<double>{
        std::round(decision.adjusted_p.drop * 1e4) / 1e4, percent(*decision.drop_upper_bound),
        percent(*decision.minimum_detectable_effect), static_cast<double>(*decision.units_needed)};
  };
  const MetricDecision worse = assessed(pass_fail(89, 9, 2));
  EXPECT_EQ(worse.decision, ChangeDecision::regression);
  EXPECT_EQ(shown(worse), (std::vector<double>{0.0327, 14.0, 9.3, 325}));
  const MetricDecision unclear = assessed(pass_fail(92, 6, 2));
  EXPECT_EQ(unclear.decision, ChangeDecision::underpowered);
  EXPECT_EQ(shown(unclear), (std::vector<double>{0.1445, 10.3, 8.2, 259}));
  const MetricDecision fine = assessed(pass_fail(98, 1, 1));
  EXPECT_EQ(fine.decision, ChangeDecision::no_regression);
  EXPECT_EQ(shown(fine), (std::vector<double>{0.75, 4.3, 7.9, 114}));
}

TEST(ChangeDecision, PassFailWithOneRepeatIsMcNemarsTest) {
  const PairedComparison single = compare_paired(pass_fail(13, 7, 1), false, {}, 1);
  EXPECT_EQ(single.test.method, PairedMethod::mcnemar);
  EXPECT_NEAR(single.test.p.drop, 9.0 / 256.0, 1e-12);
  // It is the swap test in closed form.
  const SwapTestResult swap = swap_test(pair_cases(pass_fail(13, 7, 1), false), {}, 1);
  EXPECT_EQ(swap.method, PairedMethod::enumeration);
  EXPECT_NEAR(swap.p.drop, single.test.p.drop, 1e-12);
  EXPECT_NEAR(swap.p.improvement, single.test.p.improvement, 1e-12);
}

TEST(ChangeDecision, PassFailWithRepeatsOrClustersComparesPassRates) {
  std::vector<PairedCase> repeated;
  for (int i = 0; i < 8; ++i) repeated.push_back({scores({1.0}), scores({1.0, 0.0, 0.0, 1.0, 1.0}), 0});
  const PairedComparison comparison = compare_paired(repeated, false, {}, 1);
  EXPECT_EQ(comparison.test.method, PairedMethod::draws);
  EXPECT_NEAR(*comparison.drop, 0.4, 1e-12);
  EXPECT_FALSE(comparison.equal_repeats);
  EXPECT_EQ(compare_paired(pass_fail(0, 6, 0), true, {}, 1).test.method, PairedMethod::enumeration);
}

TEST(ChangeDecision, HolmCorrectsForTheNumberOfMetrics) {
  // p = 1/32 by itself; beside a second metric without any evidence it is doubled.
  const PairedComparison dropped = compare_paired(pass_fail(5, 5, 0), false, {}, 1);
  const PairedComparison noise = compare_paired(pass_fail(4, 3, 3), false, {}, 1);
  const PairedComparison both[] = {dropped, noise};
  const auto decisions = assess_changes(both, {});
  EXPECT_NEAR(decisions[0].adjusted_p.drop, 2.0 / 32.0, 1e-12);
  EXPECT_EQ(decisions[0].decision, ChangeDecision::underpowered);
  EXPECT_EQ(overall_decision(decisions), ChangeDecision::underpowered);
  // A metric without pairs does not count.
  const PairedComparison none = compare_paired({}, false, {}, 1);
  const PairedComparison with_none[] = {none, dropped};
  const auto assessed_with_none = assess_changes(with_none, {});
  EXPECT_EQ(assessed_with_none[1].decision, ChangeDecision::regression);
  EXPECT_EQ(assessed_with_none[0].decision, ChangeDecision::underpowered);
  EXPECT_EQ(assessed_with_none[0].drop_upper_bound, std::nullopt);
  EXPECT_EQ(overall_decision(assessed_with_none), ChangeDecision::regression);
}

TEST(ChangeDecision, TooFewChangedIsReportedBesideTheOtherMetrics) {
  // Five lost cases are p = 1/32: enough alone, and beside metrics that are significant themselves, but not
  // as the best of three. There 1/64 is needed.
  const PairedComparison five = compare_paired(pass_fail(95, 5, 0), false, {}, 1);
  const PairedComparison six = compare_paired(pass_fail(94, 6, 0), false, {}, 1);
  const PairedComparison many = compare_paired(pass_fail(80, 20, 0), false, {}, 1);
  const PairedComparison same = compare_paired(pass_fail(100, 0, 0), false, {}, 1);
  const auto first_of = [](std::vector<PairedComparison> comparisons) {
    return assess_changes(comparisons, {}).at(0);
  };
  EXPECT_FALSE(first_of({five}).too_few_changed);
  EXPECT_EQ(first_of({five}).fewest_significant, 5u);
  EXPECT_TRUE(first_of({five, same, same}).too_few_changed);
  EXPECT_EQ(first_of({five, same, same}).fewest_significant, 6u);
  EXPECT_FALSE(first_of({six, same, same}).too_few_changed);
  EXPECT_EQ(first_of({six, same, same}).decision, ChangeDecision::regression);
  EXPECT_FALSE(first_of({five, many, many}).too_few_changed);
  EXPECT_EQ(first_of({five, many, many}).decision, ChangeDecision::regression);
}

// A run of 32 arms with 20 scores compares 10,416 times, and took half a minute for these numbers alone.
TEST(ChangeDecision, ThousandsOfComparisonsTakeNoTimeSquared) {
  const PairedComparison five = compare_paired(pass_fail(95, 5, 0), false, {}, 1);
  const std::vector<PairedComparison> comparisons(20'000, five);
  const std::clock_t begin = std::clock();
  const auto decisions = assess_changes(comparisons, {});
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 20.0);
  // 20,000 2^-k <= 0.05.
  EXPECT_EQ(decisions.back().fewest_significant, 19u);
}

/// Over all numbers of lost and gained cases: how often a drop is significant and at least `min_effect`.
double power_of_mcnemar(int cases, double lost_share, double gained_share, double min_effect) {
  const double same_share = 1.0 - lost_share - gained_share;
  const auto log_power = [](double share, int count) { return count == 0 ? 0.0 : count * std::log(share); };
  double power = 0.0;
  for (int gained = 0; gained <= cases; ++gained) {
    for (int lost = gained; lost + gained <= cases; ++lost) {
      const int same = cases - lost - gained;
      const double chance =
          std::exp(std::lgamma(cases + 1.0) - std::lgamma(lost + 1.0) - std::lgamma(gained + 1.0) -
                   std::lgamma(same + 1.0) + log_power(lost_share, lost) + log_power(gained_share, gained) +
                   log_power(same_share, same));
      if (chance < 1e-12 || lost - gained < min_effect * cases - 1e-9) continue;
      const auto p = mcnemar_exact(static_cast<std::uint64_t>(lost), static_cast<std::uint64_t>(gained));
      if (p.drop <= 0.05) power += chance;
    }
  }
  return power;
}

// It was found in 0 to 77 % of runs: a verdict needs a drop of min_effect to be seen, too.
TEST(ChangeDecision, FourOfFiveRunsFindTheDetectableEffectOfPassFail) {
  struct Suite {
    int cases, changed;
  };
  for (const auto& [cases, changed] : {Suite{59, 6}, {100, 10}, {100, 16}, {200, 18}, {400, 16}, {400, 64}}) {
    for (const double min_effect : {0.02, 0.05, 0.1}) {
      const PairedComparison comparison =
          compare_paired(pass_fail(cases - changed, changed / 2, changed / 2), false, {}, 1);
      const DecisionRules rules{0.95, min_effect};
      const double drop = *assess_changes({&comparison, 1}, rules).at(0).minimum_detectable_effect;
      const double variance = std::max(comparison.deviation * comparison.deviation, drop * (1.0 - drop));
      const double flips = variance + drop * drop;
      const double power = power_of_mcnemar(cases, (flips + drop) / 2, (flips - drop) / 2, min_effect);
      EXPECT_GE(power, 0.80) << cases << " " << changed << " " << min_effect << " " << drop;
      EXPECT_LE(power, 0.92) << cases << " " << changed << " " << min_effect << " " << drop;
    }
  }
}

// 1,000 cases "found" 0.016 where no drop below 0.05 is ever called a regression.
TEST(ChangeDecision, NoDropOfLessThanMinEffectIsDetectable) {
  std::vector<PairedCase> cases;
  for (int i = 0; i < 1000; ++i) cases.push_back(scored(0.5, i % 2 == 0 ? 0.7 : 0.3));
  const MetricDecision decision = assessed(cases);
  // 0.05 + z_{0.8} 0.2 sqrt(1000 / 999) / sqrt(1000).
  EXPECT_NEAR(*decision.minimum_detectable_effect, 0.0553255, 1e-6);
  EXPECT_EQ(decision.units_needed, 162u);
}

TEST(ChangeDecision, ExcludingBothDirectionsTakesMoreCases) {
  EXPECT_EQ(assessed(pass_fail(98, 1, 1), {0.95, 0.05, false}).units_needed, 114u);
  EXPECT_GT(assessed(pass_fail(98, 1, 1), {0.95, 0.05, true}).units_needed, 114u);
}

TEST(ChangeDecision, DetectableEffectAndCasesNeededFollowTheFormula) {
  // 60 cases, 12 lost and 6 gained: mean 0.1, s_d^2 = (18 - 60 * 0.01) / 59; two metrics, so z_{0.975}.
  const PairedComparison one = compare_paired(pass_fail(42, 12, 6), false, {}, 1);
  const PairedComparison both[] = {one, one};
  const MetricDecision decision = assess_changes(both, {}).at(0);
  const double deviation = std::sqrt(17.4 / 59.0);
  EXPECT_NEAR(one.deviation, deviation, 1e-9);
  // d - 0.841621 e = 1.959964 sqrt(e^2 + d^2 / 60) + 1 / 60 with e = s_d / sqrt(60).
  const double drop = *decision.minimum_detectable_effect;
  const double error = deviation / std::sqrt(60.0);
  EXPECT_NEAR(drop, 0.2243465, 1e-6);
  EXPECT_NEAR(drop - 0.841621233572914205 * error,
              1.95996398454005424 * std::sqrt(error * error + drop * drop / 60.0) + 1.0 / 60.0, 1e-9);
  // The bound of no drop, beside 0.841621 s_d / sqrt(n), is below 0.05 from 791 on.
  EXPECT_EQ(decision.units_needed, 791u);
}

TEST(ChangeDecision, WithoutMinEffectNoNumberOfCasesIsEnough) {
  const MetricDecision decision = assessed(pass_fail(42, 6, 6), {0.95, 0.0});
  EXPECT_EQ(decision.decision, ChangeDecision::underpowered);
  EXPECT_EQ(decision.units_needed, std::nullopt);
  EXPECT_EQ(assessed(pass_fail(42, 9, 0), {0.95, 0.0}).decision, ChangeDecision::regression);
}

TEST(ChangeDecision, TheWorstMetricDecidesForTheRun) {
  const auto overall = [](std::initializer_list<ChangeDecision> decisions) {
    std::vector<MetricDecision> metrics;
    for (const auto decision : decisions) metrics.emplace_back().decision = decision;
    return overall_decision(metrics);
  };
  using enum ChangeDecision;
  EXPECT_EQ(overall({}), std::nullopt);
  EXPECT_EQ(overall({no_regression, improvement, underpowered, regression}), regression);
  EXPECT_EQ(overall({no_regression, improvement, underpowered}), underpowered);
  EXPECT_EQ(overall({no_regression, improvement}), improvement);
  EXPECT_EQ(overall({no_regression}), no_regression);
}

}  // namespace
}  // namespace sluice
