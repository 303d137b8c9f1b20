#pragma once

#include "common/manual/command_text.hpp"

namespace sluice {

/// The `sluice-worker` program: reads the command line and the worker's own settings, serves a coordinator,
/// and returns the exit code (0 when the run was drained or on a signal; 2 for usage, settings and set-up
/// errors, or when no coordinator came).
int run_worker_cli(int argc, char** argv);

/// What the help of `sluice-worker` says, for its manual page and completions.
CommandText describe_worker_cli();

}  // namespace sluice
