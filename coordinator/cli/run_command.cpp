#include "coordinator/cli/run_command.hpp"

#include "common/settings/setting_definitions.hpp"
#include "common/text/text.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/suite/suite_loader.hpp"

#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

/// Flags that are planned and that this version does not know yet: refused by name rather than as a typing
/// error.
constexpr std::array<std::string_view, 1> unsupported_flags{"--save-observations"};

constexpr const char* run_examples =
    "Examples:\n"
    "  sluice run --mode live --provider openai --model gpt-4o-mini\n"
    "  sluice run --mode cached --format json --output report.json\n"
    "  sluice run --mode live --categories tls,jwt --max-fixtures 10\n"
    "  sluice run suite.yaml --mode live --export-baseline baseline.json\n"
    "  sluice run suite.yaml --baseline baseline.json --strict\n"
    "  sluice run --mode robust --repeat 3 --max-fixtures 5\n"
    "  sluice run --mode cached --perturb crlf,blank-lines --min-stability 0.9\n"
    "  sluice run suite.yaml --mode live --judge openai --judge-model gpt-4o-mini\n"
    "  sluice run suite.yaml --mode live --arm mini=openai:gpt-5-mini\n"
    "    --arm haiku=anthropic:claude-haiku-4-5 --baseline-arm mini\n"
    "  sluice run suite.yaml --judge fake      # judge metrics without a model\n"
    "  sluice run --mode live --listen tcp://127.0.0.1:5555\n"
    "    and on each worker's terminal: sluice-worker --connect tcp://127.0.0.1:5555\n"
    "Exit code 0: passed; 1: failures, case errors or a spent budget; 2: usage,\n"
    "settings, fixtures, set-up, or a run that was interrupted or could not go on.";

/// The run itself, with the flags that it alone has.
struct PlainRun : RunCommand {
  std::array<CLI::Option*, unsupported_flags.size()> unsupported{};

  int run_or_refuse(const StartWorkers& start_workers) const {
    for (std::size_t i = 0; i < unsupported.size(); ++i) {
      if (unsupported[i]->count() > 0) {
        return report_error(std::string(unsupported_flags[i]) + " " + std::string(not_supported_yet));
      }
    }
    return run(start_workers);
  }

  void add_flags(CLI::App& app) {
    add_suite_flags(app);
    add_selection_flags(app);
    add_gate_flags(app);
    add_distribution_flags(app);
    add_report_flags(app);
    add_log_flags(app);
    settings.add_to(app);
    for (std::size_t i = 0; i < unsupported.size(); ++i) {
      unsupported[i] = app.add_option(std::string(unsupported_flags[i]))->expected(0, 1)->group("");
    }
  }
};

Result<std::string> suite_path(const RunFlags& flags, const Settings& effective) {
  const auto& folder = effective.fixtures_dir;
  if (!flags.suite) return folder.value;
  if (folder.origin == Origin::flag) {
    return fail(Reason::usage_invalid, "both a suite (\"" + excerpt(*flags.suite, 80) + "\") and " +
                                           folder.where + " are given: name one of them");
  }
  return *flags.suite;
}

}  // namespace

int RunCommand::run(const StartWorkers& start_workers, const RunUse* use) const {
  // Twice: where the fixtures are is a setting, and a suite brings settings of its own.
  const bool only_errors = flags.log_level == "error";
  const auto without_suite = settings.load(only_errors ? Warnings::left_out : Warnings::shown);
  if (!without_suite) return report_findings(without_suite.error());
  const auto path = suite_path(flags, *without_suite);
  if (!path) return report_error(path.error());
  auto loaded = load_any_suite(*path, flags.allowed_paths);
  if (!loaded) return report_findings(loaded.error());
  auto effective = settings.load(Warnings::left_out, std::move(loaded->settings));
  if (!effective) return report_findings(effective.error());
  auto arms = run_arms(flags, loaded->suite);
  if (!arms) return report_error(arms.error());
  auto options = make_run_options(flags, std::move(*effective), std::move(*arms));
  if (!options) return report_error(options.error());
  options->suite_path = *path;
  return execute_run(*options, std::move(loaded->suite), start_workers, use);
}

void RunCommand::add_suite_flags(CLI::App& app) {
  app.add_option("SUITE", flags.suite, "A YAML suite or a folder of fixtures (default: --fixtures)")
      ->type_name("");
  add_allow_path(app, flags.allowed_paths);
}

void RunCommand::add_selection_flags(CLI::App& app) {
  app.add_option("--categories,--category", flags.categories, "Only these categories")
      ->allow_extra_args(false)
      ->type_name("A,B");
  app.add_option("--max-fixtures", flags.max_fixtures, "Only the first N fixtures by id")->type_name("N");
  app.add_option(
         "--arm", flags.arms,
         "Answer each test by this model too, and compare; in place of the suite's arms; may be given "
         "often")
      ->allow_extra_args(false)
      ->type_name("NAME=PROVIDER:MODEL");
  app.add_option("--perturb-command", flags.perturb_commands,
                 "A perturbation by a command that reads the text and writes it anew; may be given often")
      ->allow_extra_args(false)
      ->type_name("NAME=COMMAND");
  app.add_flag("--refresh", flags.refresh, "Ask the providers again and renew the cache");
  app.add_flag("--no-cache", flags.no_cache, "Neither read nor write the cache");
  app.add_flag("--judge-refresh", flags.judge_refresh, "Ask the judge again and renew its votes");
}

void RunCommand::add_distribution_flags(CLI::App& app) {
  app.add_option("--listen", flags.listen, "Wait for sluice-worker processes here (port 0 picks one)")
      ->type_name("tcp://HOST:PORT");
  app.add_flag("--insecure", flags.insecure, "Listen beyond loopback without encryption");
  app.add_option("--workers", flags.workers, "Workers inside this process (default 1; 0 with --listen)")
      ->type_name("N");
  app.add_option("--metrics-listen", flags.metrics_listen,
                 "Serve metrics to Prometheus at /metrics (:PORT is 127.0.0.1)")
      ->type_name("HOST:PORT");
  app.add_option("--call-log", flags.call_log, "Append a JSON line for each call at the instant it starts")
      ->type_name("FILE");
}

void RunCommand::add_gate_flags(CLI::App& app) {
  app.add_option("--baseline", flags.baseline, "Gate against a baseline file, or a manifest.toml")
      ->type_name("FILE");
  app.add_option("--baseline-arm", flags.baseline_arm, "Gate the other arms against this one")
      ->type_name("NAME");
  app.add_option("--export-baseline", flags.export_baseline, "Pin this run's scores in a baseline file")
      ->type_name("FILE");
  app.add_flag("--allow-errors", flags.allow_errors, "Export a baseline although cases ended in errors");
  app.add_flag("--fail-on-regression", flags.fail_on_regression,
               "Exit with 1 when the manifest's aggregates dropped beyond --threshold");
  app.add_flag("--strict", flags.strict, "Exit with 1 for warnings too");
}

void RunCommand::add_report_flags(CLI::App& app) {
  app.add_option("--format", flags.report.format, "What the report is written as (default table)")
      ->type_name("table|json|markdown|junit|github");
  app.add_option("--output", flags.report.output, "Write the report to this file instead of stdout")
      ->type_name("FILE");
  app.add_option("--report", flags.report.reports,
                 "One more report, in a format as of --format; may be given often")
      ->allow_extra_args(false)
      ->type_name("FORMAT=FILE");
}

void RunCommand::add_log_flags(CLI::App& app) {
  app.add_flag("--quiet,-q", flags.quiet, "No progress, warnings and errors only");
  app.add_flag("--verbose,-v", flags.verbose, "Log details");
  app.add_option("--log-level", flags.log_level, "What is logged (default warn; with --listen info)")
      ->type_name("error|warn|info|debug|trace");
}

Command add_run_command(CLI::App& program, const StartWorkers& start_workers) {
  auto command = std::make_shared<PlainRun>();
  CLI::App* app = program.add_subcommand("run", "Evaluate a suite or a folder of fixtures, gate and report");
  command->add_flags(*app);
  app->footer(run_examples);
  return {app, [command, start_workers] { return command->run_or_refuse(start_workers); }};
}

}  // namespace sluice
