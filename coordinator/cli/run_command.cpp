#include "common/settings/setting_definitions.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/execute_run.hpp"
#include "coordinator/cli/run_options.hpp"
#include "coordinator/cli/setting_flags.hpp"

#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

/// Flags of the harness spec that this version does not know yet: refused by name rather than as a typing
/// error.
constexpr std::array<std::string_view, 5> unsupported_flags{
    "--baseline", "--export-baseline", "--fail-on-regression", "--threshold", "--save-observations"};

constexpr const char* examples =
    "Examples:\n"
    "  sluice run --mode live --provider openai --model gpt-4o-mini\n"
    "  sluice run --mode cached --format json --output report.json\n"
    "  sluice run --mode live --categories tls,jwt --max-fixtures 10\n"
    "  sluice run --mode live --listen tcp://127.0.0.1:5555\n"
    "    and on each worker's terminal: sluice-worker --connect tcp://127.0.0.1:5555\n"
    "Exit code 0: all passed; 1: failures or case errors; 2: usage, settings, fixtures, set-up and run time.";

struct RunCommand {
  SettingFlags settings;
  RunFlags flags;
  std::array<CLI::Option*, unsupported_flags.size()> unsupported{};

  int run(const StartWorkers& start_workers) const {
    for (std::size_t i = 0; i < unsupported.size(); ++i) {
      if (unsupported[i]->count() > 0) {
        return report_error(std::string(unsupported_flags[i]) + " " + std::string(not_supported_yet));
      }
    }
    auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    const auto options = make_run_options(flags, std::move(*effective));
    if (!options) return report_error(options.error());
    return execute_run(*options, start_workers);
  }

  void add_flags(CLI::App& app) {
    add_selection_flags(app);
    add_distribution_flags(app);
    add_report_flags(app);
    settings.add_to(app);
    for (std::size_t i = 0; i < unsupported.size(); ++i) {
      unsupported[i] = app.add_option(std::string(unsupported_flags[i]))->expected(0, 1)->group("");
    }
  }

 private:
  void add_selection_flags(CLI::App& app) {
    app.add_option("--categories", flags.categories, "Only these categories")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("A,B");
    app.add_option("--max-fixtures", flags.max_fixtures, "Only the first N fixtures by id")->type_name("N");
    app.add_flag("--refresh", flags.refresh, "Ask the providers again and renew the cache");
    app.add_flag("--no-cache", flags.no_cache, "Neither read nor write the cache");
  }

  void add_distribution_flags(CLI::App& app) {
    app.add_option("--listen", flags.listen, "Wait for sluice-worker processes here (port 0 picks one)")
        ->type_name("tcp://HOST:PORT");
    app.add_flag("--insecure", flags.insecure, "Listen beyond loopback without encryption");
    app.add_option("--workers", flags.workers, "Workers inside this process (default 1; 0 with --listen)")
        ->type_name("N");
  }

  void add_report_flags(CLI::App& app) {
    app.add_option("--format", flags.format, "table, json or markdown")->type_name("FORMAT");
    app.add_option("--output", flags.output, "Write the report to this file instead of stdout")
        ->type_name("FILE");
    app.add_flag("--quiet,-q", flags.quiet, "No progress, warnings and errors only");
    app.add_flag("--verbose,-v", flags.verbose, "Log details");
    app.add_option("--log-level", flags.log_level, "error, warn, info, debug or trace")->type_name("LEVEL");
  }
};

}  // namespace

Command add_run_command(CLI::App& program, const StartWorkers& start_workers) {
  auto command = std::make_shared<RunCommand>();
  CLI::App* app = program.add_subcommand("run", "Evaluate the fixtures and report");
  command->add_flags(*app);
  app->footer(examples);
  return {app, [command, start_workers] { return command->run(start_workers); }};
}

}  // namespace sluice
