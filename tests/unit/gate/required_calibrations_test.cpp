// A gate that asks for a calibration of its judge: without one, or with one that is not good enough, judge
// scores warn and fail nothing. Every expectation is worked out by hand.
#include "coordinator/gate/required_calibrations.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/gate/compare.hpp"
#include "coordinator/gate/repeated_assessment.hpp"
#include "coordinator/gate/statistical_gate.hpp"
#include "coordinator/gate/verdict_input.hpp"
#include "coordinator/suite/canonical_case.hpp"
#include "gate_fixture.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::required_calibrations_test {

using enum MetricCause;

const std::vector<Rubric> rubrics{{"faithfulness", "v1", "s", "u"}, {"faithfulness", "v2", "s", "u"}};
const JudgeIdentity gpt{"openai", "gpt-4o"};

/// Of faithfulness v1 by gpt-4o with three votes.
JudgeCalibration calibration(double kappa, double low) {
  JudgeCalibration one;
  one.key = {"demo",
             "faithfulness",
             "faithfulness",
             "v1",
             to_prefixed_hex(rubric_hash(rubrics[0])),
             "openai",
             "gpt-4o",
             3};
  one.against = "labels";
  one.answers = one.cases = 100;
  one.kappa = kappa;
  one.kappa_low = low;
  one.kappa_high = 0.95;
  return one;
}

std::shared_ptr<const RequiredCalibrations> asked_for(std::vector<JudgeCalibration> known,
                                                      const JudgeIdentity& judge = gpt,
                                                      double min_kappa = 0.6) {
  return std::make_shared<const RequiredCalibrations>(min_kappa, RunJudge(judge, rubrics), std::move(known));
}

Gate gate_asking(std::vector<JudgeCalibration> known, const Baseline* baseline = nullptr,
                 const JudgeIdentity& judge = gpt, Thresholding suite = {}) {
  return Gate({.suite = suite,
               .baseline = baseline,
               .default_max_drop = defaults::max_drop,
               .calibrations = asked_for(std::move(known), judge)});
}

struct Came {
  CaseStatus status;
  MetricCause cause;
  MetricCause spared = none;
  friend bool operator==(const Came&, const Came&) = default;
  friend void PrintTo(const Came& came, std::ostream* out) {
    *out << to_string(came.status) << ' ' << to_string(came.cause) << ' ' << to_string(came.spared);
  }
};

Came came(const CaseAssessment& assessment) {
  return {assessment.status, assessment.metrics.at(0).cause, assessment.metrics.at(0).spared};
}

Came came(const Gate& gate, std::vector<double> scores) {
  return came(assess_votes(gate, judged_test("q"), votes(std::move(scores))));
}

TEST(RequiredCalibrations, WithoutOneWhatWouldFailWarns) {
  const Gate gate = gate_asking({});
  EXPECT_EQ(came(gate, {0.1, 0.1, 0.1}), (Came{CaseStatus::warn, judge_uncalibrated, no_majority}));
  EXPECT_EQ(came(gate, {0.9, 0.9, 0.9}), (Came{CaseStatus::pass, none}));
  EXPECT_EQ(came(gate, {0.9, 0.9, 0.1}), (Came{CaseStatus::warn, judge_disagrees})) << "that warns anyway";
}

TEST(RequiredCalibrations, OneThatIsGoodEnoughLetsTheJudgeFail) {
  const Gate gate = gate_asking({calibration(0.8, 0.7)});
  EXPECT_EQ(came(gate, {0.1, 0.1, 0.1}), (Came{CaseStatus::fail, no_majority}));
}

TEST(RequiredCalibrations, TheLowerEndOfKappasIntervalCounts) {
  const auto standing = [](const JudgeCalibration& known) {
    return asked_for({known})->check({MetricId::faithfulness}, {.samples = 3, .rationale = {}}).standing;
  };
  EXPECT_EQ(standing(calibration(0.8, 0.6)), CalibrationStanding::calibrated) << "exactly at the limit";
  EXPECT_EQ(standing(calibration(0.8, 0.1 + 0.5)), CalibrationStanding::calibrated);
  EXPECT_EQ(standing(calibration(0.8, 0.59)), CalibrationStanding::kappa_low) << "the estimate is above";
  EXPECT_EQ(standing(calibration(0.3, 0.1)), CalibrationStanding::kappa_low);
  JudgeCalibration undefined = calibration(0, -1);
  undefined.kappa.reset();
  EXPECT_EQ(standing(undefined), CalibrationStanding::kappa_low);
  undefined.kappa_low = 1.0;
  EXPECT_EQ(standing(undefined), CalibrationStanding::kappa_low)
      << "without a kappa there is nothing to reach";
}

TEST(RequiredCalibrations, ALimitOfZeroStillAsksForOne) {
  const VoteTally tally{.samples = 3, .rationale = {}};
  EXPECT_EQ(asked_for({}, gpt, 0.0)->check({MetricId::faithfulness}, tally).standing,
            CalibrationStanding::missing);
  EXPECT_EQ(asked_for({calibration(0.2, 0.0)}, gpt, 0.0)->check({MetricId::faithfulness}, tally).standing,
            CalibrationStanding::calibrated);
  EXPECT_EQ(asked_for({calibration(0.2, -0.1)}, gpt, 0.0)->check({MetricId::faithfulness}, tally).standing,
            CalibrationStanding::kappa_low);
}

TEST(RequiredCalibrations, AnotherMetricRubricJudgeOrNumberOfVotesIsNotCalibratedByIt) {
  const auto standing_with = [](const std::function<void(JudgeCalibration&)>& change) {
    JudgeCalibration known = calibration(0.9, 0.8);
    change(known);
    return asked_for({known})->check({MetricId::faithfulness}, {.samples = 3, .rationale = {}}).standing;
  };
  using enum CalibrationStanding;
  EXPECT_EQ(standing_with([](JudgeCalibration&) {}), calibrated);
  EXPECT_EQ(standing_with([](JudgeCalibration& one) { one.key.metric = "relevancy"; }), missing);
  EXPECT_EQ(standing_with([](JudgeCalibration& one) { one.key.rubric_hash = "sha256:00"; }), missing)
      << "the same version in other words";
  EXPECT_EQ(standing_with([](JudgeCalibration& one) { one.key.judge_provider = "gemini"; }), missing);
  EXPECT_EQ(standing_with([](JudgeCalibration& one) { one.key.judge_model = "gpt-5"; }), missing);
  EXPECT_EQ(standing_with([](JudgeCalibration& one) { one.key.samples = 5; }), missing);
  const auto required = asked_for({calibration(0.9, 0.8)});
  EXPECT_EQ(required->check({MetricId::faithfulness}, {.rubric = 1, .samples = 3, .rationale = {}}).standing,
            missing)
      << "another version of the rubric";
  EXPECT_EQ(required->check({MetricId::faithfulness}, {.rubric = 9, .samples = 3, .rationale = {}}).standing,
            missing);
}

TEST(RequiredCalibrations, ThatOfTheFakeJudgeNeverCounts) {
  JudgeCalibration known = calibration(1.0, 0.9);
  known.key.judge_provider = "fake";
  known.key.judge_model = "";
  const Gate gate = gate_asking({known}, nullptr, {"fake", ""});
  EXPECT_EQ(came(gate, {0.1, 0.1, 0.1}), (Came{CaseStatus::warn, judge_uncalibrated, no_majority}));
  const auto required = asked_for({known}, {"fake", ""});
  EXPECT_EQ(required->check({MetricId::faithfulness}, {.samples = 3, .rationale = {}}).standing,
            CalibrationStanding::fake);
}

TEST(RequiredCalibrations, ALowKappaWarnsWithACauseOfItsOwn) {
  EXPECT_EQ(came(gate_asking({calibration(0.8, 0.59)}), {0.1, 0.1, 0.1}),
            (Came{CaseStatus::warn, judge_kappa_low, no_majority}));
}

TEST(RequiredCalibrations, ADropBelowTheBaselineIsNoRegressionThen) {
  const Baseline baseline = baseline_of({{"q", "faithfulness", 0.9}});
  const Gate gate = gate_asking({}, &baseline);
  const auto fell = assess_votes(gate, judged_test("q"), votes({0.7, 0.7, 0.7}));
  EXPECT_EQ(came(fell), (Came{CaseStatus::warn, judge_uncalibrated, dropped}));
  EXPECT_FALSE(fell.regressed);
  EXPECT_EQ(came(gate_asking({calibration(0.9, 0.8)}, &baseline), {0.7, 0.7, 0.7}),
            (Came{CaseStatus::fail, dropped}));
}

TEST(RequiredCalibrations, WhatWouldFailIsNoImprovement) {
  const Baseline low = baseline_of({{"q", "faithfulness", 0.1}});
  const auto better = assess_votes(gate_asking({}, &low), judged_test("q"), votes({0.4, 0.4, 0.4}));
  EXPECT_EQ(came(better), (Came{CaseStatus::warn, judge_uncalibrated, no_majority}));
  EXPECT_FALSE(better.improved);
}

TEST(RequiredCalibrations, OtherMetricsOfTheCaseFailAsEver) {
  Case test = judged_test("q");
  test.expectations.push_back({{MetricId::must_contain, {"a"}}, {}, std::nullopt});
  const JudgeScore judged = votes({0.1, 0.1, 0.1});
  const std::vector outcomes{verdict_of(MetricId::must_contain, false), outcome_of(judged)};
  const auto assessment = gate_asking({}).assess(test, outcomes, {&judged, 1});
  EXPECT_EQ(assessment.status, CaseStatus::fail);
  EXPECT_EQ(assessment.metrics[0].cause, not_passed);
  EXPECT_EQ(assessment.metrics[1].cause, judge_uncalibrated);
}

TEST(RequiredCalibrations, OfRepeatsEachIsSpared) {
  const Gate gate = gate_asking({});
  std::vector<CaseAssessment> all;
  for (const double score : {0.1, 0.1, 0.9})
    all.push_back(assess_votes(gate, judged_test("q"), votes({score, score, score})));
  const auto assessment =
      assessment_of_repeats(std::vector<const CaseAssessment*>{&all[0], &all[1], &all[2]});
  EXPECT_EQ(came(assessment), (Came{CaseStatus::warn, judge_uncalibrated, no_majority}));
}

TEST(RequiredCalibrations, AMeanThatDroppedIsSparedToo) {
  const Baseline baseline = baseline_of({{"q", "faithfulness", 0.9}});
  const auto of_scores = [&](const std::vector<double>& scores) {
    const Gate gate = gate_asking({}, &baseline);
    std::vector<JudgeScore> judged;
    for (const double score : scores) judged.push_back(votes({score, score, score}));
    std::vector<MetricOutcome> outcomes;
    for (const JudgeScore& one : judged) outcomes.push_back(outcome_of(one));
    std::vector<ScoredAnswer> answers;
    for (std::size_t i = 0; i < judged.size(); ++i) answers.push_back({{&outcomes[i], 1}, {&judged[i], 1}});
    const auto all = gate.assess_answers(judged_test("q"), answers, answers.size());
    return came(assessment_of_repeats(std::vector<const CaseAssessment*>{&all[0], &all[1], &all[2]}));
  };
  EXPECT_EQ(of_scores({0.6, 0.9, 0.9}), (Came{CaseStatus::warn, judge_uncalibrated, dropped}));
  EXPECT_EQ(of_scores({0.8, 1.0, 0.9}), (Came{CaseStatus::pass, none, none}));
}

/// Ten cases that fall from 0.9 to 0.6.
BaselineComparison fallen(const Gate& gate, const Baseline& baseline) {
  StatisticalGate tests({&baseline, gate.config().suite, 0.05, 1});
  for (int i = 0; i < 10; ++i) {
    const Case test = judged_test("q" + std::to_string(i));
    tests.add(test, assess_votes(gate, test, votes({0.6, 0.6, 0.6})));
  }
  BaselineComparison comparison;
  comparison.statistics = tests.finish();
  return comparison;
}

TEST(RequiredCalibrations, ARegressionOverAllCasesWarnsAlone) {
  std::vector<TestPin> pins;
  for (int i = 0; i < 10; ++i) pins.push_back({"q" + std::to_string(i), "faithfulness", 0.9});
  const Baseline baseline = baseline_of(pins);
  Thresholding statistical;
  statistical.mode = ThresholdMode::statistical;
  const auto input_of = [&](std::vector<JudgeCalibration> known) {
    VerdictInput input;
    input.statuses.passed = 10;
    count_comparison(fallen(gate_asking(std::move(known), &baseline, gpt, statistical), baseline), input);
    return input;
  };
  const VerdictInput uncalibrated = input_of({});
  EXPECT_EQ(uncalibrated.run_regressions, 0u);
  EXPECT_EQ(uncalibrated.warnings, 1u);
  EXPECT_EQ(run_verdict(uncalibrated), RunVerdict::review);
  EXPECT_EQ(run_verdict(input_of({calibration(0.9, 0.8)})), RunVerdict::regression);
  EXPECT_EQ(exit_code(RunVerdict::review, uncalibrated, {.strict = true}), 1);
}

TEST(RequiredCalibrations, TheFoldNamesEachWayOfJudgingOnce) {
  const auto required = asked_for({calibration(0.9, 0.8)});
  const Gate gate({.suite = {}, .calibrations = required});
  CalibrationFold fold(required);
  fold.add(assess_votes(gate, judged_test("a"), votes({0.9, 0.9, 0.9})).metrics);
  fold.add(assess_votes(gate, judged_test("b"), votes({0.1, 0.1, 0.1})).metrics);
  fold.add(assess_votes(gate, judged_test("c"), votes({0.9})).metrics);
  const RunCalibrations run = fold.finish(rubrics);
  ASSERT_EQ(run.metrics.size(), 2u);
  EXPECT_EQ(run.metrics[0].samples, 1u);
  EXPECT_EQ(run.metrics[0].check.standing, CalibrationStanding::missing);
  EXPECT_EQ(run.metrics[1].samples, 3u);
  EXPECT_EQ(run.metrics[1].check.standing, CalibrationStanding::calibrated);
  EXPECT_EQ(run.metrics[1].rubric_version, "v1");
  EXPECT_EQ(run.uncalibrated(), std::vector{ScoreId{MetricId::faithfulness}});
}

TEST(RequiredCalibrations, OneOfOtherCriteriaDoesNotCount) {
  Case polite = judged_test("q");
  polite.expectations[0].judge->criteria = "polite";
  JudgeCalibration known = calibration(0.9, 0.8);
  known.criteria = criteria_digest(polite.expectations[0]);
  const auto came = [&](const Case& test, const JudgeCalibration& one) {
    const CaseAssessment assessed = assess_votes(gate_asking({one}), test, votes({0.1, 0.1, 0.1}));
    return Came{assessed.status, assessed.metrics[0].cause, assessed.metrics[0].spared};
  };
  EXPECT_EQ(came(polite, known), (Came{CaseStatus::fail, no_majority}));
  Case other = polite;
  other.expectations[0].judge->reference = "r";
  EXPECT_EQ(came(other, known), (Came{CaseStatus::fail, no_majority})) << "references are each test's own";
  Case strict = polite;
  strict.expectations[0].min_score = 0.9;
  EXPECT_EQ(came(strict, known), (Came{CaseStatus::warn, judge_uncalibrated, no_majority}));
  Case short_one = polite;
  short_one.expectations[0].judge->criteria = "short";
  EXPECT_EQ(came(short_one, known), (Came{CaseStatus::warn, judge_uncalibrated, no_majority}));
  EXPECT_EQ(came(short_one, calibration(0.9, 0.8)), (Came{CaseStatus::fail, no_majority}))
      << "a calibration of several criteria, or of an earlier sluice, does not say them";

  const auto required = asked_for({known});
  const Gate gate({.suite = {}, .calibrations = required});
  CalibrationFold fold(required);
  for (const Case& test : {polite, short_one, polite})
    fold.add(assess_votes(gate, test, votes({0.9, 0.9, 0.9})).metrics);
  const RunCalibrations run = fold.finish(rubrics);
  ASSERT_EQ(run.metrics.size(), 1u);
  EXPECT_EQ(run.metrics[0].check.standing, CalibrationStanding::other_criteria);
}

/// A side of one judged case.
NextCase side_of(const ComparedCase& only) {
  return [&only, given = false]() mutable -> Result<const ComparedCase*> {
    if (std::exchange(given, true)) return nullptr;
    return &only;
  };
}

TEST(RequiredCalibrations, CompareJudgesAReportAsItsRunDid) {
  ComparedMetric judged;
  judged.name = "faithfulness";
  judged.score = 0.1;
  judged.passed = false;
  judged.votes = {{.samples = 3, .votes = 3, .passed = 0, .rationale = {}}};
  ComparedCase current{"q", false, {judged}};
  ComparedCase base = current;
  base.metrics[0].score = 0.9;
  base.metrics[0].votes.clear();
  const auto status_with = [&](std::optional<CalibrationStanding> standing) {
    current.metrics[0].calibration = standing;
    std::string row;
    const auto visit = [&](const ScoreComparison& one) {
      row = std::string(to_string(one.status)) + ' ' + std::string(to_string(one.cause));
    };
    const auto summary = compare(side_of(base), side_of(current), CompareRules{}, visit);
    EXPECT_TRUE(summary);
    const auto notice = uncalibrated_notice(*summary, "report.json", false);
    return row + (notice ? ' ' + notice->code : "");
  };
  using enum CalibrationStanding;
  EXPECT_EQ(status_with(std::nullopt), "fail dropped");
  EXPECT_EQ(status_with(calibrated), "fail dropped");
  EXPECT_EQ(status_with(missing), "warn judge_uncalibrated judge_uncalibrated");
  EXPECT_EQ(status_with(fake), "warn judge_uncalibrated judge_uncalibrated");
  EXPECT_EQ(status_with(kappa_low), "warn judge_kappa_low judge_uncalibrated");
}

}  // namespace sluice::required_calibrations_test
