#include "coordinator/merge/judge_agreement_fold.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/suite/canonical_case.hpp"

namespace sluice {
namespace {

/// Of a score, or of all the case's checks by a metric; nothing where it assesses nothing.
std::optional<bool> verdict_of(const CaseAssessment& assessment, const ScoreId& score) {
  std::optional<bool> passed;
  for (const AssessedMetric& metric : assessment.metrics) {
    if (metric.id != score.metric || metric.name != score.name) continue;
    // A score that nothing judges is neither good nor bad.
    if (metric.is_scored() && metric.status == MetricStatus::unjudged) continue;
    const bool one = metric.is_scored() ? metric.status != MetricStatus::fail : metric.passed;
    passed = passed.value_or(true) && one;
  }
  return passed;
}

}  // namespace

std::optional<bool> JudgeAgreementFold::verdict_of_standard(const CaseResult& result,
                                                            const TrialResult& trial,
                                                            const ScoreId& score) const {
  if (standard_.labels != nullptr) return standard_.labels->find(result.fixture.id, score);
  return verdict_of(trial.assessment, *standard_.score);
}

void JudgeAgreementFold::add(const CaseResult& result) {
  const std::uint32_t cluster = has_arms_ ? result.fixture.test : cases_;
  ++cases_;
  for (const TrialResult& trial : result.trials) {
    if (trial.perturbation > 0 || trial.error != nullptr) continue;
    for (const AssessedMetric& metric : trial.assessment.metrics) {
      if (!metric.votes) continue;
      const auto expected = verdict_of_standard(result, trial, metric.score_id());
      if (!expected) continue;
      const bool passes = 2 * metric.votes->passed > metric.votes->votes;
      const Key key{metric.score_id(), metric.votes->rubric, metric.votes->samples};
      auto& [by_case, disagreements, criteria] = compared_[key];
      // Two of them say as much as a thousand.
      if (metric.expectation != nullptr && criteria.size() < 2)
        criteria.insert(criteria_digest(*metric.expectation));
      by_case[cluster].add(passes, *expected);
      if (passes != *expected && disagreements.size() < defaults::kept_disagreements)
        disagreements.push_back({result.fixture.id, passes});
    }
  }
}

std::vector<CalibratedMetric> JudgeAgreementFold::finish(std::string_view suite,
                                                         std::span<const Rubric> rubrics,
                                                         const JudgeIdentity& judge) const {
  std::vector<CalibratedMetric> metrics;
  for (const auto& [key, compared] : compared_) {
    const auto& [score, rubric, samples] = key;
    JudgeAgreement agreement;
    for (const auto& [cluster, counts] : compared.by_case) agreement.add_case(counts);
    CalibratedMetric& one = metrics.emplace_back();
    one.counts = agreement.counts();
    one.disagreements = compared.disagreements;
    JudgeCalibration& calibration = one.calibration;
    calibration.key.suite = suite;
    calibration.key.metric = to_string(score);
    if (rubric < rubrics.size()) {
      calibration.key.rubric = rubrics[rubric].id;
      calibration.key.rubric_version = rubrics[rubric].version;
      calibration.key.rubric_hash = to_prefixed_hex(rubric_hash(rubrics[rubric]));
    }
    calibration.key.judge_provider = judge.provider;
    calibration.key.judge_model = judge.model;
    calibration.key.samples = samples;
    calibration.against = standard_.labels != nullptr ? "labels" : to_string(*standard_.score);
    if (compared.criteria.size() == 1) calibration.criteria = *compared.criteria.begin();
    calibration.answers = one.counts.answers();
    calibration.cases = agreement.cases();
    if (const auto raw = agreement.raw(confidence_)) {
      calibration.agreement = raw->value;
      calibration.agreement_low = raw->interval.low;
      calibration.agreement_high = raw->interval.high;
    }
    if (const auto kappa = agreement.kappa(confidence_)) {
      calibration.kappa = kappa->value;
      calibration.kappa_low = kappa->interval.low;
      calibration.kappa_high = kappa->interval.high;
    }
  }
  return metrics;
}

}  // namespace sluice
