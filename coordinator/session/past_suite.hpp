#pragma once

#include "common/error.hpp"
#include "coordinator/facts/asked_case.hpp"
#include "coordinator/facts/case_outcome.hpp"
#include "coordinator/facts/committed_results.hpp"
#include "coordinator/facts/past_cases.hpp"
#include "coordinator/merge/renumbered_results.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/session/asked_cases.hpp"
#include "coordinator/session/run_options.hpp"
#include "coordinator/suite/suite.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// The suite of a past run, made of what its suite of now still has, and of what the ledger keeps.
namespace sluice {

/// Takes the tests out of the suite that the run did not have under any of the arms, and from the suite's
/// metrics those that nothing else asks for. Fails as reading a case does.
Result<void> keep_asked(std::span<const AskedCase> then, std::span<const RunArm> arms, Suite& suite);

/// What the ledger has of a run.
struct PastRecord {
  std::span<const AskedCase> cases;
  const ResultSource& results;  ///< By the numbers of then.
  /// What the gate made of the cases that did not simply pass, by id; nothing where that is not noted.
  const std::optional<std::map<std::string, CaseOutcome>>& outcomes;
};

/// Makes the suite's cases those of the run, in the run's order: in place of one that `shared` calls lost or
/// judged otherwise stands what its results say of it, which is how its answers were judged, and no more than
/// which metrics did that. A prompt stays where it is what was asked. `now`: the plan of the suite, null for
/// a suite without cases. Fails as the results and reading a case do.
Result<PastCases> put_back(const PastRecord& then, const SharedCases& shared, const Plan* now,
                           std::span<const RunArm> arms, Suite& suite);

/// The numbers that the trials of the run have among those of its cases now, which are the same cases; empty
/// where none has another. Of a case that lost its text the perturbed ones have none.
std::vector<RenumberedTrials> numbers_now(std::span<const AskedCase> then, const TrialTable& now);

/// Marks the cases of the plan whose results are of other requests than the plan's.
Result<void> mark_asked_otherwise(const Plan& plan, const ResultSource& results, PastCases& cases);

}  // namespace sluice
