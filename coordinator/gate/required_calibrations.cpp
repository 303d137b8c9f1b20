#include "coordinator/gate/required_calibrations.hpp"

#include "coordinator/gate/billionths.hpp"
#include "coordinator/suite/canonical_case.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

RequiredCalibrations::RequiredCalibrations(double min_kappa, RunJudge judge,
                                           std::vector<JudgeCalibration> of_suite)
    : min_kappa_(min_kappa), judge_(std::move(judge)), calibrations_(std::move(of_suite)) {}

CalibrationCheck RequiredCalibrations::check(const ScoreId& score, const VoteTally& votes,
                                             const Expectation* asked) const {
  if (judge().is_fake()) return {CalibrationStanding::fake};
  const JudgePin pin = judge_.pin_of(votes);
  const auto found = std::ranges::find_if(calibrations_, [&](const JudgeCalibration& one) {
    // The hash is of the rubric's id and version as well.
    return is_text_of_score(one.key.metric, score.metric, score.name) &&
           one.key.rubric_hash == pin.rubric_hash && one.key.judge_provider == judge().provider &&
           one.key.judge_model == judge().model && one.key.samples == votes.samples;
  });
  if (found == calibrations_.end()) return {CalibrationStanding::missing};
  if (found->criteria != 0 && asked != nullptr && found->criteria != criteria_digest(*asked))
    return {CalibrationStanding::other_criteria, &*found};
  const bool is_enough = found->kappa && billionths(found->kappa_low) >= billionths(min_kappa_);
  return {is_enough ? CalibrationStanding::calibrated : CalibrationStanding::kappa_low, &*found};
}

std::vector<ScoreId> RunCalibrations::uncalibrated() const {
  std::vector<ScoreId> lacking;
  for (const CheckedCalibration& one : metrics) {
    if (one.check.standing != CalibrationStanding::calibrated) lacking.push_back(one.score);
  }
  return lacking;
}

void CalibrationFold::add(std::span<const AssessedMetric> metrics) {
  for (const AssessedMetric& metric : metrics) {
    if (!metric.votes || !metric.calibration) continue;
    auto& check = checks_
                      .try_emplace({metric.score_id(), metric.votes->rubric, metric.votes->samples},
                                   *metric.calibration)
                      .first->second;
    // Tests may have several criteria; whichever was not calibrated is worth saying.
    if (metric.calibration->standing == CalibrationStanding::other_criteria) check = *metric.calibration;
  }
}

RunCalibrations CalibrationFold::finish(std::span<const Rubric> rubrics) const {
  RunCalibrations run{required_, {}};
  for (const auto& [key, check] : checks_) {
    const auto& [score, rubric, samples] = key;
    CheckedCalibration& one = run.metrics.emplace_back(CheckedCalibration{score, {}, {}, samples, check});
    if (rubric >= rubrics.size()) continue;
    one.rubric = rubrics[rubric].id;
    one.rubric_version = rubrics[rubric].version;
  }
  return run;
}

}  // namespace sluice
