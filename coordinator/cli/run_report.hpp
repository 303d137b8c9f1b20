#pragma once

#include "coordinator/cli/execute_run.hpp"
#include "coordinator/facts/run_facts.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/session/run_gate.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// Merges the committed results of a run, gates them, writes reports and baseline, and notes its end in the
/// ledger. `begun_units`: without a result, though a worker has begun with them; ascending. `observed`: its
/// observations are saved, and get their statuses. `use` takes the
/// place of reports and baseline. Returns the exit code; errors were reported on stderr.
int report_run(const RunOptions& options, const RunInputs& inputs, const RunGate& gate, const Plan& plan,
               Ledger& ledger, const RunFacts& facts, const std::vector<UnitId>& begun_units, bool observed,
               const RunUse* use = nullptr);

/// The same for a run of which there is nothing to assess: says why, and notes its end (Unix time in
/// milliseconds). Returns the exit code.
int report_failed_run(Ledger& ledger, const std::string& run_id, const Error& why, std::int64_t ended_at_ms);

/// Writes the files of a run's report where it came to its end before any test was asked (`facts.cut_short`):
/// else those of an earlier run stay there, and pass for this one's.
Result<void> report_unasked(const RunOptions& options, const RunInputs& inputs, const RunGate& gate,
                            const RunFacts& facts);

}  // namespace sluice
