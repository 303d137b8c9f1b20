#pragma once

#include "common/settings/settings.hpp"
#include "common/transport/local_workers.hpp"
#include "coordinator/cli/execute_run.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/session/run_options.hpp"
#include "coordinator/suite/suite.hpp"

#include <string>

#include <tl/expected.hpp>

namespace CLI {
class App;
}

/// What the commands that run a suite have in common.
namespace sluice {

/// The suite, --allow-path, what is selected of it, and how the caches are used.
void add_suite_flags(CLI::App& app, RunFlags& flags);
/// The ways in which a test is answered: --arm and --perturb-command.
void add_answer_flags(CLI::App& app, RunFlags& flags);
/// Who works, and where it shows.
void add_distribution_flags(CLI::App& app, RunFlags& flags);
/// `formats`: those of --format, for the help.
void add_report_flags(CLI::App& app, RunFlags& flags, const std::string& formats);
void add_log_flags(CLI::App& app, RunFlags& flags);

/// A suite with the settings that hold for it.
struct RunSource {
  std::string path;
  Suite suite;
  Settings settings;
};

/// Loads what the flags name. Error: the exit code, after everything wrong was reported.
tl::expected<RunSource, int> load_run_source(const SettingFlags& settings, const RunFlags& flags);

/// Runs what the flags name, under the suite's arms or theirs. Returns the exit code. `use`: as execute_run.
int run_suite(const SettingFlags& settings, const RunFlags& flags, const StartWorkers& start_workers,
              const RunUse* use = nullptr);

}  // namespace sluice
