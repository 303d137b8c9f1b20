#pragma once

#include "coordinator/gate/gate.hpp"
#include "coordinator/gate/required_calibrations.hpp"
#include "coordinator/merge/judge_bias_fold.hpp"

#include <string>
#include <vector>

/// What was measured of a judge, in words.
namespace sluice::wording {

/// `faithfulness v1`, `rubric (tone v1)`.
std::string rubric_in_words(const ScoreId& score, const std::string& rubric, const std::string& version);
std::string judged_by(const JudgedMetricBias& metric);

/// `kappa 0.72 (95 %: 0.48 to 0.90)`
std::string kappa(const JudgeCalibration& calibration);

/// A sentence each: how strong, with its interval, whether beyond chance, and what to do. REQUIRES: it was
/// measured.
std::string length_bias(const JudgedMetricBias& metric, double confidence);
std::string format_bias(const JudgedMetricBias& metric, double confidence);
std::string vote_noise(const JudgedMetricBias& metric);
/// What was not measured, and from how many cases, answers or votes on it is: `length and format (from 5
/// cases on)`. Empty if all was.
std::string not_measured(const JudgeBias& bias);

/// More of the verdicts are luck than `defaults::statistics::vote_noise_limit`.
bool is_noisy(const JudgedMetricBias& metric);

/// `judge_length_bias` and `judge_format_bias`: warnings that decide nothing, of what is beyond chance.
std::vector<GateNotice> judge_bias_notices(const JudgeBias& bias);

/// What a gate that asks for calibrations found, of each kind one notice: `judge_uncalibrated` and
/// `judge_kappa_low`, failures under strict, and `judge_calibrated` (info).
std::vector<GateNotice> calibration_notices(const RunCalibrations& run, const std::string& suite_path,
                                            bool strict);

}  // namespace sluice::wording
