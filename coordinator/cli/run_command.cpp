#include "coordinator/cli/command.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/session/run_options.hpp"

#include <memory>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

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

struct RunCommand {
  SettingFlags settings;
  RunFlags flags;

  int run(const StartWorkers& start_workers) const { return run_suite(settings, flags, start_workers); }

  void add_flags(CLI::App& app) {
    add_suite_flags(app, flags);
    add_answer_flags(app, flags);
    add_gate_flags(app);
    add_distribution_flags(app, flags);
    add_report_flags(app, flags, "table|json|markdown|junit|github");
    add_log_flags(app, flags);
    settings.add_to(app);
  }

 private:
  void add_gate_flags(CLI::App& app) {
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
};

}  // namespace

Command add_run_command(CLI::App& program, const StartWorkers& start_workers) {
  auto command = std::make_shared<RunCommand>();
  CLI::App* app = program.add_subcommand("run", "Evaluate a suite or a folder of fixtures, gate and report");
  command->add_flags(*app);
  app->footer(run_examples);
  return {app, [command, start_workers] { return command->run(start_workers); }};
}

}  // namespace sluice
