#pragma once

#include "common/settings/settings.hpp"
#include "coordinator/cli/run_flags.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// What `sluice run --watch` runs, and when again.
struct WatchedRun {
  std::vector<std::string> arguments;          ///< Of this program, its name first; without --watch.
  std::vector<std::filesystem::path> inputs;   ///< Files, and folders with all below them.
  std::vector<std::filesystem::path> outputs;  ///< What the run itself writes.
};

/// This process without `--watch`; nothing where there is no suite whose change could be awaited.
std::optional<WatchedRun> watched_run(const RunFlags& flags, const std::string& config_file,
                                      const Settings& settings);

/// Runs the program as a process of its own, and again whenever an input has changed, until SIGINT or
/// SIGTERM, which a run under way gets too. Returns the last run's exit code; exit_error, after it was
/// reported, if the files cannot be watched. REQUIRES: this process has no other thread.
int watch_run(const WatchedRun& watched);

}  // namespace sluice
