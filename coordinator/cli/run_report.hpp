#pragma once

#include "coordinator/facts/run_facts.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/session/run_gate.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"

namespace sluice {

/// Merges the committed results of a run, gates them, writes reports and baseline, and notes its end in the
/// ledger. Returns the exit code; errors were reported on stderr.
int report_run(const RunOptions& options, const RunInputs& inputs, const RunGate& gate, const Plan& plan,
               Ledger& ledger, const RunFacts& facts);

}  // namespace sluice
