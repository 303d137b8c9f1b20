#pragma once

#include "coordinator/facts/run_facts.hpp"
#include "coordinator/facts/run_record.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/run/run_controller.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"
#include "coordinator/suite/suite_copier.hpp"

#include <optional>
#include <string>

/// A run of several parts: what a later one takes from the ledger (docs/durability.md).
namespace sluice {

/// What the cases of the run were shown of solved examples, unless it stopped before that was noted.
Result<void> retrieve_as_before(const RunOptions& options, RunInputs& inputs);

/// Gives the controller what the run's earlier parts left. Returns its row, with the flags of `now`: the row
/// that it would have if it began now; usage_invalid names what differs. `suite`: as it was read now; may be
/// null. REQUIRES: the run's lock.
Result<RunRecord> take_up(const RunRecord& now, const Plan& plan, SuiteCopier* suite, Ledger& ledger,
                          RunController::Config& controller);
/// Opens the run that was taken up: the ledger drops what its earlier parts came to, so that the next part
/// has to be sure to begin.
Result<void> reopen(const RunRecord& taken_up, Ledger& ledger);

/// What the run before took counts in every part of the run that follows.
Result<void> note_spent_before(const RunFacts& before, const std::string& run_id, Ledger& ledger);

/// The flag, with a blank before it, by which another command finds the run's home; empty where it needs
/// none.
std::string home_flag(const Settings& settings);

/// How to go on with a run of the suite that stopped, for whoever watches; `why`, if anything cut it short.
std::string how_to_go_on(const RunOptions& options, const Suite& suite, const std::string& run_id,
                         const std::optional<Error>& why);
/// Of a run that came to its end, and has a report that could not be written: the same command would fail
/// again.
std::string how_to_report(const RunOptions& options, const std::string& run_id);

}  // namespace sluice
