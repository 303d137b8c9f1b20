#include "coordinator/cli/command.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/display/display.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/suite/suite_loader.hpp"

#include <filesystem>
#include <iostream>
#include <memory>
#include <system_error>
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

Result<std::size_t> warn_of_foreign_words(const Suite& suite, const Ontology& ontology) {
  std::size_t warnings = 0;
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    const auto read = suite.cases.read(i);
    if (!read) return fail(read.error());
    const Case& one = **read;
    for (const auto* claims : {&one.must_contain, &one.must_not_contain}) {
      for (const ExpectedClaim& expected : *claims) {
        const std::string words = foreign_words(expected, ontology);
        if (words.empty()) continue;
        ++warnings;
        const Finding warning{one.source, one.line, "warning: " + one.id + " names " + words};
        std::cout << printable(to_text(warning)) << '\n';
      }
    }
  }
  return warnings;
}

struct ValidateFixtures {
  SettingFlags settings;
  std::string named;

  int run() const {
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    if (!named.empty() && effective->fixtures_dir.origin == Origin::flag) {
      return report_error("the suite is named twice: leave out --fixtures or \"" + named + "\"");
    }
    const std::string& path = named.empty() ? effective->fixtures_dir.value : named;
    const auto loaded = load_any_suite(path);
    if (!loaded) return print_findings(loaded.error(), path);
    const auto with_suite = settings.load(Warnings::left_out, loaded->settings);
    if (!with_suite) return print_findings(with_suite.error(), path);
    const Suite& suite = loaded->suite;
    const auto ontology = load_ontology(*effective);
    if (!ontology) return report_findings(ontology.error());
    const auto warnings = warn_of_foreign_words(suite, *ontology);
    if (!warnings) return report_error(warnings.error());
    std::error_code error;
    const bool suite_is_folder = std::filesystem::is_directory(path, error);
    const std::string_view noun = suite_is_folder ? "fixture" : "test";
    for (const CategoryCount& count : count_categories(suite)) {
      std::cout << printable(count.category) << ": " << counted(count.cases, noun) << " ok\n";
    }
    std::cout << "all: " << counted(suite.cases.size(), noun) << " ok";
    if (*warnings > 0) std::cout << ", " << counted(*warnings, "warning");
    std::cout << '\n';
    return exit_ok;
  }

  /// They are what this command is asked for, so they are its output and not its diagnostics.
  static int print_findings(const std::vector<Finding>& findings, const std::string& path) {
    for (const Finding& finding : findings) std::cout << printable(to_text(finding)) << '\n';
    std::cout.flush();
    return report_error(counted(findings.size(), "finding") + " in " + path);
  }
};

}  // namespace

Command add_validate_fixtures_command(CLI::App& program) {
  auto command = std::make_shared<ValidateFixtures>();
  CLI::App* app =
      program.add_subcommand("validate-fixtures", "Check all fixtures and say everything that is wrong");
  app->add_option("suite", command->named, "A YAML suite or a folder of fixtures (default: --fixtures)")
      ->type_name("SUITE");
  command->settings.add_to(*app, {"fixtures_dir", "ontology_file"});
  app->footer(
      "Exit code 0 if all is well, 2 if anything is wrong: one line each, FILE:LINE: what was expected.\n"
      "A subject or predicate that the ontology does not have is a warning.\n"
      "Examples:\n"
      "  sluice validate-fixtures\n"
      "  sluice validate-fixtures suite.yaml\n"
      "  sluice validate-fixtures --fixtures my_suite");
  return {app, [command] { return command->run(); }};
}

}  // namespace sluice
