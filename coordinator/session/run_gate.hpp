#pragma once

#include "common/error.hpp"
#include "coordinator/facts/judge_calibration.hpp"
#include "coordinator/gate/baseline.hpp"
#include "coordinator/gate/baseline_check.hpp"
#include "coordinator/gate/baseline_comparison.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/gate/judge_pin.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace sluice {

/// What a run is gated by: read and checked before the first call is made.
struct RunGate {
  std::unique_ptr<const Baseline> scores;       ///< Of a baseline file.
  std::optional<AggregateBaseline> aggregates;  ///< Of a manifest.
  Gate gate;                                    ///< Refers to `scores`.
  GatedRun run;                                 ///< What is compared with `scores`.
  RunJudge judge;                               ///< Of a run whose cases are judged.
  BaselineComparison comparison;                ///< With what the baseline's header gave notice of.
};

/// Reads what --baseline names: a manifest (*.toml) or a baseline file. baseline_invalid if it cannot be
/// read, does not fit its format, is another suite's or a mock run's (check_baseline, check_shared_cases), or
/// is a manifest without scores in a [baseline] table; usage_invalid for a manifest beside a selection.
Result<RunGate> load_gate(const RunOptions& options, const RunInputs& inputs);

/// The gate may decide otherwise on an answer than its checks do by themselves: a baseline, or a score. Known
/// failures are none of that: they did fail.
bool decides_beyond_checks(const RunOptions& options, const Suite& suite);

/// Has judge scores fail nothing without a calibration, where the settings ask for one. `of_suite`: all that
/// the ledger has of the suite.
void require_calibrations(const RunOptions& options, std::vector<JudgeCalibration> of_suite, RunGate& gate);

/// The gate of a run whose arms are compared with one of them (--baseline-arm): that arm's scores are the
/// baseline of every arm. `results` are the run's; `gate` is that of load_gate. Fails as visit_cases does.
Result<RunGate> gate_against_arm(const RunOptions& options, const RunInputs& inputs,
                                 const RunResults& results, const RunGate& gate);

}  // namespace sluice
