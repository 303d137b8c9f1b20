#pragma once

#include "coordinator/facts/judge_calibration.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/gate/judge_pin.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace sluice {

/// The calibrations that a gate asks for (`judge_min_kappa`, docs/judges.md). Immutable; thread-safe.
class RequiredCalibrations {
 public:
  /// `of_suite`: all that the ledger has of the run's suite. REQUIRES: 0 <= min_kappa <= 1.
  RequiredCalibrations(double min_kappa, RunJudge judge, std::vector<JudgeCalibration> of_suite);

  double min_kappa() const { return min_kappa_; }
  const JudgeIdentity& judge() const { return judge_.identity(); }

  /// A calibration counts if it is of the same score, rubric, judge and number of votes, and of no fake
  /// judge, and of no other criteria. It is enough where the lower end of kappa's interval reaches the limit,
  /// in whole billionths. `asked`: by what the votes were cast; null: not known.
  CalibrationCheck check(const ScoreId& score, const VoteTally& votes,
                         const Expectation* asked = nullptr) const;

 private:
  double min_kappa_;
  RunJudge judge_;
  std::vector<JudgeCalibration> calibrations_;
};

/// One of the ways in which a run's answers were judged.
struct CheckedCalibration {
  ScoreId score;
  std::string rubric;  ///< Its id.
  std::string rubric_version;
  std::uint32_t samples = 0;
  CalibrationCheck check;
};

/// What a gate that asks for calibrations found.
struct RunCalibrations {
  std::shared_ptr<const RequiredCalibrations> required;  ///< Holds what the checks refer to.
  std::vector<CheckedCalibration> metrics;               ///< By score, rubric and votes.

  /// The scores of which a check, of any rubric, found no calibration that is enough.
  std::vector<ScoreId> uncalibrated() const;
};

/// Collects how a run's answers were judged.
class CalibrationFold {
 public:
  explicit CalibrationFold(std::shared_ptr<const RequiredCalibrations> required)
      : required_(std::move(required)) {}

  /// Of an assessed case.
  void add(std::span<const AssessedMetric> metrics);
  /// `rubrics` are Suite::rubrics.
  RunCalibrations finish(std::span<const Rubric> rubrics) const;

 private:
  using Key = std::tuple<ScoreId, std::uint32_t, std::uint32_t>;  ///< With rubric and votes.

  std::shared_ptr<const RequiredCalibrations> required_;
  std::map<Key, CalibrationCheck> checks_;
};

}  // namespace sluice
