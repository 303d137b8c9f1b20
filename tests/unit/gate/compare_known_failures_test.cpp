// Failures that the suite knows, in a comparison of two sides.
#include "compare_fixture.hpp"

namespace sluice::compare_test {

// What the suite says of a case decided nothing in the run, and was worse in the comparison.
TEST(CompareKnownFailures, AKnownFailureIsApartAsInTheRun) {
  ComparedMetric check;
  check.name = "must_contain";
  check.asked_by_name = true;
  ComparedCase before{"check", false, {check}};
  ComparedCase now = before;
  now.metrics[0].passed = false;
  now.is_known_failure = true;
  ComparedCase fell = scored("score", 0.2);
  fell.is_known_failure = true;
  for (const bool strict : {false, true}) {
    CompareRules rules;
    rules.strict = strict;
    const auto outcome = compare_all(cases_of({before, scored("score", 0.9)}), cases_of({now, fell}), rules);
    EXPECT_EQ(outcome.rows.at("check must_contain").change, RowChange::known_failure);
    EXPECT_EQ(change(outcome, "score"), RowChange::known_failure);
    EXPECT_TRUE(outcome.rows.at("check must_contain").is_of_known_failure);
    EXPECT_EQ(outcome.summary.broke, 0u);
    EXPECT_EQ(outcome.summary.regressions, 0u);
    EXPECT_EQ(outcome.summary.known_failures, 2u);
    EXPECT_EQ(outcome.summary.verdict_input.statuses, (StatusCounts{0, 2, 0, 0, 0}));
    EXPECT_EQ(outcome.summary.verdict_input.known_failures, 2u);
    EXPECT_EQ(outcome.summary.verdict, RunVerdict::pass);
  }
}

// One that failed before was counted among the checks that fail still; one that passed warned without a word.
TEST(CompareKnownFailures, AKnownFailureThatFailedBeforeIsKnownAndOneThatPassesIsFixed) {
  ComparedMetric check;
  check.name = "must_contain";
  check.asked_by_name = true;
  check.passed = false;
  const ComparedCase before{"q", false, {check}};
  const auto with = [&](bool passed) {
    ComparedCase now = before;
    now.metrics[0].passed = passed;
    now.is_known_failure = true;
    return compare_all(cases_of({before}), cases_of({now}));
  };
  const auto failing = with(false);
  EXPECT_EQ(failing.rows.at("q must_contain").change, RowChange::known_failure);
  EXPECT_EQ(failing.summary.still_failing, 0u);
  EXPECT_EQ(failing.summary.known_failures, 1u);
  EXPECT_EQ(failing.summary.known_failures_passed, 0u);
  EXPECT_EQ(failing.summary.verdict, RunVerdict::pass);
  const auto passing = with(true);
  EXPECT_EQ(passing.rows.at("q must_contain").change, RowChange::fixed);
  EXPECT_EQ(passing.summary.known_failures_passed, 1u);
  EXPECT_EQ(passing.summary.verdict, RunVerdict::review);
}

TEST(CompareKnownFailures, AKnownFailureThatNothingJudgesCountsAsNoneThatPassed) {
  Thresholding tested;
  tested.mode = ThresholdMode::statistical;
  ComparedCase known = scored("a", 0.0, tested);
  known.is_known_failure = true;
  CompareRules rules;
  rules.min_pass_rates.general = 0.5;
  const auto outcome =
      compare_all(cases_of({scored("a", 1.0), scored("b", 0.5)}), cases_of({known, scored("b", 0.5)}), rules);
  EXPECT_EQ(change(outcome, "a"), RowChange::known_failure);
  EXPECT_EQ(outcome.summary.verdict_input.known_failures, 1u);
  EXPECT_EQ(outcome.summary.verdict, RunVerdict::pass);
  rules.min_pass_rates.general = 0.6;
  EXPECT_EQ(
      compare_all(cases_of({scored("a", 1.0), scored("b", 0.5)}), cases_of({known, scored("b", 0.5)}), rules)
          .summary.verdict,
      RunVerdict::fail);
}

}  // namespace sluice::compare_test
