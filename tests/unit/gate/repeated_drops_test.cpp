// A drop below the baseline is asked of the mean of a case's repeats; everything else of each by itself.
#include "coordinator/gate/baseline_export.hpp"
#include "coordinator/gate/compare.hpp"
#include "coordinator/gate/repeated_assessment.hpp"
#include "gate_fixture.hpp"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::repeated_drops_test {

constexpr auto scored = MetricId::semantic_similarity_to;

CaseAssessment together(const std::vector<CaseAssessment>& repeats) {
  std::vector<const CaseAssessment*> views;
  for (const CaseAssessment& one : repeats) views.push_back(&one);
  return assessment_of_repeats(views);
}

/// What the gate makes of each repeat of a case with these outcomes.
std::vector<CaseAssessment> each_of(const Gate& gate, const Case& test,
                                    const std::vector<std::vector<MetricOutcome>>& outcomes) {
  std::vector<ScoredAnswer> answers;
  for (const auto& one : outcomes) answers.push_back({one});
  std::vector<CaseAssessment> repeats = gate.assess_answers(test, answers, answers.size());
  for (CaseAssessment& repeat : repeats) {
    for (AssessedMetric& metric : repeat.metrics) {
      metric.detail = {};
      metric.expectation = nullptr;  // The test may be gone with the caller's call.
    }
  }
  return repeats;
}

std::vector<std::vector<MetricOutcome>> outcomes_of(const std::vector<double>& scores) {
  std::vector<std::vector<MetricOutcome>> outcomes;
  for (const double score : scores) outcomes.push_back({score_of(scored, score)});
  return outcomes;
}

/// A test by one score, beside a baseline's.
CaseAssessment beside(double pinned, const std::vector<double>& scores, Thresholding thresholding = {},
                      std::optional<double> min_score = std::nullopt) {
  const Baseline baseline = baseline_of({{"q", similarity, pinned}});
  Case test = test_of("q", scored, thresholding);
  test.expectations[0].min_score = min_score;
  return together(each_of(gate_of(&baseline), test, outcomes_of(scores)));
}

// The run that a baseline was made of failed beside it.
TEST(RepeatedDrops, ScatterAroundTheMeanIsNone) {
  for (const auto& scores : std::vector<std::vector<double>>{{1.0 / 3, 1.0 / 3, 1}, {0.75, 4.0 / 7, 1}}) {
    MeanScore mean;
    for (const double score : scores) mean.add(score);
    const CaseAssessment same = beside(*mean.mean(), scores);
    EXPECT_EQ(same.status, CaseStatus::pass);
    EXPECT_FALSE(same.regressed);
    EXPECT_FALSE(same.improved);
    EXPECT_EQ(same.metrics[0].status, MetricStatus::pass);
    EXPECT_EQ(same.metrics[0].limit, from_billionths(billionths(*mean.mean()) - 50'000'000));
  }
}

TEST(RepeatedDrops, AMeanThatDroppedFailsTheCaseAsAWhole) {
  const CaseAssessment fell = beside(1.0, {1, 1, 0.4});
  EXPECT_EQ(fell.status, CaseStatus::fail) << "one repeat of three is below the limit, and it is not flaky";
  EXPECT_TRUE(fell.regressed);
  const AssessedMetric& metric = fell.metrics[0];
  EXPECT_EQ(metric.status, MetricStatus::fail);
  EXPECT_EQ(metric.cause, MetricCause::dropped);
  EXPECT_EQ(metric.score, 0.8);
  EXPECT_EQ(metric.limit, 0.95);
  EXPECT_FALSE(metric.only_in_other_repeats);
  EXPECT_EQ(beside(1.0, {0.95, 0.9, 1}).status, CaseStatus::pass) << "exactly at the limit";
  EXPECT_EQ(beside(1.0, {0.95, 0.9, 0.999}).status, CaseStatus::fail);
}

TEST(RepeatedDrops, TheRepeatThatIsShownIsOneBelowTheLimit) {
  const Baseline baseline = baseline_of({{"q", similarity, 1.0}});
  const auto repeats = each_of(gate_of(&baseline), test_of("q", scored), outcomes_of({1, 0.4, 1}));
  EXPECT_EQ(repeats[0].status, CaseStatus::pass);
  EXPECT_EQ(repeats[1].status, shown_status(together(repeats).status));
  EXPECT_EQ(repeats[2].status, CaseStatus::pass);
}

TEST(RepeatedDrops, OneRepeatIsHeldAgainstTheBaselineByItself) {
  EXPECT_EQ(beside(0.9, {0.85}).status, CaseStatus::pass);
  EXPECT_TRUE(beside(0.9, {0.84}).regressed);
}

TEST(RepeatedDrops, AFloorIsAskedOfEachRepeat) {
  const CaseAssessment flaky = beside(0.7, {0.3, 0.9, 0.9}, floor_of(0.4));
  EXPECT_EQ(flaky.status, CaseStatus::flaky);
  EXPECT_EQ(flaky.metrics[0].cause, MetricCause::below_min_floor);
  EXPECT_EQ(flaky.metrics[0].limit, 0.4) << "that of the baseline is not missed";
  const CaseAssessment failed = beside(0.5, {0.3, 0.3, 0.9}, floor_of(0.4));
  EXPECT_EQ(failed.status, CaseStatus::fail);
  EXPECT_FALSE(failed.regressed);
  EXPECT_EQ(failed.metrics[0].cause, MetricCause::below_min_floor);
}

TEST(RepeatedDrops, AbsoluteAndStatisticalThresholdsKnowNoDrop) {
  EXPECT_EQ(beside(1.0, {0.3, 0.9, 0.9}, absolute(0.5)).status, CaseStatus::flaky);
  EXPECT_FALSE(beside(1.0, {0.3, 0.3, 0.9}, absolute(0.5)).regressed);
  Thresholding statistical;
  statistical.mode = ThresholdMode::statistical;
  const CaseAssessment left = beside(1.0, {0, 0, 0}, statistical);
  EXPECT_EQ(left.status, CaseStatus::pass);
  EXPECT_TRUE(left.metrics[0].is_left_to_tests);
}

TEST(RepeatedDrops, AFixedLimitDoesNotHideADrop) {
  const CaseAssessment flaky = beside(0.8, {1, 1, 0.4}, {}, 0.9);
  EXPECT_EQ(flaky.status, CaseStatus::flaky);
  EXPECT_EQ(flaky.metrics[0].cause, MetricCause::below_min_score);
  // 0.85 is the baseline's limit, and 0.8 the mean.
  const CaseAssessment fell = beside(0.9, {1, 1, 0.4}, {}, 0.9);
  EXPECT_EQ(fell.status, CaseStatus::fail);
  EXPECT_TRUE(fell.regressed) << "by the fixed limit it would be flaky";
  EXPECT_EQ(fell.metrics[0].cause, MetricCause::dropped);
  EXPECT_EQ(fell.metrics[0].limit, 0.85);
  const CaseAssessment low = beside(0.9, {0.8, 0.8, 0.8}, {}, 0.9);
  EXPECT_EQ(low.metrics[0].cause, MetricCause::dropped);
  EXPECT_EQ(low.metrics[0].own_cause, MetricCause::below_min_score);
  EXPECT_TRUE(low.regressed);
  EXPECT_EQ(fell.metrics[0].own_cause, MetricCause::none) << "one repeat of three";
  const CaseAssessment as_before = beside(0.89, {0.8, 0.8, 0.8}, {}, 0.9);
  EXPECT_EQ(as_before.metrics[0].cause, MetricCause::below_min_score) << "what was pinned had failed too";
  EXPECT_FALSE(as_before.regressed);
}

// Two of three repeats were at the floor when the baseline was made, and their mean was not.
TEST(RepeatedDrops, AFlakyBaselineHadNotFailed) {
  Baseline baseline;
  const std::vector<double> pinned{0.6, 0.6, 0.1};
  baseline.add({"q", similarity, 0.433333333, {}, pinned});
  (void)baseline.seal();
  const auto fell = together(
      each_of(gate_of(&baseline), test_of("q", scored, floor_of(0.5)), outcomes_of({0.1, 0.1, 0.1})));
  EXPECT_EQ(fell.metrics[0].cause, MetricCause::dropped);
  EXPECT_TRUE(fell.regressed);
}

TEST(RepeatedDrops, AnotherMetricDoesNotHideADrop) {
  Case test = test_of("q", scored);
  test.expectations.push_back({{MetricId::must_contain, {"a"}}, {}, std::nullopt});
  const Baseline baseline = baseline_of({{"q", similarity, 0.9}});
  const std::vector<MetricOutcome> bad{score_of(scored, 0.1), verdict_of(MetricId::must_contain, false)};
  const std::vector<MetricOutcome> unchecked{score_of(scored, 0.9),
                                             verdict_of(MetricId::must_contain, false)};
  EXPECT_TRUE(together(each_of(gate_of(&baseline), test, {bad, bad, bad})).regressed);
  EXPECT_FALSE(together(each_of(gate_of(&baseline), test, {unchecked, unchecked, unchecked})).regressed);
}

TEST(RepeatedDrops, ChecksStayThoseOfEachRepeat) {
  Case test = test_of("q", scored);
  test.expectations.push_back({{MetricId::must_contain, {"a"}}, {}, std::nullopt});
  const Baseline baseline = baseline_of({{"q", similarity, 0.5}});
  const auto assess = [&](double third) {
    return together(each_of(gate_of(&baseline), test,
                            {{score_of(scored, 0), verdict_of(MetricId::must_contain, false)},
                             {score_of(scored, 0.5), verdict_of(MetricId::must_contain, true)},
                             {score_of(scored, third), verdict_of(MetricId::must_contain, true)}}));
  };
  EXPECT_EQ(assess(1).status, CaseStatus::flaky) << "by the check";
  EXPECT_EQ(assess(1).metrics[0].status, MetricStatus::pass);
  EXPECT_EQ(assess(0.5).status, CaseStatus::fail);
  EXPECT_EQ(assess(0.5).metrics[1].status, MetricStatus::flaky);
}

TEST(RepeatedDrops, AnUndefinedRepeatIsNoPartOfTheMeanAndFailsByItself) {
  const Baseline baseline = baseline_of({{"q", "claims_precision", 0.9}});
  const auto precision = [&](std::optional<double> first) {
    std::vector<std::vector<MetricOutcome>> outcomes;
    for (const auto& score : {first, std::optional(0.7), std::optional(1.0)})
      outcomes.push_back({score_of(MetricId::claims_precision, score)});
    return together(each_of(gate_of(&baseline), fixture_of("q"), outcomes));
  };
  EXPECT_EQ(precision(std::nullopt).status, CaseStatus::flaky);
  EXPECT_EQ(precision(std::nullopt).metrics[0].cause, MetricCause::became_undefined);
  EXPECT_EQ(precision(0.0).metrics[0].cause, MetricCause::dropped);
}

// A run failed beside its own baseline, which pins the score of its one answer with claims.
TEST(RepeatedDrops, AScoreThatWasMostlyUndefinedIsNoRegressionWhereItIsAgain) {
  const auto answered = claims_outcomes(0.5, 0.5, 0.5);
  const auto silent = claims_outcomes(std::nullopt, 0.0, 0.0, false);
  const std::vector<std::vector<MetricOutcome>> mostly_silent{silent, answered, silent};
  const auto pinned_of_run = [&](const std::vector<std::vector<MetricOutcome>>& outcomes) {
    BaselineExport pins({"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"}, "model");
    pins.add("f", together(each_of(Gate(), fixture_of("f"), outcomes)));
    return *pins.finish();
  };
  Thresholding statistical;
  statistical.mode = ThresholdMode::statistical;
  const Baseline baseline = pinned_of_run(mostly_silent);
  for (const Thresholding& suite : {Thresholding{}, statistical}) {
    const CaseAssessment same = together(each_of(gate_of(&baseline, suite), fixture_of("f"), mostly_silent));
    EXPECT_EQ(same.status, CaseStatus::pass);
    EXPECT_FALSE(same.regressed);
    EXPECT_EQ(same.metrics[0].baseline, 0.5);
    EXPECT_EQ(same.metrics[0].is_left_to_tests, suite.mode.has_value()) << "of the answer with claims";
  }
  const Baseline half = pinned_of_run({silent, answered});
  EXPECT_TRUE(together(each_of(gate_of(&half), fixture_of("f"), mostly_silent)).regressed);
  EXPECT_TRUE(together(each_of(gate_of(&baseline), fixture_of("f"), {silent, silent, silent})).regressed)
      << "recall fell";
}

// A claim where nothing is expected, and nothing had been claimed, was compared with nothing.
TEST(RepeatedDrops, SilenceIsWorthOneWhereNothingIsExpected) {
  const auto answered = [](bool is_silent) {
    auto outcomes = is_silent ? claims_outcomes(std::nullopt, std::nullopt, std::nullopt)
                              : claims_outcomes(0.0, std::nullopt, 0.0);
    outcomes.push_back(verdict_of(MetricId::claims_absent, is_silent));
    return outcomes;
  };
  const auto assessed = [&](const Baseline* baseline, const std::vector<bool>& silent,
                            const Thresholding& suite = {}) {
    std::vector<std::vector<MetricOutcome>> outcomes;
    for (const bool one : silent) outcomes.push_back(answered(one));
    return together(each_of(gate_of(baseline, suite), safe_fixture_of("f"), outcomes));
  };
  const auto pinned_of_run = [&](const std::vector<bool>& silent) {
    BaselineExport pins({"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"}, "model");
    pins.add("f", assessed(nullptr, silent));
    return *pins.finish();
  };
  const Baseline silent = pinned_of_run({true, true, true});
  EXPECT_EQ(silent.score("f", "claims_precision"), 1.0);
  EXPECT_EQ(silent.score("f", "claims_f1"), 1.0);
  EXPECT_FALSE(silent.score("f", "claims_recall")) << "it is never defined";
  EXPECT_EQ(pinned_of_run({true, false, true}).score("f", "claims_f1"), 0.666666667);

  const CaseAssessment same = assessed(&silent, {true, true, true});
  EXPECT_EQ(same.status, CaseStatus::pass);
  EXPECT_FALSE(same.improved);
  EXPECT_TRUE(assessed(&silent, {false, false, false}).regressed);
  EXPECT_TRUE(assessed(&silent, {false}).regressed);
  Thresholding statistical;
  statistical.mode = ThresholdMode::statistical;
  EXPECT_EQ(assessed(&silent, {false}, statistical).status, CaseStatus::fail) << "by claims_absent";
  EXPECT_EQ(assessed(&silent, {true}, statistical).status, CaseStatus::pass);
  const Baseline sometimes = pinned_of_run({true, false, true});
  EXPECT_EQ(assessed(&sometimes, {true, false, true}).status, CaseStatus::pass);
  EXPECT_TRUE(assessed(&sometimes, {true, true, true}).improved);
  EXPECT_TRUE(assessed(&sometimes, {false, false, true}).regressed);
}

TEST(RepeatedDrops, AKnownFailureExcusesThem) {
  CaseAssessment known = beside(1.0, {1, 1, 0.4});
  take_as_known_failure(known);
  EXPECT_EQ(known.status, CaseStatus::warn);
  EXPECT_TRUE(known.only_known_failures());
  EXPECT_EQ(known.metrics[0].spared, MetricCause::dropped);
  CaseAssessment passing = beside(0.56, {0.34, 0.34, 1});
  take_as_known_failure(passing);
  EXPECT_EQ(passing.metrics[0].cause, MetricCause::known_failure_passed);
}

// The arm of --baseline-arm is its own baseline, and does not regress against itself.
TEST(RepeatedDrops, TheBaselinesOwnArmLacksNoScoreThatItNeverHad) {
  const Baseline baseline = baseline_of({{"q@a", "claims_precision", 1.0}, {"q@b", "claims_precision", 1.0}});
  Gate::Config config = gate_of(&baseline).config();
  config.baseline_arm = 0;
  const std::vector<std::vector<MetricOutcome>> outcomes{{score_of(MetricId::claims_precision, std::nullopt)},
                                                         {score_of(MetricId::claims_precision, std::nullopt)},
                                                         {score_of(MetricId::claims_precision, 1.0)}};
  Case own = fixture_of("q@a");
  EXPECT_EQ(together(each_of(Gate(config), own, outcomes)).status, CaseStatus::pass);
  Case other = fixture_of("q@b");
  other.arm = 1;
  EXPECT_TRUE(together(each_of(Gate(config), other, outcomes)).regressed);
}

// --- Whatever the scores

/// Scores from `least` on in millionths, so that a difference of two is one of their means.
std::vector<double> any_repeats(int least) {
  std::vector<double> scores;
  const int count = *rc::gen::inRange(2, 7);
  for (int i = 0; i < count; ++i) scores.push_back(*rc::gen::inRange(least, 1'000'001) / 1e6);
  return scores;
}

Baseline pinned_of(const std::vector<double>& scores) {
  BaselineExport pins({"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"}, "model");
  const auto repeats = each_of(Gate(), test_of("q", scored), outcomes_of(scores));
  pins.add("q", together(repeats));
  return *pins.finish();
}

CaseAssessment gated(const Baseline& baseline, const std::vector<double>& scores, double allowed) {
  return together(each_of(gate_of(&baseline), test_of("q", scored, max_drop(allowed)), outcomes_of(scores)));
}

/// A report's case with these repeats, and nothing after it.
NextCase report_of(const std::vector<double>& scores, Thresholding thresholding) {
  ComparedMetric metric;
  metric.name = similarity;
  MeanScore mean;
  for (const double score : scores) {
    mean.add(score);
    metric.repeat_scores.emplace_back(score);
  }
  metric.score = mean.mean();
  metric.thresholding = thresholding;
  return [one = ComparedCase{"q", false, {metric}}, is_out = false]() mutable -> Result<const ComparedCase*> {
    return std::exchange(is_out, true) ? nullptr : &one;
  };
}

CompareSummary compared(const std::vector<double>& base, const std::vector<double>& now,
                        Thresholding thresholding) {
  return *compare(report_of(base, {}), report_of(now, thresholding), {}, [](const ScoreComparison&) {});
}

RC_GTEST_PROP(RepeatedDropsProperty, ARunBesideItselfIsAsGoodAsBefore, ()) {
  const std::vector<double> scores = any_repeats(0);
  const double allowed = *rc::gen::inRange(0, 1'000'001) / 1e6;
  const CaseAssessment same = gated(pinned_of(scores), scores, allowed);
  RC_ASSERT(same.status == CaseStatus::pass);
  RC_ASSERT(!same.regressed && !same.improved);
  const CompareSummary summary = compared(scores, scores, max_drop(allowed));
  RC_ASSERT(summary.verdict == RunVerdict::pass);
  RC_ASSERT(summary.unchanged == 1u);
}

RC_GTEST_PROP(RepeatedDropsProperty, LowerByMoreThanIsAllowedFailsWhateverTheFixedLimits, ()) {
  const int allowed = *rc::gen::inRange(0, 500'000);
  const int drop = *rc::gen::inRange(allowed + 1, 500'002);
  const std::vector<double> before = any_repeats(drop);
  std::vector<double> lower;
  for (const double score : before) lower.push_back(score - drop / 1e6);
  const CaseAssessment fell = gated(pinned_of(before), lower, allowed / 1e6);
  RC_ASSERT(fell.status == CaseStatus::fail);
  RC_ASSERT(fell.regressed);
  Thresholding thresholding = max_drop(allowed / 1e6);
  RC_ASSERT(compared(before, lower, thresholding).regressions == 1u);
  thresholding.min_floor = *rc::gen::inRange(0, 1'000'001) / 1e6;
  RC_ASSERT(compared(before, lower, thresholding).verdict_input.statuses.failed == 1u);
}

RC_GTEST_PROP(RepeatedDropsProperty, CompareComesToWhatTheGateDoes, ()) {
  const std::vector<double> before = any_repeats(0);
  const std::vector<double> now = any_repeats(0);
  Thresholding thresholding = max_drop(*rc::gen::inRange(0, 500'000) / 1e6);
  if (*rc::gen::arbitrary<bool>()) thresholding.min_floor = *rc::gen::inRange(0, 1'000'001) / 1e6;
  const Baseline baseline = pinned_of(before);
  const CaseAssessment by_gate =
      together(each_of(gate_of(&baseline), test_of("q", scored, thresholding), outcomes_of(now)));
  StatusCounts statuses;
  statuses.add(by_gate.status);
  const CompareSummary summary = compared(before, now, thresholding);
  RC_ASSERT(summary.verdict_input.statuses == statuses);
  RC_ASSERT(summary.verdict_input.regressed == (by_gate.regressed ? 1u : 0u));
}

}  // namespace sluice::repeated_drops_test
