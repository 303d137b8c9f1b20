#pragma once

#include "common/transport/local_workers.hpp"
#include "coordinator/cli/run_options.hpp"

namespace sluice {

/// Runs a suite to its report: loads the fixtures, starts the coordinator and the workers inside this
/// process, and writes the report. Returns the exit code; errors were reported on stderr.
int execute_run(const RunOptions& options, const StartWorkers& start_workers);

}  // namespace sluice
