#pragma once

#include "coordinator/facts/asked_case.hpp"
#include "coordinator/merge/renumbered_results.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"

#include <span>
#include <string>
#include <vector>

/// The cases of a run as the ledger keeps them, by which its results are found again when tests were added or
/// removed since.
namespace sluice {

/// The cases of the plan, with what judges each. Empty where they are not kept: of very many, and where each
/// is shown a solved example, which is known by the place of its case. Fails as reading a case does.
Result<std::vector<AskedCase>> asked_cases(const RunOptions& options, const RunInputs& inputs,
                                           const Plan& plan);

/// What a run and a suite of now have in common.
struct SharedCases {
  std::vector<RenumberedTrials> trials;  ///< Of the cases that both have, and judge alike.
  std::vector<std::string> otherwise;    ///< Cases that are judged otherwise now, or have other trials.
  std::vector<std::string> lost;         ///< Cases of the run that the suite has no more,
  std::vector<TrialId> first_of_lost;    ///< and the first trial of each.
};

/// Both by id, as plans have them.
SharedCases shared_cases(std::span<const AskedCase> then, std::span<const AskedCase> now);

}  // namespace sluice
