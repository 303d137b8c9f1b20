#pragma once

#include "coordinator/cli/run_gate.hpp"
#include "coordinator/cli/run_inputs.hpp"
#include "coordinator/cli/run_options.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/plan/plan.hpp"

namespace sluice {

/// Merges the committed results of a run, gates them, writes reports and baseline, and notes its end in the
/// ledger. Returns the exit code; errors were reported on stderr.
int report_run(const RunOptions& options, const RunInputs& inputs, const RunGate& gate, const Plan& plan,
               Ledger& ledger, const RunFacts& facts);

}  // namespace sluice
