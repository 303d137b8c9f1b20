#pragma once

#include "common/model/judge.hpp"
#include "common/model/metrics.hpp"
#include "coordinator/facts/judge_calibration.hpp"
#include "coordinator/gate/judge_pin.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/statistics/agreement.hpp"
#include "coordinator/suite/answers/labels_file.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace sluice {

/// What a judge is compared with: people's labels, or another metric of the same answers.
struct CalibrationStandard {
  const Labels* labels = nullptr;
  std::optional<ScoreId> score;  ///< Exactly without labels; no judge's. Of checks the metric.
};

/// An answer on which the judge and the standard do not agree.
struct Disagreement {
  std::string test;
  bool judge_passes = false;
};

/// One judge score, rubric and number of votes beside the standard.
struct CalibratedMetric {
  JudgeCalibration calibration;  ///< Without `run_id` and `calibrated_at_ms`.
  VerdictCounts counts;
  std::vector<Disagreement> disagreements;  ///< The first of them, by id (defaults::kept_disagreements).
};

/// Compares the majority of the votes on each unperturbed answer with the standard. Answers without a verdict
/// of both are left out.
class JudgeAgreementFold {
 public:
  /// `has_arms`: the arms of a test are one case, since its repeats are none of each other's evidence either.
  JudgeAgreementFold(CalibrationStandard standard, bool has_arms, double confidence)
      : standard_(standard), has_arms_(has_arms), confidence_(confidence) {}

  void add(const CaseResult& result);
  /// By score, rubric and votes; empty where nothing could be compared.
  std::vector<CalibratedMetric> finish(std::string_view suite, std::span<const Rubric> rubrics,
                                       const JudgeIdentity& judge) const;

 private:
  struct Compared {
    std::map<std::uint32_t, VerdictCounts> by_case;
    std::vector<Disagreement> disagreements;
    std::set<std::uint64_t> criteria;  ///< criteria_digest of its tests.
  };
  using Key = std::tuple<ScoreId, std::uint32_t, std::uint32_t>;  ///< With rubric and votes.

  std::optional<bool> verdict_of_standard(const CaseResult& result, const TrialResult& trial,
                                          const ScoreId& score) const;

  CalibrationStandard standard_;
  bool has_arms_;
  double confidence_;
  std::uint32_t cases_ = 0;
  std::map<Key, Compared> compared_;
};

}  // namespace sluice
