#include "coordinator/cli/command.hpp"
#include "coordinator/cli/manifest_file.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/display/display.hpp"
#include "coordinator/gate/aggregate_gate.hpp"

#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

struct ShowBaseline {
  SettingFlags settings;

  int run() const {
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    const auto file = load_manifest_file(effective->fixtures_dir.value);
    if (!file) return report_findings(file.error());
    const auto& baseline = file->manifest.baseline;
    if (!baseline || !pins_scores(*baseline)) {
      return report_error(
          file->path +
          (file->text ? " has no [baseline] with a precision, recall or f1" : " does not exist") +
          "; run the suite, then `sluice update-baseline --force` makes one of that run");
    }
    std::string text = "Current baseline: " + printable(baseline_in_words(baseline)) + '\n';
    const auto line = [&](std::string_view label, const std::string& value) {
      if (!value.empty()) text += padded_right(label, 16) + printable(value) + '\n';
    };
    line("model", baseline->model);
    line("prompt_version", baseline->prompt_version);
    line("measured_at", baseline->measured_at);
    std::cout << text;
    return exit_ok;
  }
};

}  // namespace

Command add_baseline_command(CLI::App& program) {
  auto command = std::make_shared<ShowBaseline>();
  CLI::App* app = program.add_subcommand("baseline", "Show the [baseline] of the fixtures' manifest.toml");
  command->settings.add_to(*app, {"fixtures_dir"});
  app->footer(
      "Exit code 0; 2 if there is none.\n"
      "Examples:\n"
      "  sluice baseline\n"
      "  sluice baseline --fixtures my_suite");
  return {app, [command] { return command->run(); }};
}

}  // namespace sluice
