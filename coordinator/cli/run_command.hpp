#pragma once

#include "common/transport/local_workers.hpp"
#include "coordinator/cli/execute_run.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/session/run_options.hpp"

namespace CLI {
class App;
}

namespace sluice {

/// A command that runs a suite: its flags, and what leads from them to the run.
struct RunCommand {
  SettingFlags settings;
  RunFlags flags;

  /// Returns the exit code. `use`: what is made of the results in place of reports; null: reports.
  int run(const StartWorkers& start_workers, const RunUse* use = nullptr) const;

  void add_suite_flags(CLI::App& app);
  void add_selection_flags(CLI::App& app);
  void add_distribution_flags(CLI::App& app);
  void add_gate_flags(CLI::App& app);
  void add_report_flags(CLI::App& app);
  void add_log_flags(CLI::App& app);
};

}  // namespace sluice
