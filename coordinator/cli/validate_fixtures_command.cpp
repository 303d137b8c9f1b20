#include "coordinator/cli/command.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/report/display.hpp"
#include "coordinator/suite/suite_loader.hpp"

#include <iostream>
#include <memory>
#include <utility>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

std::string counted(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

struct ValidateFixtures {
  SettingFlags settings;

  int run() const {
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    const std::string& folder = effective->fixtures_dir.value;
    const auto suite = load_suite(folder);
    if (!suite) {
      // The findings are what this command is asked for, so they are its output and not its diagnostics.
      for (const Finding& finding : suite.error()) std::cout << printable(to_text(finding)) << '\n';
      std::cout.flush();
      return report_error(counted(suite.error().size(), "finding") + " in " + folder);
    }
    for (const CategoryCount& count : count_categories(*suite)) {
      std::cout << printable(count.category) << ": " << counted(count.cases, "fixture") << " ok\n";
    }
    std::cout << "all: " << counted(suite->cases.size(), "fixture") << " ok\n";
    return exit_ok;
  }
};

}  // namespace

Command add_validate_fixtures_command(CLI::App& program) {
  auto command = std::make_shared<ValidateFixtures>();
  CLI::App* app =
      program.add_subcommand("validate-fixtures", "Check all fixtures and say everything that is wrong");
  command->settings.add_to(*app, {"fixtures_dir"});
  app->footer(
      "Exit code 0 if all is well, 2 if anything is wrong: one line each, FILE:LINE: what was expected.\n"
      "Examples:\n"
      "  sluice validate-fixtures\n"
      "  sluice validate-fixtures --fixtures my_suite");
  return {app, [command] { return command->run(); }};
}

}  // namespace sluice
