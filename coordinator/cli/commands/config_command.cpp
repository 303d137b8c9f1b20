#include "coordinator/cli/command.hpp"
#include "coordinator/cli/config_text.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/display/terminal.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/trial_design.hpp"

#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <unistd.h>

namespace sluice {
namespace {

/// The values that a run would refuse later, where it first needs them: by the code that does so there. What
/// a suite may replace, since it goes before the settings file, or may never need, is no error yet.
int report_refused_values(const Settings& settings) {
  int code = exit_ok;
  const auto report = [&code](const Result<void>& checked, bool for_certain) {
    if (checked) return;
    if (for_certain) {
      code = report_error(checked.error());
    } else {
      report_warning(checked.error().message);
    }
  };
  const auto stands = [](Origin origin) { return origin > Origin::suite; };
  report(check_provider(settings), stands(settings.provider.origin));
  report(check_model(settings), false);  // A suite may name the provider.
  report(check_embedding_provider(settings), false);
  report(check_judge_provider(settings), false);
  report(check_perturbations(settings), stands(settings.perturb.origin));
  const auto findings = findings_in_data_files(settings);
  return findings.empty() ? code : report_findings(findings);
}

struct ShowConfig {
  SettingFlags settings;

  int run() const {
    const auto effective = settings.load(Warnings::shown, {}, ValidKeys::listed);
    if (!effective) return report_findings(effective.error());
    if (const int refused = report_refused_values(*effective); refused != exit_ok) return refused;
    std::cout << config_text(describe(*effective), detect_terminal(STDOUT_FILENO).columns);
    return exit_ok;
  }
};

}  // namespace

Command add_config_command(CLI::App& program) {
  auto command = std::make_shared<ShowConfig>();
  CLI::App* app = program.add_subcommand("config", "Show the settings in effect and the source of each");
  command->settings.add_to(*app);
  app->footer(
      "Flags override the environment (SLUICE_...), the environment overrides the\n"
      "settings file, and that overrides the defaults.\n"
      "Examples:\n"
      "  sluice config\n"
      "  SLUICE_MAX_CONCURRENT=20 sluice config --config ci.toml");
  return {app, [command] { return command->run(); }};
}

}  // namespace sluice
