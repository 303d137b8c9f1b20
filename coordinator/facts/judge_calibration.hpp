#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

/// What a calibration is of: another rubric, judge or number of votes is another judge.
struct CalibrationKey {
  std::string suite;
  std::string metric;
  std::string rubric;  ///< Its id.
  std::string rubric_version;
  std::string rubric_hash;  ///< `sha256:...`
  std::string judge_provider;
  std::string judge_model;
  std::uint32_t samples = 0;  ///< Votes on each answer.
  friend bool operator==(const CalibrationKey&, const CalibrationKey&) = default;
};

/// How far a judge agrees with labels, in the ledger.
struct JudgeCalibration {
  CalibrationKey key;
  std::string against;  ///< `labels`, or the metric that it was compared with.
  std::string run_id;   ///< Whose answers were judged.
  std::int64_t calibrated_at_ms = 0;
  /// criteria_digest of all tests that were compared; 0: they have several, or an earlier sluice made it.
  std::uint64_t criteria = 0;
  std::uint64_t answers = 0;
  std::uint64_t cases = 0;
  double agreement = 0.0;
  double agreement_low = 0.0;
  double agreement_high = 1.0;
  std::optional<double> kappa;  ///< Empty where both always say the same.
  double kappa_low = -1.0;
  double kappa_high = 1.0;
  friend bool operator==(const JudgeCalibration&, const JudgeCalibration&) = default;
};

}  // namespace sluice
