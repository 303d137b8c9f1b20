#pragma once

#include "common/error.hpp"
#include "coordinator/facts/run_facts.hpp"
#include "coordinator/gate/baseline_comparison.hpp"
#include "coordinator/gate/baseline_export.hpp"
#include "coordinator/gate/required_calibrations.hpp"
#include "coordinator/gate/status.hpp"
#include "coordinator/merge/aggregate.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/merge/judge_bias_fold.hpp"
#include "coordinator/merge/label_fold.hpp"
#include "coordinator/merge/run_arms.hpp"
#include "coordinator/merge/run_stability.hpp"
#include "coordinator/session/run_gate.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace sluice {

/// What assessing all cases of a run brings.
struct RunAssessment {
  Aggregates aggregates;
  BaselineComparison gate;
  std::optional<RunStability> stability;          ///< Of a run with repeats or perturbations.
  std::optional<RunArms> arms;                    ///< Of a run with arms.
  std::optional<JudgeBias> judge_bias;            ///< Of a run whose answers a model judged.
  std::optional<RunCalibrations> calibrations{};  ///< Of a run whose gate asks for some.
  std::vector<PassGroup> pass_groups{};           ///< Of a run with a least pass rate.
  std::vector<LabelledAnswers> labels{};          ///< Of a run that expects some.
  RunVerdict verdict = RunVerdict::error;
  int exit_code = 2;
};

/// Whether a run measures stability: it has repeats, or perturbations, which may all have changed nothing.
/// `table`: as RunResults has it.
bool measures_stability(const TrialTable* table, const std::vector<PerturbationFacts>& perturbations);

/// What else is to see each case.
using VisitCase = std::function<void(const CaseResult&)>;

/// Visits all cases once: aggregates, stability, the comparison as a whole, verdict and exit code.
/// `perturbations` are those of the plan; `cut_short` says why the run ended before its plan did, if so.
Result<RunAssessment> assess_run(const RunOptions& options, const RunResults& results, const RunGate& gate,
                                 const std::vector<PerturbationFacts>& perturbations, const RunPrice& price,
                                 const std::optional<Error>& cut_short, const VisitCase& also = {});

/// Takes in the scores of a run that are to be pinned (--export-baseline): those of each case without an
/// error. Nothing where none are.
std::optional<BaselineExport> pins_of(const RunOptions& options, const RunInputs& inputs,
                                      const RunGate& gate);

/// Writes them to the file that --export-baseline names, whole or not at all, and says how many.
/// usage_invalid for a run that was cut short, or has case errors and no --allow-errors: the file then stays
/// as it was.
Result<std::size_t> export_baseline(const RunOptions& options, std::optional<BaselineExport> pins,
                                    const RunFacts& facts, const RunAssessment& assessment);

}  // namespace sluice
