#pragma once

#include "common/cache_tools.hpp"
#include "common/documents/finding.hpp"
#include "common/error.hpp"
#include "common/transport/local_workers.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace sluice {

/// Exit codes: there are no others.
inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1;  ///< Failed cases, case errors, regressions.
inline constexpr int exit_error = 2;   ///< Usage, settings, fixtures, set-up and run time.

/// A command's flags, and what it does. `run` is called after the command line was parsed.
struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

/// Each adds its command to the program. The flags' storage lives in the returned function.
Command add_run_command(CLI::App& program, const PrepareWorkers& prepare_workers, const CacheTools& caches);
Command add_rerun_command(CLI::App& program, const PrepareWorkers& prepare_workers, const CacheTools& caches);
Command add_plan_command(CLI::App& program, const CacheTools& caches);
Command add_grade_command(CLI::App& program, const PrepareWorkers& prepare_workers);
Command add_quality_command(CLI::App& program);
Command add_limits_command(CLI::App& program);
Command add_keys_command(CLI::App& program);
Command add_calibrate_judge_command(CLI::App& program, const PrepareWorkers& prepare_workers);
Command add_calibrate_bands_command(CLI::App& program);
Command add_generate_corpus_command(CLI::App& program, const PrepareWorkers& prepare_workers,
                                    const CacheTools& caches);
Command add_review_command(CLI::App& program);
Command add_init_command(CLI::App& program);
Command add_import_command(CLI::App& program);
Command add_list_fixtures_command(CLI::App& program);
Command add_validate_fixtures_command(CLI::App& program);
Command add_config_command(CLI::App& program);
Command add_baseline_command(CLI::App& program);
Command add_update_baseline_command(CLI::App& program);
Command add_runs_command(CLI::App& program);
Command add_observations_command(CLI::App& program);
Command add_report_command(CLI::App& program, const CacheTools& tools);
Command add_view_command(CLI::App& program, const CacheTools& tools);
Command add_show_command(CLI::App& program, const CacheTools& tools);
Command add_diff_command(CLI::App& program, const CacheTools& tools);
Command add_compare_command(CLI::App& program);
Command add_cache_command(CLI::App& program, const CacheTools& tools);
Command add_doctor_command(CLI::App& program, const CacheTools& caches);

/// `sluice: warning: message` on stderr.
void report_warning(std::string_view message);
/// `sluice: error: message` on stderr; returns exit_error.
int report_error(std::string_view message);
int report_error(const Error& error);
/// Of each file the first defaults::max_file_findings findings, and of all no more than
/// defaults::max_shown_findings, with a last one that says how many more there are.
std::vector<Finding> shown_findings(const std::vector<Finding>& findings);
/// The findings (shown_findings) on stderr, a line each, with `sluice: error:` before the first word; returns
/// exit_error.
int report_findings(const std::vector<Finding>& findings);

}  // namespace sluice
