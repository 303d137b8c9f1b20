#pragma once

#include "common/transport/local_workers.hpp"
#include "coordinator/session/run_options.hpp"
#include "coordinator/suite/suite.hpp"

namespace sluice {

/// Runs a suite to its report: starts the coordinator and the workers inside this process, and writes the
/// report. Returns the exit code; errors were reported on stderr.
int execute_run(const RunOptions& options, Suite suite, const StartWorkers& start_workers);

}  // namespace sluice
