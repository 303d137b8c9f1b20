// What a comparison of two sides tests over all cases.
#include "compare_fixture.hpp"
#include "coordinator/defaults.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace sluice::compare_test {

Thresholding statistical(double min_effect = 0.05) {
  Thresholding thresholding;
  thresholding.mode = ThresholdMode::statistical;
  thresholding.confidence = 0.95;
  thresholding.min_effect = min_effect;
  return thresholding;
}

std::string id_of(int number) {
  return "case-" + std::to_string(100 + number);
}

TEST(CompareStatistics, TestsWhetherChecksPassAsOften) {
  const auto side = [](const std::vector<double>& passes) {
    std::vector<ComparedCase> cases;
    for (int i = 0; i < 40; ++i) {
      ComparedMetric check;
      check.name = info(MetricId::must_contain).name;
      check.asked_by_name = true;
      check.check = 7;
      for (const double one : passes) check.repeat_passed.push_back(one > 0.0);
      ComparedCase& test = cases.emplace_back(ComparedCase{std::to_string(100 + i), false, {check}});
      test.passes = passes;
    }
    return cases_of(std::move(cases));
  };
  CompareRules rules;
  EXPECT_FALSE(compare_all(side({1, 1, 1}), side({1, 1, 1}), rules).summary.statistics)
      << "what nobody asked for is said only where it fails";
  const auto unasked = compare_all(side({1, 1, 1}), side({1, 0, 1}), rules).summary;
  ASSERT_TRUE(unasked.statistics);
  EXPECT_EQ(unasked.statistics->decision, ChangeDecision::regression);
  EXPECT_EQ(unasked.statistics->rules.confidence, defaults::statistics::unasked_confidence);
  rules.tests.mode = ThresholdMode::statistical;
  const auto fell = compare_all(side({1, 1, 1}), side({1, 0, 1}), rules).summary.statistics;
  ASSERT_TRUE(fell);
  EXPECT_EQ(fell->decision, ChangeDecision::regression);
  EXPECT_EQ(name_of(fell->metrics.at(0).mean), "passed");
  EXPECT_FALSE(compare_all(side({1}), side({1}), rules).summary.statistics) << "one answer a side";
  EXPECT_FALSE(compare_all(side({}), side({1, 0, 1}), rules).summary.statistics)
      << "a baseline without repeats";
}

/// Forty tests of two checks that come out so in their repeats, and without them as an older baseline.
std::vector<ComparedCase> side_of_two(const std::vector<bool>& first, const std::vector<bool>& second,
                                      bool knows_repeats = true) {
  std::vector<ComparedCase> cases;
  for (int i = 0; i < 40; ++i) {
    ComparedCase& test = cases.emplace_back(ComparedCase{id_of(i), false, {}});
    for (std::size_t r = 0; r < first.size(); ++r) test.passes.push_back(first[r] && second[r] ? 1.0 : 0.0);
    for (const auto* repeats : {&first, &second}) {
      ComparedMetric& check = test.metrics.emplace_back();
      check.name = info(MetricId::must_contain).name;
      check.asked_by_name = true;
      check.check = test.metrics.size();
      check.passed = 2 * std::ranges::count(*repeats, true) >= std::ssize(*repeats);
      if (knows_repeats) check.repeat_passed = *repeats;
    }
  }
  return cases;
}

// As in the gate of the run.
TEST(CompareStatistics, LeavesOutChecksThatFailInEveryRepeatOfBothSides) {
  CompareRules rules;
  rules.tests = statistical();
  const auto shares = [&](std::vector<ComparedCase> base, std::vector<ComparedCase> current) {
    const NextCase then = cases_of(std::move(base));
    const NextCase now = cases_of(std::move(current));
    const auto summary = compare(then, now, rules, [](const ScoreComparison&) {}).value();
    const PairedComparison& compared = summary.statistics.value().metrics.at(0).comparison;
    return std::pair(compared.base.value(), compared.current.value());
  };
  using Shares = std::pair<double, double>;
  const std::vector<bool> fails{false, false};
  const std::vector<bool> holds{true, true};
  const std::vector<bool> flaky{true, false};
  EXPECT_EQ(shares(side_of_two(fails, holds), side_of_two(fails, flaky)), Shares(1, 0.5));
  EXPECT_EQ(shares(side_of_two(fails, flaky), side_of_two(fails, holds)), Shares(0.5, 1));
  EXPECT_EQ(shares(side_of_two(fails, holds), side_of_two(flaky, holds)), Shares(0, 0.5)) << "it passed anew";
  EXPECT_EQ(shares(side_of_two(flaky, holds), side_of_two(fails, holds)), Shares(0.5, 0));
  EXPECT_EQ(shares(side_of_two(fails, fails), side_of_two(fails, flaky)), Shares(0, 0.5));
  EXPECT_EQ(shares(side_of_two(fails, holds), side_of_two(fails, holds, false)), Shares(0, 0))
      << "all count where a side does not know";
}

// As in the gate of the run.
TEST(CompareStatistics, TestsOfOnePromptAreOnePieceOfEvidence) {
  const auto side = [](const std::vector<double>& passes, int requests) {
    std::vector<ComparedCase> cases;
    for (int i = 0; i < 12; ++i) {
      ComparedMetric check;
      check.name = info(MetricId::must_contain).name;
      check.asked_by_name = true;
      check.check = 7;
      for (const double one : passes) check.repeat_passed.push_back(one > 0.0);
      ComparedCase& test = cases.emplace_back(ComparedCase{std::to_string(100 + i), false, {check}});
      test.passes = passes;
      test.answers = static_cast<std::uint32_t>(i % requests);
    }
    return cases_of(std::move(cases));
  };
  const CompareRules rules;
  EXPECT_TRUE(compare_all(side({1, 1, 1}, 1), side({1, 1, 0}, 12), rules).summary.statistics);
  EXPECT_FALSE(compare_all(side({1, 1, 1}, 12), side({1, 1, 0}, 1), rules).summary.statistics);
}

// What one arm gained made up for what the other one lost.
TEST(CompareStatistics, TestsEachArmByItself) {
  const auto side = [](const std::vector<double>& of_m1, const std::vector<double>& of_m2) {
    std::vector<ComparedCase> cases;
    for (int i = 0; i < 40; ++i) {
      for (const bool is_first : {true, false}) {
        ComparedCase& one = cases.emplace_back();
        one.test_id = std::to_string(100 + i) + (is_first ? "@m1" : "@m2");
        one.passes = is_first ? of_m1 : of_m2;
        ComparedMetric& check = one.metrics.emplace_back();
        check.name = info(MetricId::must_contain).name;
        check.asked_by_name = true;
        check.check = 7;
        for (const double passed : one.passes) check.repeat_passed.push_back(passed > 0.0);
      }
    }
    return cases_of(std::move(cases));
  };
  const std::vector<std::string> arms{"m1", "m2"};
  CompareRules rules;
  const auto compared = [&] {
    return compare_all(side({1, 1, 1}, {1, 1, 0}), side({1, 1, 0}, {1, 1, 1}), rules).summary.statistics;
  };
  EXPECT_FALSE(compared());
  rules.arms = arms;
  const auto fell = compared();
  ASSERT_TRUE(fell);
  EXPECT_EQ(fell->regressions(), 1u);
  ASSERT_EQ(fell->metrics.size(), 1u) << "of what nobody asked for, only what fell";
  EXPECT_EQ(fell->metrics[0].arm, "m1");
}

TEST(CompareStatistics, StatisticalScoresAreTestedTogether) {
  std::vector<TestPin> pins;
  std::vector<ComparedCase> fell;
  std::vector<ComparedCase> noise;
  for (int i = 0; i < 40; ++i) {
    pins.push_back({id_of(i), similarity, 0.9});
    fell.push_back(scored(id_of(i), 0.7, statistical()));
    noise.push_back(scored(id_of(i), i < 2 ? 0.0 : 0.9, statistical(0.3)));
  }
  const Baseline base = baseline_of(pins);
  const auto worse = compare_all(cases_of(base), cases_of(fell));
  EXPECT_EQ(worse.summary.verdict_input.statuses.passed, 40u) << "no case alone is judged by the base";
  ASSERT_TRUE(worse.summary.statistics);
  EXPECT_EQ(worse.summary.statistics->decision, ChangeDecision::regression);
  EXPECT_EQ(worse.rows.at(id_of(0) + " " + similarity).change, RowChange::drop);
  EXPECT_EQ(worse.rows.at(id_of(0) + " " + similarity).cause, MetricCause::assessed_statistically);
  const auto same = compare_all(cases_of(base), cases_of(noise));
  EXPECT_EQ(same.summary.statistics->decision, ChangeDecision::no_regression);
  EXPECT_EQ(same.summary.statistics->rules.min_effect, 0.3);
  CompareRules rows_alone;
  rows_alone.runs_tests = false;
  EXPECT_FALSE(compare_all(cases_of(base), cases_of(fell), rows_alone).summary.statistics);
}

// They made a run fail that had got no worse, and hid it where others had.
TEST(CompareStatistics, AKnownFailureIsNoneOfTheScoresThatAreTestedTogether) {
  std::vector<TestPin> pins;
  std::vector<ComparedCase> now;
  for (int i = 0; i < 80; ++i) {
    pins.push_back({id_of(i), similarity, 0.9});
    now.push_back(scored(id_of(i), i < 40 ? 0.9 : 0.1, statistical(0.1)));
    now.back().is_known_failure = i >= 40;
  }
  const auto outcome = compare_all(cases_of(baseline_of(pins)), cases_of(now));
  ASSERT_TRUE(outcome.summary.statistics);
  EXPECT_EQ(outcome.summary.statistics->metrics.at(0).comparison.pairs, 40u);
  EXPECT_EQ(outcome.summary.statistics->decision, ChangeDecision::no_regression);
}

TEST(CompareStatistics, AStatisticalScoreThatBecameUndefinedFails) {
  const auto outcome =
      compare_all(cases_of({scored("a", 0.9)}), cases_of({scored("a", std::nullopt, statistical())}));
  EXPECT_EQ(change(outcome, "a"), RowChange::regression);
  EXPECT_EQ(outcome.summary.verdict_input.regressed, 1u);
  EXPECT_EQ(outcome.summary.statistics->metrics.at(0).left_out.count(), 1u);
}

TEST(CompareStatistics, AnUndefinedRepeatCountsBehindOneThatMissesTheFloor) {
  Thresholding floor = statistical();
  floor.min_floor = 0.2;
  for (const auto& scores :
       std::vector<std::vector<std::optional<double>>>{{0.1, std::nullopt, 0.9}, {std::nullopt, 0.1, 0.9}}) {
    const auto outcome = compare_all(cases_of({scored("a", 0.9)}), cases_of({repeated("a", scores, floor)}));
    ASSERT_TRUE(outcome.summary.statistics);
    EXPECT_EQ(outcome.summary.statistics->metrics.at(0).became_undefined.count(), 1u);
  }
}

TEST(CompareStatistics, AForeignMetricIsNotLeftToTestsThatDoNotKnowIt) {
  const Baseline base = baseline_of({{"a", "groundedness", 0.9}});
  ComparedCase now = scored("a", 0.1, statistical());
  now.metrics[0].name = "groundedness";
  EXPECT_EQ(compare_all(cases_of(base), cases_of({now})).summary.regressions, 1u);
}

}  // namespace sluice::compare_test
