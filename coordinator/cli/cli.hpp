#pragma once

#include "common/cache_tools.hpp"
#include "common/manual/command_text.hpp"
#include "common/transport/local_workers.hpp"

namespace sluice {

/// The `sluice` program: reads the command line, runs the command and returns the exit code (0 ok; 1 failures
/// and regressions; 2 wrong usage, settings, fixtures, set-up and run-time errors). Reports and listings go
/// to stdout, all else to stderr.
/// `prepare_workers` prepares workers inside this process, and starts them; `cache_tools` reads and writes
/// caches.
int run_cli(int argc, char** argv, const PrepareWorkers& prepare_workers, const CacheTools& cache_tools);

/// What the helps of `sluice` and all its commands say, for manual pages and completions.
CommandText describe_cli();

}  // namespace sluice
