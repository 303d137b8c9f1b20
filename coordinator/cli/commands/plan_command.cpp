#include "common/settings/key_trust.hpp"
#include "common/text/stderr_line.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/run/plan_estimate.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/display/terminal.hpp"
#include "coordinator/report/commands/estimate_report.hpp"
#include "coordinator/session/flag_values.hpp"
#include "coordinator/session/run_commands.hpp"
#include "coordinator/session/unnamed_models.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

constexpr const char* plan_examples =
    "Makes no calls and needs no key. The numbers are upper bounds: a prompt counts\n"
    "as some two thirds of its bytes, which is more than models count, an answer by\n"
    "--max-output-tokens. Without --mode the run is a live one.\n"
    "Examples:\n"
    "  sluice plan suite.yaml --provider openai --model gpt-5-mini\n"
    "  sluice plan suite.yaml --arm a=openai:gpt-5-mini --arm b=openai:gpt-5-nano\n"
    "  sluice plan suite.yaml --mode cached        # what the caches lack\n"
    "Exit code 0: printed; 2: as `sluice run`.";

/// What the run would end with before its first call.
void warn_of_withheld_key(const Settings& settings, const RunEstimate& estimate) {
  const auto withheld = withheld_of_suite(settings);
  const bool is_asked = std::ranges::find(estimate.calls, settings.provider.value,
                                          &EstimatedCalls::provider_name) != estimate.calls.end();
  if (withheld && is_asked) report_warning(withheld->message);
}

/// What the run would say of its commands before that, or be refused for.
void note_commands(const LoadedRun& run) {
  const std::string& suite = run.options.suite_path;
  if (const auto note = commands_note(run.options, run.inputs.suite)) say(suite + ": " + *note);
  for (const std::string& remark : command_remarks(run.options, run.inputs.suite))
    report_warning(suite + ": " + remark);
}

struct PlanCommand {
  SettingFlags settings;
  RunFlags flags;
  std::string format = "table";

  int run(const CacheTools& caches) const {
    const auto as = choice_of("--format", format, {"table", "json"});
    if (!as) return report_error(as.error());
    const auto run = load_run(settings, flags, [](Settings& chosen) {
      if (chosen.mode.origin == Origin::default_value) chosen.mode.value = Mode::live;
    });
    if (!run) return run.error();
    const auto unnamed = unnamed_embedder(run->options.settings, run->inputs.suite);
    if (unnamed && run->options.settings.mode.value != Mode::mock) report_warning(*unnamed);
    const auto estimated = estimate(run->options, run->inputs, caches);
    if (!estimated) return report_error(estimated.error());
    warn_of_withheld_key(run->options.settings, *estimated);
    note_commands(*run);
    std::cout << (*as == 1 ? estimate_json(*estimated) : estimate_text(*estimated, output_columns()));
    return exit_ok;
  }
};

}  // namespace

Command add_plan_command(CLI::App& program, const CacheTools& caches) {
  auto command = std::make_shared<PlanCommand>();
  CLI::App* app = program.add_subcommand("plan", "Estimate the calls, the time and the cost of a run");
  add_suite_argument(*app, command->flags);
  add_suite_flags(*app, command->flags);
  add_answer_flags(*app, command->flags);
  app->add_option("--format", command->format, "Format of the output (default table)")
      ->type_name("table|json");
  command->settings.add_to(*app);
  app->footer(plan_examples);
  return {app, [command, caches] { return command->run(caches); }};
}

}  // namespace sluice
