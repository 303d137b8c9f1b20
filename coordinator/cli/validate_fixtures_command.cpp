#include "coordinator/cli/command.hpp"
#include "coordinator/cli/run_inputs.hpp"
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

/// What an expectation has that no answer in the ontology's words can match; empty if all is well.
std::string foreign_words(const ExpectedClaim& expected, const Ontology& ontology) {
  const auto known =
      ontology.resolve({expected.subject, expected.predicate, expected.value, 1.0, std::nullopt});
  const std::string claim = expected.subject + "/" + expected.predicate;
  if (!known.matched_ontology) return claim + ", which the ontology does not have";
  if (known.fuzzy_matched)
    return claim + ", which the ontology writes " + known.concept_path + "/" + known.predicate;
  return {};
}

std::size_t warn_of_foreign_words(const Suite& suite, const Ontology& ontology) {
  std::size_t warnings = 0;
  for (const Case& one : suite.cases) {
    for (const auto* claims : {&one.must_contain, &one.must_not_contain}) {
      for (const ExpectedClaim& expected : *claims) {
        const std::string words = foreign_words(expected, ontology);
        if (words.empty()) continue;
        ++warnings;
        std::cout << printable(one.source + ": warning: " + one.id + " names " + words) << '\n';
      }
    }
  }
  return warnings;
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
    const auto ontology = load_ontology(*effective);
    if (!ontology) return report_error(ontology.error());
    const std::size_t warnings = warn_of_foreign_words(*suite, *ontology);
    for (const CategoryCount& count : count_categories(*suite)) {
      std::cout << printable(count.category) << ": " << counted(count.cases, "fixture") << " ok\n";
    }
    std::cout << "all: " << counted(suite->cases.size(), "fixture") << " ok";
    if (warnings > 0) std::cout << ", " << counted(warnings, "warning");
    std::cout << '\n';
    return exit_ok;
  }
};

}  // namespace

Command add_validate_fixtures_command(CLI::App& program) {
  auto command = std::make_shared<ValidateFixtures>();
  CLI::App* app =
      program.add_subcommand("validate-fixtures", "Check all fixtures and say everything that is wrong");
  command->settings.add_to(*app, {"fixtures_dir", "ontology_file"});
  app->footer(
      "Exit code 0 if all is well, 2 if anything is wrong: one line each, FILE:LINE: what was expected.\n"
      "A subject or predicate that the ontology does not have is a warning.\n"
      "Examples:\n"
      "  sluice validate-fixtures\n"
      "  sluice validate-fixtures --fixtures my_suite");
  return {app, [command] { return command->run(); }};
}

}  // namespace sluice
