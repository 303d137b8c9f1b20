#pragma once

#include "common/transport/local_workers.hpp"

namespace sluice {

/// The `sluice` program: reads the command line, runs the command and returns the exit code (0 ok; 1 failures
/// and regressions; 2 wrong usage, settings, fixtures, set-up and run-time errors). Reports and listings go
/// to stdout, all else to stderr.
/// `start_workers` starts workers inside this process.
int run_cli(int argc, char** argv, const StartWorkers& start_workers);

}  // namespace sluice
