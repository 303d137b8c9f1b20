#include "coordinator/gate/statistical_gate.hpp"

#include "coordinator/gate/stability_gate.hpp"
#include "gate_fixture.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

Thresholding statistical(double min_effect = 0.05) {
  Thresholding thresholding;
  thresholding.mode = ThresholdMode::statistical;
  thresholding.min_effect = min_effect;
  return thresholding;
}

std::string id_of(int number) {
  std::string id = std::to_string(number);
  return "case-" + std::string(3 - std::min<std::size_t>(3, id.size()), '0') + id;
}

/// Forty texts whose similarity was pinned at `base`; `current` says what each scores now.
struct Forty {
  Baseline baseline;
  Gate gate;

  explicit Forty(double base, Thresholding suite = statistical()) {
    std::vector<Pin> pins;
    for (int i = 0; i < 40; ++i) pins.push_back({id_of(i), similarity, base});
    baseline = baseline_of(pins);
    gate = gate_of(&baseline, false, suite);
  }

  StatisticalJudgement judged(auto&& current) const {
    StatisticalGate tests({&baseline, gate.config().suite, 0.05, 1});
    for (int i = 0; i < 40; ++i) {
      Case test = test_of(id_of(i), MetricId::semantic_similarity_to);
      test.category = i % 2 == 0 ? "even" : "odd";
      const std::vector outcomes{score_of(MetricId::semantic_similarity_to, current(i))};
      tests.add(test, gate.judge(test, outcomes).metrics);
    }
    return tests.finish();
  }
};

TEST(StatisticalGate, TheCaseAloneIsNotJudgedByTheBaseline) {
  const Forty forty(0.9);
  const Case test = test_of(id_of(0), MetricId::semantic_similarity_to);
  const auto judgement = forty.gate.judge(test, std::vector{score_of(MetricId::semantic_similarity_to, 0.1)});
  EXPECT_EQ(judgement.status, CaseStatus::pass);
  ASSERT_EQ(judgement.metrics.size(), 1u);
  EXPECT_EQ(judgement.metrics[0].cause, MetricCause::judged_statistically);
  EXPECT_TRUE(judgement.metrics[0].is_left_to_tests);
  EXPECT_EQ(judgement.metrics[0].baseline, 0.9);
}

TEST(StatisticalGate, AFloorStillJudgesTheCase) {
  Thresholding suite = statistical();
  suite.min_floor = 0.5;
  const Forty forty(0.9, suite);
  const Case test = test_of(id_of(0), MetricId::semantic_similarity_to);
  const auto low = forty.gate.judge(test, std::vector{score_of(MetricId::semantic_similarity_to, 0.4)});
  EXPECT_EQ(low.status, CaseStatus::fail);
  EXPECT_EQ(low.metrics[0].cause, MetricCause::below_min_floor);
  EXPECT_TRUE(low.metrics[0].is_left_to_tests) << "and it counts in the tests too";
  EXPECT_EQ(forty.gate.judge(test, std::vector{score_of(MetricId::semantic_similarity_to, 0.5)}).status,
            CaseStatus::pass);
}

TEST(StatisticalGate, AFixtureIsNotJudgedAgainstPerfectionBesideTheTests) {
  const Baseline baseline =
      baseline_of({{"a", "claims_recall", 0.5}, {"a", "claims_f1", 0.6}, {"a", "claims_precision", 1}});
  const Gate gate = gate_of(&baseline, false, statistical());
  const auto judgement = gate.judge(fixture_of("a"), claims_outcomes(1.0, 0.5, 0.6, false));
  EXPECT_EQ(judgement.status, CaseStatus::pass);
}

TEST(StatisticalGate, ADropOfAllIsARegression) {
  const auto judged = Forty(0.9).judged([](int) { return 0.7; });
  ASSERT_EQ(judged.metrics.size(), 1u);
  EXPECT_EQ(judged.metrics[0].comparison.pairs, 40u);
  EXPECT_NEAR(*judged.metrics[0].comparison.drop, 0.2, 1e-9);
  EXPECT_EQ(judged.verdict, ChangeVerdict::regression);
  EXPECT_EQ(judged.regressions(), 1u);
}

TEST(StatisticalGate, TheSameScoresAreNoRegression) {
  // Without any change the drop's bound is 1 - 0.05^(1/40) = 0.072.
  EXPECT_EQ(Forty(0.9, statistical(0.1)).judged([](int) { return 0.9; }).verdict,
            ChangeVerdict::no_regression);
  const auto unknown = Forty(0.9, statistical(0.05)).judged([](int) { return 0.9; });
  EXPECT_EQ(unknown.verdict, ChangeVerdict::underpowered);
  EXPECT_NEAR(*unknown.metrics[0].verdict.minimum_detectable_effect, 0.0721575, 1e-6);
}

TEST(StatisticalGate, NoiseIsNoRegressionButMayBeTooMuchToTell) {
  const auto judged = Forty(0.5).judged([](int i) { return i % 2 == 0 ? 0.1 : 0.9; });
  EXPECT_EQ(judged.verdict, ChangeVerdict::underpowered);
  EXPECT_GT(*judged.metrics[0].verdict.units_needed, 40u);
}

TEST(StatisticalGate, UndefinedScoresAreLeftOutByName) {
  const auto judged =
      Forty(0.9).judged([](int i) { return i == 7 ? std::optional<double>() : std::optional(0.7); });
  EXPECT_EQ(judged.metrics[0].comparison.pairs, 39u);
  EXPECT_EQ(judged.metrics[0].left_out.count(), 1u);
  EXPECT_NE(judged.metrics[0].left_out.names().find("case-007"), std::string::npos);
}

TEST(StatisticalGate, CategoriesMayBeTheUnits) {
  Thresholding suite = statistical();
  suite.cluster_by_category = true;
  const auto judged = Forty(0.9, suite).judged([](int) { return 0.7; });
  EXPECT_EQ(judged.metrics[0].comparison.units, 2u);
  EXPECT_EQ(judged.verdict, ChangeVerdict::underpowered) << "two categories cannot be significant";
  EXPECT_TRUE(judged.metrics[0].verdict.too_few_changed);
}

TEST(StatisticalGate, RepeatsOfBothSidesCount) {
  Baseline baseline;
  baseline.header = {"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"};
  const std::vector<double> pinned{1.0, 0.0};
  BaselineEntry entry{"a", similarity, 0.5, ""};
  entry.scores = pinned;
  baseline.add(entry);
  (void)baseline.seal();
  StatisticalGate tests({&baseline, statistical(), 0.05, 1});
  JudgedMetric metric;
  metric.id = MetricId::semantic_similarity_to;
  metric.score = 0.75;
  metric.baseline = 0.5;
  metric.is_left_to_tests = true;
  metric.repeat_scores = {1.0, 0.5};
  tests.add(test_of("a", metric.id), std::array{metric});
  const auto judged = tests.finish();
  EXPECT_NEAR(*judged.metrics.at(0).comparison.drop, -0.25, 1e-9);
  EXPECT_TRUE(judged.metrics[0].comparison.equal_repeats);
}

TEST(StatisticalGate, ARunWideFallIsARegressionOfTheRun) {
  VerdictInput input;
  input.statuses.passed = 10;
  EXPECT_EQ(run_verdict(input), RunVerdict::pass);
  input.run_regressions = 1;
  EXPECT_EQ(run_verdict(input), RunVerdict::regression);
  EXPECT_EQ(exit_code(RunVerdict::regression, input, {}), 1);
}

// --- Stability

GatedRun run_of(bool strict = false) {
  return {"demo", "sha256:00", "0.1.0", "demo.yaml", "base.json", strict};
}

StabilityJudgement stability(StabilityQuestion question, std::vector<std::string>* codes = nullptr,
                             bool strict = false) {
  question.perturbations = {"crlf 1"};
  std::vector<GateNotice> notices;
  auto judgement = judge_stability(question, run_of(strict), notices);
  if (codes != nullptr) {
    for (const GateNotice& notice : notices) codes->push_back(notice.code);
  }
  return judgement;
}

Baseline with_stability(double score, std::vector<std::string> perturbations = {"crlf 1"}) {
  Baseline baseline = baseline_of({});
  baseline.stability = BaselineStability{score, 1, 1, 1, std::move(perturbations)};
  return baseline;
}

TEST(StabilityGate, ItsLeastIsAFixedLimit) {
  EXPECT_EQ(stability({.score = 0.9, .min_stability = 0.9}).status, MetricStatus::pass);
  const auto low = stability({.score = 0.899, .min_stability = 0.9});
  EXPECT_EQ(low.status, MetricStatus::fail);
  EXPECT_EQ(low.cause, MetricCause::below_min_score);
  EXPECT_EQ(stability({.score = 0.1}).status, MetricStatus::unjudged);
}

TEST(StabilityGate, FallsLikeAnyScore) {
  const Baseline baseline = with_stability(0.95);
  EXPECT_EQ(stability({.score = 0.9, .baseline = &baseline}).status, MetricStatus::pass)
      << "exactly at the limit";
  const auto fell = stability({.score = 0.89, .baseline = &baseline});
  EXPECT_EQ(fell.status, MetricStatus::fail);
  EXPECT_EQ(fell.cause, MetricCause::dropped);
  EXPECT_EQ(fell.delta(), -0.06);
  EXPECT_EQ(stability({.score = 0.8, .suite = max_drop(0.2), .baseline = &baseline}).status,
            MetricStatus::pass);
  EXPECT_EQ(stability({.score = 0.89, .suite = statistical(), .baseline = &baseline}).status,
            MetricStatus::fail);
  EXPECT_EQ(stability({.score = 0.1, .suite = absolute(0.9), .baseline = &baseline}).status,
            MetricStatus::unjudged)
      << "the suite's min_score is that of other metrics";
}

TEST(StabilityGate, WithoutAnEntryItWarns) {
  const Baseline baseline = baseline_of({});
  EXPECT_EQ(stability({.score = 0.9, .baseline = &baseline}).status, MetricStatus::warn);
  EXPECT_EQ(stability({.score = 0.9, .baseline = &baseline}, nullptr, true).status, MetricStatus::fail);
}

TEST(StabilityGate, OtherPerturbationsAreNotCompared) {
  const Baseline baseline = with_stability(0.95, {"crlf 2"});
  std::vector<std::string> codes;
  EXPECT_EQ(stability({.score = 0.1, .baseline = &baseline}, &codes).status, MetricStatus::unjudged);
  EXPECT_EQ(codes, std::vector<std::string>{"perturbations_differ"});
}

TEST(StabilityGate, SaysWhenThereWasNothingToJudge) {
  std::vector<std::string> codes;
  EXPECT_EQ(stability({.min_stability = 0.9}, &codes).status, MetricStatus::unjudged);
  EXPECT_EQ(codes, std::vector<std::string>{"stability_not_measured"});
}

}  // namespace
}  // namespace sluice
