// What becomes of failures that the suite knows.
#include "pinned_checks.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::pinned_checks_test {

TEST(KnownFailure, WarnsWhatFailsAndWhatPasses) {
  CaseAssessment failing = assessed(nullptr, {false});
  take_as_known_failure(failing);
  EXPECT_EQ(failing.status, CaseStatus::warn);
  EXPECT_EQ(failing.metrics[0].cause, MetricCause::known_failure);
  EXPECT_EQ(failing.metrics[0].spared, MetricCause::not_passed);
  EXPECT_TRUE(failing.only_known_failures());

  CaseAssessment passing = assessed(nullptr, {true});
  take_as_known_failure(passing);
  EXPECT_EQ(passing.status, CaseStatus::warn);
  EXPECT_EQ(passing.metrics[0].cause, MetricCause::known_failure_passed);
  EXPECT_FALSE(passing.only_known_failures());
  EXPECT_TRUE(passing.metrics[0].holds());
}

// It counted as passed in a minimum pass rate: under `statistical` nothing judges a single score.
TEST(KnownFailure, IsOneWhereNothingIsJudged) {
  const auto outcome = score_of(MetricId::semantic_similarity_to, 0.0);
  const Baseline pinned = baseline_of({{"q", similarity, 1.0}});
  Thresholding statistical;
  statistical.mode = ThresholdMode::statistical;
  for (const Gate& gate : {gate_of(nullptr), gate_of(&pinned, statistical)}) {
    CaseAssessment unjudged =
        gate.assess(kept(test_of("q", MetricId::semantic_similarity_to)), {&outcome, 1});
    ASSERT_EQ(unjudged.status, CaseStatus::pass);
    take_as_known_failure(unjudged);
    EXPECT_EQ(unjudged.status, CaseStatus::warn);
    EXPECT_EQ(unjudged.metrics.at(0).cause, MetricCause::known_failure);
    EXPECT_TRUE(unjudged.metrics.at(0).is_known_and_unjudged());
    EXPECT_EQ(unjudged.metrics.at(0).spared, MetricCause::none) << "nothing failed";
    EXPECT_TRUE(unjudged.only_known_failures());
    EXPECT_EQ(pass_rate(StatusCounts{.passed = 1, .warned = 1}, unjudged.is_excused() ? 1 : 0), 0.5);
  }
}

// A score that the baseline lacks let it count as passed in a minimum pass rate.
TEST(KnownFailure, DoesNotPassWhateverElseItsCaseWarnsOf) {
  Case test = test_of("q", contains);
  test.expectations.push_back(test_of("q", MetricId::semantic_similarity_to).expectations.front());
  const Case& both = kept(std::move(test));
  const Baseline pinned = baseline_of({{"q", "must_contain", 0.0, "", PinKind::checks}});
  const std::vector outcomes{verdict_of(contains, false), score_of(MetricId::semantic_similarity_to, 0.9)};
  const CaseAssessment warned = gate_of(&pinned).assess(both, outcomes);
  ASSERT_EQ(warned.status, CaseStatus::warn);
  EXPECT_EQ(warned.metrics[0].cause, MetricCause::still_failing);
  EXPECT_EQ(warned.metrics[1].cause, MetricCause::missing_in_baseline);
  EXPECT_FALSE(warned.only_known_failures()) << "the run is to be reviewed";
  EXPECT_TRUE(warned.is_excused());
  EXPECT_EQ(pass_rate(StatusCounts{.passed = 1, .warned = 1}, warned.is_excused() ? 1 : 0), 0.5);
}

TEST(KnownFailure, LeavesWhatAScoreDecidesToTheScore) {
  const Baseline pinned = baseline_of({{"f", "claims_recall", 0.5}, {"f", "claims_f1", 0.5}});
  const auto outcomes = claims_outcomes(std::nullopt, 0.1, 0.1, false);
  const Case& fixture = kept(fixture_of("f"));
  Thresholding statistical;
  statistical.mode = ThresholdMode::statistical;
  CaseAssessment known = gate_of(&pinned, statistical).assess(fixture, outcomes);
  take_as_known_failure(known);
  for (const AssessedMetric& metric : known.metrics) {
    if (metric.id == MetricId::claims_required) {
      EXPECT_EQ(metric.cause, MetricCause::assessed_by_score);
    }
  }
  EXPECT_TRUE(known.only_known_failures());
}

// It stood among what fails still, and its suite says that it is known.
TEST(KnownFailure, IsOneWhereTheBaselineFailedToo) {
  const Baseline failed = baseline_after({false});
  CaseAssessment known = assessed(&failed, {false});
  take_as_known_failure(known);
  EXPECT_EQ(known.metrics.at(0).cause, MetricCause::known_failure);
  EXPECT_EQ(known.metrics.at(0).spared, MetricCause::still_failing);
  EXPECT_EQ(known.change(), CaseChange::none);
  EXPECT_TRUE(known.only_known_failures());
  CaseAssessment in_some_repeat = repeated(&failed, {false, true, true});
  take_as_known_failure(in_some_repeat);
  EXPECT_FALSE(in_some_repeat.metrics.at(0).is_fixed());
  EXPECT_EQ(in_some_repeat.change(), CaseChange::none);
}

TEST(KnownFailure, IsNoRegressionAndNotBroken) {
  const Baseline baseline = baseline_after({true});
  CaseAssessment broken = assessed(&baseline, {false});
  ASSERT_TRUE(broken.regressed);
  take_as_known_failure(broken);
  EXPECT_FALSE(broken.regressed);
  EXPECT_EQ(broken.change(), CaseChange::none);
}

TEST(KnownFailure, DecidesNothingUnderStrictEither) {
  VerdictInput run;
  run.statuses = {.passed = 2, .warned = 1};
  EXPECT_EQ(run_verdict(run), RunVerdict::review);
  run.known_failures = 1;
  EXPECT_EQ(run_verdict(run), RunVerdict::pass);
  EXPECT_EQ(exit_code(RunVerdict::pass, run, {.strict = true}), 0);
}

}  // namespace sluice::pinned_checks_test
