#include "coordinator/gate/gate.hpp"

#include "gate_fixture.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace sluice {
namespace {

CaseAssessment assess_similarity(double score, double baseline_score, Thresholding thresholding) {
  const Baseline baseline = baseline_of({{"q_1", similarity, baseline_score}});
  const auto outcome = score_of(MetricId::semantic_similarity_to, score);
  return gate_of(&baseline).assess(test_of("q_1", MetricId::semantic_similarity_to, thresholding),
                                   {&outcome, 1});
}

const AssessedMetric& metric(const CaseAssessment& assessment, MetricId id) {
  for (const AssessedMetric& one : assessment.metrics) {
    if (one.id == id) return one;
  }
  throw std::runtime_error("no such metric was judged");
}

// --- The gate ADR's scenarios
// --------------------------------------------------------------------------------

TEST(Gate, FailsTheRegressionOfTheAdr) {
  const CaseAssessment assessment = assess_similarity(0.85, 0.92, max_drop(0.05));
  EXPECT_EQ(assessment.status, CaseStatus::fail);
  EXPECT_TRUE(assessment.regressed);
  const AssessedMetric& assessed = assessment.metrics.at(0);
  EXPECT_EQ(assessed.cause, MetricCause::dropped);
  EXPECT_EQ(assessed.delta(), -0.07);
  EXPECT_EQ(assessed.limit, 0.87);
  EXPECT_EQ(assessed.baseline, 0.92);
}

TEST(Gate, PassesADropOfExactlyTheLimit) {
  ASSERT_LT(0.85 - 0.92, -0.07);  // What the comparison in binary would fall for.
  const CaseAssessment assessment = assess_similarity(0.85, 0.92, max_drop(0.07));
  EXPECT_EQ(assessment.status, CaseStatus::pass);
  EXPECT_EQ(assessment.metrics.at(0).limit, 0.85);
  EXPECT_EQ(assess_similarity(0.849999999, 0.92, max_drop(0.07)).status, CaseStatus::fail);
}

TEST(Gate, PassesTheImprovementOfTheAdr) {
  const CaseAssessment assessment = assess_similarity(0.82, 0.80, max_drop(0.05));
  EXPECT_EQ(assessment.status, CaseStatus::pass);
  EXPECT_TRUE(assessment.improved);
  EXPECT_EQ(assessment.metrics.at(0).delta(), 0.02);
}

TEST(Gate, IsExactAtEveryLimitOfTwoDecimals) {
  for (int pinned = 0; pinned <= 100; ++pinned) {
    for (int drop = 0; drop <= pinned; ++drop) {
      const double at_limit = (pinned - drop) / 100.0;
      const auto assessment = assess_similarity(at_limit, pinned / 100.0, max_drop(drop / 100.0));
      EXPECT_EQ(assessment.status, CaseStatus::pass) << pinned << " " << drop;
      if (at_limit == 0.0) continue;
      const auto below = assess_similarity(at_limit - 1e-9, pinned / 100.0, max_drop(drop / 100.0));
      EXPECT_EQ(below.status, CaseStatus::fail) << pinned << " " << drop;
    }
  }
}

// --- Thresholding
// --------------------------------------------------------------------------------------------

TEST(Gate, MergesTheTestsThresholdingOverTheSuitesKeyByKey) {
  const Baseline baseline = baseline_of({{"q", similarity, 0.95}});
  Thresholding suite;
  suite.mode = ThresholdMode::relative;
  suite.max_drop = 0.03;
  suite.min_floor = 0.80;
  const Gate gate = gate_of(&baseline, suite);
  const auto status = [&](double score, Thresholding own) {
    const auto outcome = score_of(MetricId::semantic_similarity_to, score);
    return gate.assess(test_of("q", MetricId::semantic_similarity_to, own), {&outcome, 1}).metrics.at(0);
  };
  EXPECT_EQ(status(0.92, {}).status, MetricStatus::pass);
  EXPECT_EQ(status(0.91, {}).cause, MetricCause::dropped);
  EXPECT_EQ(status(0.91, max_drop(0.10)).status, MetricStatus::pass);
  EXPECT_EQ(status(0.80, max_drop(0.50)).status, MetricStatus::pass);
  EXPECT_EQ(status(0.79, max_drop(0.50)).cause, MetricCause::below_min_floor);  // The suite's floor stays.
  EXPECT_EQ(status(0.10, absolute(0.10)).status, MetricStatus::pass);           // The suite's keys are off.
  EXPECT_EQ(status(0.09, absolute(0.10)).cause, MetricCause::below_min_score);
}

// The cause names the higher limit, the baseline's, so that arms below a floor seemed to pass.
TEST(Gate, SeesThatAFixedLimitIsMissedWhateverTheCauseIs) {
  const auto fails_by_itself = [](std::optional<double> score, const Thresholding& own, MetricCause cause) {
    const Baseline baseline = baseline_of({{"q", similarity, 0.95}});
    const auto outcome = score_of(MetricId::semantic_similarity_to, score);
    const auto assessment =
        gate_of(&baseline).assess(test_of("q", MetricId::semantic_similarity_to, own), {&outcome, 1});
    EXPECT_EQ(assessment.metrics.at(0).cause, cause);
    return assessment.metrics.at(0).fails_by_itself();
  };
  EXPECT_TRUE(fails_by_itself(0.4, floor_of(0.5), MetricCause::dropped));
  EXPECT_FALSE(fails_by_itself(0.5, floor_of(0.5), MetricCause::dropped));
  EXPECT_FALSE(fails_by_itself(0.4, {}, MetricCause::dropped));
  EXPECT_TRUE(fails_by_itself(std::nullopt, floor_of(0.5), MetricCause::became_undefined));
  EXPECT_FALSE(fails_by_itself(std::nullopt, {}, MetricCause::became_undefined));
  EXPECT_TRUE(fails_by_itself(0.4, absolute(0.5), MetricCause::below_min_score));
  EXPECT_FALSE(fails_by_itself(0.5, absolute(0.5), MetricCause::none));
  const Baseline failed = baseline_of({{"q", "must_contain", 0.0, "", PinKind::checks}});
  const auto outcome = verdict_of(MetricId::must_contain, false);
  const auto still = gate_of(&failed).assess(test_of("q", MetricId::must_contain), {&outcome, 1});
  EXPECT_EQ(still.metrics.at(0).cause, MetricCause::still_failing);
  EXPECT_TRUE(still.metrics.at(0).fails_by_itself());
}

TEST(Gate, TakesTheGivenDefaultForMaxDrop) {
  const Baseline baseline = baseline_of({{"q", similarity, 0.9}});
  const auto outcome = score_of(MetricId::semantic_similarity_to, 0.8);
  const Case test = test_of("q", MetricId::semantic_similarity_to);
  Gate::Config config;
  config.baseline = &baseline;
  EXPECT_EQ(Gate(config).assess(test, {&outcome, 1}).status, CaseStatus::fail);
  config.default_max_drop = 0.1;
  EXPECT_EQ(Gate(config).assess(test, {&outcome, 1}).status, CaseStatus::pass);
}

TEST(Gate, LeavesRelativeItsFloorWithoutABaseline) {
  Thresholding relative = floor_of(0.8);
  relative.mode = ThresholdMode::relative;
  relative.max_drop = 0.0;
  relative.min_score = 1.0;  // Of the other mode.
  const auto assess = [&](double score) {
    const auto outcome = score_of(MetricId::semantic_similarity_to, score);
    return gate_of(nullptr).assess(test_of("q", MetricId::semantic_similarity_to, relative), {&outcome, 1});
  };
  EXPECT_EQ(assess(0.8).status, CaseStatus::pass);
  EXPECT_EQ(assess(0.79).metrics.at(0).cause, MetricCause::below_min_floor);
  EXPECT_FALSE(assess(0.79).regressed);
}

TEST(Gate, HoldsTheExpectedMinimumBesideEverything) {
  const Baseline baseline = baseline_of({{"q", similarity, 0.5}});
  Case test = test_of("q", MetricId::semantic_similarity_to, max_drop(0.5));
  test.expectations[0].min_score = 0.7;
  const auto outcome = score_of(MetricId::semantic_similarity_to, 0.69);
  const auto assessment = gate_of(&baseline).assess(test, {&outcome, 1});
  EXPECT_EQ(assessment.metrics.at(0).cause, MetricCause::below_min_score);
  EXPECT_EQ(assessment.metrics.at(0).limit, 0.7);
  EXPECT_FALSE(assessment.regressed);
  EXPECT_FALSE(assessment.improved);
}

TEST(Gate, NamesTheLimitThatAsksForMost) {
  Thresholding both = max_drop(0.05);
  both.min_floor = 0.80;
  EXPECT_EQ(assess_similarity(0.70, 0.92, both).metrics.at(0).cause, MetricCause::dropped);
  EXPECT_EQ(assess_similarity(0.79, 0.84, both).metrics.at(0).cause, MetricCause::below_min_floor);
  EXPECT_EQ(assess_similarity(0.79, 0.84, both).metrics.at(0).limit, 0.80);
}

// A higher floor, or a check that is new, made an ordinary failure of a drop, which --min-pass-rate excuses.
TEST(Gate, ADropIsARegressionWhateverElseFails) {
  Thresholding both = max_drop(0.05);
  both.min_floor = 0.80;
  const auto low = assess_similarity(0.70, 0.84, both);
  EXPECT_EQ(low.metrics.at(0).cause, MetricCause::dropped);
  EXPECT_EQ(low.metrics.at(0).own_cause, MetricCause::below_min_floor);
  EXPECT_EQ(low.metrics.at(0).limit, 0.80) << "the highest of all limits";
  EXPECT_TRUE(low.regressed);

  const Baseline baseline = baseline_of({{"q", similarity, 0.92}});
  Case test = test_of("q", MetricId::semantic_similarity_to);
  test.expectations.push_back({{MetricId::must_contain, {"a"}}, {}, std::nullopt});
  const auto with_score = [&](double score) {
    return gate_of(&baseline).assess(test, std::vector{score_of(MetricId::semantic_similarity_to, score),
                                                       verdict_of(MetricId::must_contain, false)});
  };
  EXPECT_TRUE(with_score(0.5).regressed);
  EXPECT_FALSE(with_score(0.9).regressed) << "only the new check fails";
}

// What the pinned run failed by is no news, however much worse it became.
TEST(Gate, AScoreThatMissedItsOwnLimitBeforeDoesNotRegress) {
  const auto low = assess_similarity(0.10, 0.79, floor_of(0.80));
  EXPECT_EQ(low.metrics.at(0).cause, MetricCause::below_min_floor);
  EXPECT_FALSE(low.regressed);
  EXPECT_TRUE(assess_similarity(0.10, 0.80, floor_of(0.80)).regressed) << "exactly at the floor it passed";
}

TEST(Gate, ShowsNoLimitBelowZero) {
  EXPECT_EQ(assess_similarity(0.0, 0.03, max_drop(0.05)).metrics.at(0).limit, 0.0);
}

// --- Missing and undefined
// -----------------------------------------------------------------------------------

TEST(Gate, WarnsOfAMissingEntry) {
  const Baseline baseline = baseline_of({});
  const auto outcome = score_of(MetricId::semantic_similarity_to, 0.9);
  const Case test = test_of("new", MetricId::semantic_similarity_to);
  const auto assessment = gate_of(&baseline).assess(test, {&outcome, 1});
  EXPECT_EQ(assessment.status, CaseStatus::warn);
  EXPECT_EQ(assessment.metrics.at(0).cause, MetricCause::missing_in_baseline);
}

TEST(Gate, NeedsNoBaselineForAnAbsoluteThreshold) {
  const Baseline baseline = baseline_of({});
  const auto outcome = score_of(MetricId::semantic_similarity_to, 0.9);
  const Case test = test_of("new", MetricId::semantic_similarity_to, absolute(0.9));
  EXPECT_EQ(gate_of(&baseline).assess(test, {&outcome, 1}).status, CaseStatus::pass);
}

TEST(Gate, AFloorFailsAScoreThatTheBaselineLacks) {
  const Baseline baseline = baseline_of({});
  const auto outcome = score_of(MetricId::semantic_similarity_to, 0.7);
  const auto assessment = gate_of(&baseline).assess(
      test_of("new", MetricId::semantic_similarity_to, floor_of(0.8)), {&outcome, 1});
  EXPECT_EQ(assessment.metrics.at(0).cause, MetricCause::below_min_floor);
}

TEST(Gate, FailsWhatBecameUndefined) {
  const Baseline baseline =
      baseline_of({{"f", "claims_precision", 0.5}, {"f", "claims_recall", 0.5}, {"f", "claims_f1", 0.5}});
  const auto outcomes = claims_outcomes(std::nullopt, 0.5, 0.5);
  const auto assessment = gate_of(&baseline).assess(fixture_of("f"), outcomes);
  EXPECT_EQ(assessment.status, CaseStatus::fail);
  EXPECT_TRUE(assessment.regressed);
  EXPECT_EQ(metric(assessment, MetricId::claims_precision).cause, MetricCause::became_undefined);
}

TEST(Gate, ExtractingNothingIsTheBestAnswerWhereNothingIsExpected) {
  const Baseline baseline = baseline_of({{"safe", "claims_precision", 0.0}, {"safe", "claims_f1", 0.0}});
  auto outcomes = claims_outcomes(std::nullopt, std::nullopt, std::nullopt);
  outcomes.push_back(verdict_of(MetricId::claims_absent, true));
  const auto assessment = gate_of(&baseline).assess(safe_fixture_of("safe"), outcomes);
  EXPECT_EQ(assessment.status, CaseStatus::pass);
  EXPECT_TRUE(assessment.improved);
}

TEST(Gate, ANewClaimWhereNothingIsExpectedFails) {
  const Baseline baseline = baseline_of({});
  auto outcomes = claims_outcomes(0.0, std::nullopt, 0.0);
  outcomes.push_back(verdict_of(MetricId::claims_absent, false));
  EXPECT_EQ(gate_of(&baseline).assess(safe_fixture_of("safe"), outcomes).status, CaseStatus::fail);
}

TEST(Gate, AnUndefinedScoreLacksNothing) {
  const Baseline baseline = baseline_of({});
  const auto outcomes = claims_outcomes(std::nullopt, std::nullopt, std::nullopt);
  EXPECT_EQ(gate_of(&baseline).assess(fixture_of("f"), outcomes).status, CaseStatus::pass);
  EXPECT_EQ(gate_of(&baseline, floor_of(0.9)).assess(safe_fixture_of("f"), outcomes).status,
            CaseStatus::pass);
}

TEST(Gate, AModelThatExtractsNothingReachesNoFixedLimit) {
  auto test = test_of("t", MetricId::claims_precision);
  test.kind = CaseKind::claims;
  test.must_contain = fixture_of("t").must_contain;
  test.expectations[0].min_score = 0.9;
  const auto outcome = score_of(MetricId::claims_precision, std::nullopt);
  const auto assessment = gate_of(nullptr).assess(test, {&outcome, 1});
  EXPECT_EQ(assessment.status, CaseStatus::fail);
  EXPECT_EQ(assessment.metrics.at(0).cause, MetricCause::below_min_score);
  test.expectations[0].min_score = 0.0;
  EXPECT_EQ(gate_of(nullptr).assess(test, {&outcome, 1}).status, CaseStatus::pass) << "0 asks for nothing";
  test.expectations[0].min_score = 0.9;
  test.must_contain.clear();
  EXPECT_EQ(gate_of(nullptr).assess(test, {&outcome, 1}).status, CaseStatus::pass);
}

TEST(Gate, PrecisionLacksNothingWhereNothingHadBeenExtracted) {
  const Baseline baseline = baseline_of({{"f", "claims_f1", 0.0}, {"f", "claims_recall", 0.0}});
  const auto assessment = gate_of(&baseline).assess(fixture_of("f"), claims_outcomes(0.5, 0.5, 0.5));
  EXPECT_EQ(assessment.status, CaseStatus::pass);
  EXPECT_TRUE(assessment.improved);
  const Baseline other = baseline_of({{"f", "claims_f1", 0.4}, {"f", "claims_recall", 0.4}});
  EXPECT_EQ(gate_of(&other).assess(fixture_of("f"), claims_outcomes(0.5, 0.5, 0.5)).status, CaseStatus::warn);
}

// --- Which metrics assess
// -------------------------------------------------------------------------------------

TEST(Gate, ChecksAFixtureByItsPassFailMetricsWithoutThresholds) {
  const auto passed = Gate().assess(fixture_of("f"), claims_outcomes(0.1, 0.1, 0.1));
  EXPECT_EQ(passed.status, CaseStatus::pass);
  EXPECT_EQ(metric(passed, MetricId::claims_f1).status, MetricStatus::unjudged);
  const auto outcomes = claims_outcomes(0.9, 0.9, 0.9, false);
  const auto failed = Gate().assess(fixture_of("f"), outcomes);
  EXPECT_EQ(failed.status, CaseStatus::fail);
  EXPECT_EQ(metric(failed, MetricId::claims_required).cause, MetricCause::not_passed);
  EXPECT_EQ(metric(failed, MetricId::claims_required).detail, "why");
}

TEST(Gate, ChecksAFixtureByItsScoresUnderABaseline) {
  const Baseline baseline =
      baseline_of({{"f", "claims_precision", 0.9}, {"f", "claims_recall", 0.9}, {"f", "claims_f1", 0.9}});
  const auto assessment = gate_of(&baseline).assess(fixture_of("f"), claims_outcomes(0.9, 0.9, 0.9, false));
  EXPECT_EQ(assessment.status, CaseStatus::pass);
  EXPECT_EQ(metric(assessment, MetricId::claims_required).status, MetricStatus::unjudged);
  EXPECT_EQ(metric(assessment, MetricId::claims_required).cause, MetricCause::assessed_by_score);
}

// It passed where another wrong claim went away, or where it cost no more than max_drop.
TEST(Gate, AForbiddenClaimFailsUnderEveryMode) {
  const auto found = claims_outcomes(0.9, 0.9, 0.9, true, false);
  const std::vector<TestPin> scores{
      {"f", "claims_precision", 0.9}, {"f", "claims_recall", 0.9}, {"f", "claims_f1", 0.9}};
  const auto pins = [&](std::optional<double> forbidden) {
    std::vector<TestPin> all = scores;
    if (forbidden) all.push_back({"f", "claims_forbidden", *forbidden, {}, PinKind::checks});
    return baseline_of(all);
  };
  const Baseline free = pins(1.0);
  const Baseline old = pins(std::nullopt);
  const Baseline had_it = pins(0.0);
  Thresholding statistical;
  statistical.mode = ThresholdMode::statistical;
  for (const Thresholding& suite : {Thresholding{}, absolute(0.5), statistical}) {
    for (const Baseline* baseline : {&free, &old}) {
      const auto broke = gate_of(baseline, suite).assess(fixture_of("f"), found);
      EXPECT_EQ(broke.status, CaseStatus::fail);
      EXPECT_TRUE(broke.regressed);
      EXPECT_EQ(metric(broke, MetricId::claims_forbidden).cause, MetricCause::broke);
      EXPECT_EQ(gate_of(baseline, suite).assess(fixture_of("f"), claims_outcomes(0.9, 0.9, 0.9)).status,
                CaseStatus::pass);
    }
    const auto again = gate_of(&had_it, suite).assess(fixture_of("f"), found);
    EXPECT_EQ(again.status, CaseStatus::warn);
    EXPECT_TRUE(again.only_known_failures());
    EXPECT_EQ(again.change(), CaseChange::still_failing);
  }
  const Baseline of_others = baseline_of({{"g", "claims_f1", 0.9}});
  const auto is_new = gate_of(&of_others).assess(fixture_of("f"), found);
  EXPECT_EQ(metric(is_new, MetricId::claims_forbidden).cause, MetricCause::not_passed);
  EXPECT_FALSE(is_new.regressed);
}

TEST(Gate, KeepsPassFailMetricsWhereNoClaimsScoreIsAssessed) {
  const Baseline baseline = baseline_of({});
  const auto assessment = gate_of(&baseline).assess(fixture_of("f"), claims_outcomes(0.9, 0.9, 0.9, false));
  EXPECT_EQ(assessment.status, CaseStatus::fail);
  EXPECT_FALSE(assessment.regressed);
}

TEST(Gate, AForbiddenClaimFailsWhereTheBaselinesModelHadExtractedNothing) {
  const Baseline baseline = baseline_of({{"a", "claims_recall", 0.0}, {"a", "claims_f1", 0.0}});
  const auto assessed = [&](bool forbidden_passed, std::optional<double> precision) {
    return gate_of(&baseline).assess(fixture_of("a"),
                                     claims_outcomes(precision, 0.0, 0.0, false, forbidden_passed));
  };
  EXPECT_EQ(assessed(true, std::nullopt).status, CaseStatus::pass) << "unchanged";
  EXPECT_EQ(assessed(true, 0.0).status, CaseStatus::pass);
  const auto failed = assessed(false, 0.0);
  EXPECT_EQ(failed.status, CaseStatus::fail);
  EXPECT_TRUE(failed.regressed);
  EXPECT_EQ(metric(failed, MetricId::claims_forbidden).cause, MetricCause::broke);
  EXPECT_EQ(metric(failed, MetricId::claims_required).cause, MetricCause::assessed_by_score);

  const Baseline another =
      baseline_of({{"a", "claims_precision", 0.0}, {"a", "claims_recall", 0.0}, {"a", "claims_f1", 0.0}});
  EXPECT_EQ(gate_of(&another).assess(fixture_of("a"), claims_outcomes(0.0, 0.0, 0.0, false, false)).status,
            CaseStatus::fail)
      << "that claim may have been another wrong one";
}

TEST(Gate, KeepsAPassFailMetricThatTheTestNames) {
  Case test = test_of("t", MetricId::claims_f1, absolute(0.5));
  test.kind = CaseKind::claims;
  test.expectations[0].what.texts.clear();
  test.expectations.push_back({{MetricId::claims_required, {}}, {}, std::nullopt});
  const auto assessment = Gate().assess(test, claims_outcomes(0.9, 0.9, 0.9, false, false));
  ASSERT_EQ(assessment.metrics.size(), 2u);  // What the test did not ask for is left out.
  EXPECT_EQ(metric(assessment, MetricId::claims_required).status, MetricStatus::fail);
  EXPECT_EQ(assessment.status, CaseStatus::fail);
}

TEST(Gate, PairsTheOutcomesOfTextsInTheirOrder) {
  Case test = test_of("t", MetricId::must_contain);
  test.expectations.push_back({{MetricId::semantic_similarity_to, {"r"}}, absolute(0.5), std::nullopt});
  test.expectations.push_back({{MetricId::must_contain, {"b"}}, {}, std::nullopt});
  const std::vector outcomes{verdict_of(MetricId::must_contain, true),
                             score_of(MetricId::semantic_similarity_to, 0.4),
                             verdict_of(MetricId::must_contain, false)};
  const auto assessment = Gate().assess(test, outcomes);
  ASSERT_EQ(assessment.metrics.size(), 3u);
  EXPECT_EQ(assessment.metrics[0].status, MetricStatus::pass);
  EXPECT_EQ(assessment.metrics[1].cause, MetricCause::below_min_score);
  EXPECT_EQ(assessment.metrics[2].cause, MetricCause::not_passed);
}

TEST(Gate, NeverPassesWhatNothingAssessed) {
  EXPECT_EQ(Gate().assess(fixture_of("f"), {}).status, CaseStatus::error);
  const MetricOutcome silent{MetricId::must_contain, std::nullopt, std::nullopt, ""};
  EXPECT_EQ(Gate().assess(test_of("t", MetricId::must_contain), {&silent, 1}).status, CaseStatus::fail);
}

// --- Billionths
// ----------------------------------------------------------------------------------------------

TEST(Billionths, AreTotal) {
  EXPECT_EQ(billionths(0.92) - billionths(0.85), 70'000'000);
  EXPECT_EQ(billionths(-0.0), 0);
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_LT(billionths(std::nan("")), billionths(0.0));
  EXPECT_LT(billionths(-infinite), billionths(0.0));
  EXPECT_GT(billionths(infinite), billionths(1.0));
}

TEST(Billionths, GiveDecimalsBack) {
  EXPECT_EQ(score_delta(0.85, 0.92), -0.07);
  EXPECT_EQ(score_delta(0.3, 0.1), 0.2);
  for (int i = 0; i <= 1000; ++i) EXPECT_EQ(from_billionths(billionths(i / 1000.0)), i / 1000.0);
}

}  // namespace
}  // namespace sluice
