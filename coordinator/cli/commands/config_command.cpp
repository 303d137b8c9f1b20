#include "common/text/printable.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/trial_design.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <utility>

#include <CLI/CLI.hpp>

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
    // A line each; one that is much longer than the others does not push their origins aside.
    constexpr std::size_t widest = 48;
    std::vector<SettingLine> lines = describe(*effective);
    std::size_t key_width = 0;
    std::size_t value_width = 0;
    for (const SettingLine& line : lines) {
      key_width = std::max(key_width, line.key.size());
      value_width = std::max(value_width, std::min(line.value.size(), widest));
    }
    std::string text;
    for (SettingLine& line : lines) {
      // The file may be that of a checkout.
      line.value = printable(line.value);
      line.origin = printable(line.origin);
      text += line.key + std::string(key_width - line.key.size(), ' ') + " = " + line.value;
      text += std::string(value_width - std::min(line.value.size(), value_width), ' ') + "  # " +
              line.origin + "\n";
    }
    std::cout << text;
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
