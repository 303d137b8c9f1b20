#pragma once

#include "coordinator/session/run_options.hpp"
#include "coordinator/session/trial_design.hpp"

namespace sluice {

/// Says on stderr now and then how far the commands of --perturb-command have come, as long as they take;
/// empty where the options want no progress.
OnCommands command_progress(const RunOptions& options);

}  // namespace sluice
