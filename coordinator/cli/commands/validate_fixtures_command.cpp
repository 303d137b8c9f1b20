#include "common/settings/key_trust.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/display/display.hpp"
#include "coordinator/session/arm_options.hpp"
#include "coordinator/session/run_commands.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"
#include "coordinator/session/trial_design.hpp"
#include "coordinator/session/unnamed_models.hpp"
#include "coordinator/suite/fixtures/expectation_check.hpp"
#include "coordinator/suite/prompts/arms.hpp"
#include "coordinator/suite/suite_loader.hpp"
#include "coordinator/suite/suite_remarks.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

std::string counted(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

/// How many remarks of each kind were printed.
struct RemarkCounts {
  std::size_t warnings = 0;
  std::size_t findings = 0;
};

Result<RemarkCounts> print_remarks(const Suite& suite, const Ontology& ontology) {
  RemarkCounts counts;
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    const auto read = suite.cases.read(i);
    if (!read) return fail(read.error());
    const Case& one = **read;
    for (const ExpectationRemark& remark : check_expectations(one, ontology)) {
      const Finding line{one.source, one.line, std::string(to_string(remark.kind)) + ": " + remark.words};
      std::cout << printable(to_text(line)) << '\n';
      if (remark.kind == ExpectationRemark::Kind::warning) ++counts.warnings;
      if (remark.kind == ExpectationRemark::Kind::finding) ++counts.findings;
    }
  }
  return counts;
}

struct ValidateFixtures {
  SettingFlags settings;
  std::string named;
  std::vector<std::string> allowed_paths;

  int run() const {
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    if (!named.empty() && effective->fixtures_dir.origin == Origin::flag) {
      return report_error("the suite is named twice: leave out --fixtures or \"" + named + "\"");
    }
    const std::string& path = named.empty() ? effective->fixtures_dir.value : named;
    const auto loaded = load_any_suite(path, allowed_paths);
    if (!loaded) return print_findings(loaded.error(), path);
    const auto with_suite = settings.load(Warnings::left_out, loaded->settings);
    if (!with_suite) return print_findings(with_suite.error(), path);
    const Suite& suite = loaded->suite;
    const auto refused = findings_of_settings(*with_suite, suite, path);
    if (!refused.empty()) return print_findings(refused, path);
    const auto ontology = load_ontology(*effective);
    if (!ontology) return report_findings(ontology.error());
    auto remarks = print_remarks(suite, *ontology);
    if (!remarks) return report_error(remarks.error());
    for (const std::string& warning : warnings_of(*with_suite, suite, path)) {
      std::cout << printable(to_text({path, 0, "warning: " + warning})) << '\n';
      ++remarks->warnings;
    }
    if (const auto note = commands_note(run_of(path), suite))
      std::cout << printable(to_text({path, 0, "note: " + *note})) << '\n';
    if (remarks->findings > 0) {
      std::cout.flush();
      return report_error(counted(remarks->findings, "finding") + " in " + path);
    }
    std::error_code error;
    const bool suite_is_folder = std::filesystem::is_directory(path, error);
    const std::string_view noun = suite_is_folder ? "fixture" : "test";
    for (const CategoryCount& count : count_categories(suite)) {
      std::cout << printable(count.category) << ": " << counted(count.cases, noun) << " ok\n";
    }
    std::cout << "all: " << counted(suite.cases.size(), noun) << " ok";
    if (!suite.prompts.empty()) std::cout << ", " << counted(suite.prompts.size(), "prompt");
    const std::size_t arms = arms_of(suite.prompts, suite.arms).size();
    if (arms > 0) std::cout << ", " << counted(arms, "arm");
    if (suite.examples) {
      std::cout << ", " << counted(suite.examples->solved.size(), "solved example") << " (plugin "
                << printable(suite.examples->plugin.name) << ")";
    }
    if (remarks->warnings > 0) std::cout << ", " << counted(remarks->warnings, "warning");
    std::cout << '\n';
    return exit_ok;
  }

  /// What a run refuses of what the suite names itself, or its tests need.
  std::vector<Finding> findings_of_settings(const Settings& with_suite, const Suite& suite,
                                            const std::string& path) const {
    std::vector<Finding> findings;
    for (UnknownProvider& unknown : unknown_providers(with_suite, suite.arms)) {
      findings.push_back(std::move(unknown.finding));
      Finding& finding = findings.back();
      finding.message =
          without_place(std::move(finding.message), finding.file) + settings.file_beside(path, unknown.name);
    }
    for (Finding& finding : refused_arms(with_suite, suite.prompts, suite.arms)) {
      if (finding.file.empty()) finding.file = path;
      findings.push_back(std::move(finding));
    }
    const auto add = [&](const Setting<std::string>& provider, const Result<void>& checked) {
      if (!checked)
        findings.push_back({provider.where, 0,
                            without_place(checked.error().message, provider.where) +
                                settings.file_beside(path, provider.value)});
    };
    const auto is_embedded = [](MetricId id) { return id == MetricId::semantic_similarity_to; };
    const bool embeds = suite.examples || std::ranges::any_of(suite.metrics, is_embedded);
    const Setting<std::string>& embedder = with_suite.embedding_provider;
    if (embeds || embedder.origin == Origin::suite) add(embedder, check_embedding_provider(with_suite));
    const bool is_judged = with_suite.judge.value != to_string(Judge::fake) &&
                           std::ranges::any_of(suite.metrics, is_judge_metric);
    const Setting<std::string>& judge = with_suite.judge_provider;
    if (is_judged || judge.origin == Origin::suite) add(judge, check_judge_provider(with_suite));
    if (const auto checked = check_perturbations(with_suite); !checked)
      findings.push_back(finding_of_perturbations(with_suite.perturb.where, checked.error().message));
    return findings;
  }

  /// Its message may begin with the place.
  static Finding finding_of_perturbations(const std::string& where, std::string message) {
    if (message.starts_with(where + ": ")) message.erase(0, where.size() + 2);
    return {where, 0, std::move(message)};
  }

  /// Of a run of the suite what decides about its commands.
  RunOptions run_of(const std::string& path) const {
    RunOptions run;
    run.suite_path = path;
    run.allowed_paths = allowed_paths;
    run.suite_is_named = !named.empty();
    return run;
  }

  /// What a run says, or comes to, and is no error of the suite alone.
  std::vector<std::string> warnings_of(Settings with_suite, const Suite& suite,
                                       const std::string& path) const {
    std::vector<std::string> warnings;
    for (const auto& unnamed : {unnamed_judge(with_suite, suite), unnamed_embedder(with_suite, suite)}) {
      if (unnamed) warnings.push_back(*unnamed);
    }
    // A base URL without a provider is that of the one that all arms ask.
    if (fit_to_arms(with_suite, suite.arms)) {
      if (const auto withheld = withheld_of_suite(with_suite)) warnings.push_back(withheld->message);
    }
    for (const auto& remarks : {suite_remarks(suite), command_remarks(run_of(path), suite)}) {
      std::ranges::copy(remarks, std::back_inserter(warnings));
    }
    if (auto remark = settings.unread_file_remark(path); !remark.empty())
      warnings.push_back(std::move(remark));
    return warnings;
  }

  /// They are what this command is for, so they are its output and not its diagnostics.
  static int print_findings(const std::vector<Finding>& findings, const std::string& path) {
    for (const Finding& finding : shown_findings(findings)) std::cout << printable(to_text(finding)) << '\n';
    std::cout.flush();
    return report_error(counted(findings.size(), "finding") + " in " + path);
  }
};

}  // namespace

Command add_validate_fixtures_command(CLI::App& program) {
  auto command = std::make_shared<ValidateFixtures>();
  CLI::App* app =
      program.add_subcommand("validate-fixtures", "Check a suite or fixtures and report every error");
  app->add_option("SUITE", command->named, "A YAML suite or a folder of fixtures (default: --fixtures)")
      ->type_name("");
  add_allow_path(*app, command->allowed_paths);
  command->settings.add_to(*app, {"fixtures_dir", "ontology_file"});
  app->footer(
      "Exit code 0: no errors; 2: errors, one per line, as FILE:LINE: what was\n"
      "expected. A subject or predicate that the ontology lacks is a warning, and so is\n"
      "a value of another type. A note says how the ontology resolves an expectation in\n"
      "other words. A missing judge or embedder that tests need is a warning too. So is\n"
      "a key that a run withholds from a host that the suite alone names, a check's\n"
      "program that is not in PATH, a script that is not there, and what has no effect,\n"
      "or is probably a slip. A note names a command that `sluice run` refuses without\n"
      "--allow-commands.\n"
      "Examples:\n"
      "  sluice validate-fixtures\n"
      "  sluice validate-fixtures suite.yaml\n"
      "  sluice validate-fixtures --fixtures my_suite");
  return {app, [command] { return command->run(); }};
}

}  // namespace sluice
