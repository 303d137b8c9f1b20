#pragma once

#include "coordinator/gate/baseline.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/suite/case.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

inline const std::string similarity = "semantic_similarity_to";

/// A YAML test that asks for one metric.
inline Case test_of(std::string id, MetricId metric, Thresholding thresholding = {}) {
  Case test;
  test.id = std::move(id);
  test.kind = CaseKind::text;
  test.expectations = {{{metric, {"reference"}}, thresholding, std::nullopt}};
  return test;
}

/// A fixture: assessed by all claims metrics.
inline Case fixture_of(std::string id) {
  Case fixture;
  fixture.id = std::move(id);
  fixture.must_contain = {{"tls/cert_verification", "enabled", false, std::nullopt}};
  return fixture;
}

/// A fixture in which there is nothing to find.
inline Case safe_fixture_of(std::string id) {
  Case fixture = fixture_of(std::move(id));
  fixture.must_contain.clear();
  return fixture;
}

inline MetricOutcome score_of(MetricId metric, std::optional<double> score) {
  return {metric, score, std::nullopt, ""};
}
inline MetricOutcome verdict_of(MetricId metric, bool passed) {
  return {metric, std::nullopt, passed, passed ? "" : "why"};
}

/// What a worker hands out for a fixture that expects claims.
inline std::vector<MetricOutcome> claims_outcomes(std::optional<double> precision,
                                                  std::optional<double> recall, std::optional<double> f1,
                                                  bool required = true, bool forbidden = true) {
  return {score_of(MetricId::claims_precision, precision), score_of(MetricId::claims_recall, recall),
          score_of(MetricId::claims_f1, f1), verdict_of(MetricId::claims_required, required),
          verdict_of(MetricId::claims_forbidden, forbidden)};
}

/// A test that is judged by votes.
inline Case judged_test(std::string id, MetricId metric = MetricId::faithfulness,
                        Thresholding thresholding = {}) {
  Case test;
  test.id = std::move(id);
  test.kind = CaseKind::text;
  test.expectations = {{{metric, {}}, thresholding, std::nullopt, JudgeQuestion{}}};
  return test;
}

/// Votes with these scores, each of which passes from 0.5 on.
inline JudgeScore votes(std::vector<double> scores, MetricId metric = MetricId::faithfulness) {
  std::vector<Vote> votes;
  for (const double score : scores) votes.push_back({score, "because of " + std::to_string(score)});
  return count_votes(metric, votes, 0.5, JudgeSource::judge);
}

/// What a worker hands out for a test that is judged alone.
inline MetricOutcome outcome_of(const JudgeScore& judged) {
  return {judged.metric, judged.score(), judged.passed(), judged.passed() ? "" : judged.rationale};
}

inline CaseAssessment assess_votes(const Gate& gate, const Case& test, const JudgeScore& judged) {
  const MetricOutcome outcome = outcome_of(judged);
  CaseAssessment assessment = gate.assess(test, {&outcome, 1}, {&judged, 1});
  // What they view is gone with this call.
  for (AssessedMetric& metric : assessment.metrics) {
    metric.detail = {};
    metric.votes->rationale = {};
  }
  return assessment;
}

struct TestPin {
  std::string test_id;
  std::string metric;
  double score = 0.0;
  std::string meta{};
  PinKind kind = PinKind::score;
  ScoreDigest asks = 0;
};

inline Baseline baseline_of(const std::vector<TestPin>& pins) {
  Baseline baseline;
  baseline.header = {"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"};
  for (const TestPin& pin : pins)
    baseline.add({pin.test_id, pin.metric, pin.score, pin.meta, {}, pin.kind, {}, {}, pin.asks});
  (void)baseline.seal();
  return baseline;
}

inline Thresholding max_drop(double value) {
  Thresholding thresholding;
  thresholding.max_drop = value;
  return thresholding;
}
inline Thresholding floor_of(double value) {
  Thresholding thresholding;
  thresholding.min_floor = value;
  return thresholding;
}
inline Thresholding absolute(double min_score) {
  Thresholding thresholding;
  thresholding.mode = ThresholdMode::absolute;
  thresholding.min_score = min_score;
  return thresholding;
}

inline Gate gate_of(const Baseline* baseline, Thresholding suite = {}) {
  Gate::Config config;
  config.suite = suite;
  config.baseline = baseline;
  return Gate(config);
}

}  // namespace sluice
