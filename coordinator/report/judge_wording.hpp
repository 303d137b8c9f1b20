#pragma once

#include "coordinator/gate/gate.hpp"
#include "coordinator/merge/judge_bias_fold.hpp"

#include <string>
#include <vector>

/// What was measured of a judge, in words.
namespace sluice::wording {

/// `faithfulness v1`, `rubric (tone v1)`.
std::string judged_by(const JudgedMetricBias& metric);

/// A sentence each: how strong, with its interval, whether beyond chance, and what to do.
std::string length_bias(const JudgedMetricBias& metric, double confidence);
std::string format_bias(const JudgedMetricBias& metric, double confidence);
std::string vote_noise(const JudgedMetricBias& metric);

/// More of the verdicts are luck than `defaults::vote_noise_limit`.
bool is_noisy(const JudgedMetricBias& metric);

/// `judge_length_bias` and `judge_format_bias`: warnings that decide nothing, of what is beyond chance.
std::vector<GateNotice> judge_bias_notices(const JudgeBias& bias);

}  // namespace sluice::wording
