#pragma once

#include "coordinator/cli/run_inputs.hpp"
#include "coordinator/cli/run_options.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/plan/plan.hpp"

namespace sluice {

/// Merges the committed results of a run, writes its report and notes its end in the ledger. Returns the exit
/// code; errors were reported on stderr.
int report_run(const RunOptions& options, const RunInputs& inputs, const Plan& plan, Ledger& ledger,
               const RunFacts& facts);

}  // namespace sluice
