#include "common/defaults.hpp"
#include "common/documents/canonical_json.hpp"
#include "common/files.hpp"
#include "common/settings/load_settings.hpp"
#include "common/text/joined.hpp"
#include "common/text/printable.hpp"
#include "common/text/text.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/display/display.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/display/terminal.hpp"
#include "coordinator/import/import_source.hpp"
#include "coordinator/import/promptfoo_config.hpp"
#include "coordinator/import/suite_yaml.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/suite/suite_loader.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <tl/expected.hpp>
#include <unistd.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr const char* import_examples =
    "Reads a configuration of promptfoo in YAML or JSON with the files that it names,\n"
    "the JSON output of an evaluation, or a table of tests in CSV. Writes a suite.\n"
    "Each line of the output, FILE:LINE: what, names something that the suite lacks\n"
    "or expresses differently; the suite begins with the same lines. Servers that the\n"
    "suite needs go into a sluice.toml beside it; if that file exists, what it lacks\n"
    "is printed. Checks in JavaScript or Python become commands, and a program beside\n"
    "the suite runs their code (promptfoo_check). Without CONFIG: the\n"
    "promptfooconfig.yaml (.yml, .json) of this folder.\n"
    "A test that lost all its checks has the tag unchecked: `--filter tag!=unchecked`\n"
    "runs the others.\n"
    "Examples:\n"
    "  sluice import\n"
    "  sluice import promptfooconfig.yaml\n"
    "  sluice import evals/promptfooconfig.json --output evals/suite.yaml --force\n"
    "  sluice run suite.yaml --mode mock      # try what was written, without a model\n"
    "Exit code 0: written, even if something was left out; 1: so, with --strict;\n"
    "2: nothing was written, or the suite does not load, for example because\n"
    "sluice.toml lacks a server.";

constexpr const char* settings_name = "sluice.toml";

/// What promptfoo itself reads where no configuration is named.
constexpr std::array<const char*, 3> usual_names{"promptfooconfig.yaml", "promptfooconfig.yml",
                                                 "promptfooconfig.json"};

/// What it is, and what was left out, for whoever opens the suite later.
std::string header(const std::string& config, const ImportedSuite& imported) {
  const std::string description = one_line(to_valid_utf8(imported.description));
  std::string text = description.empty() ? "" : "# " + description + "\n";
  text += "# Imported from " + one_line(to_valid_utf8(config)) + ".\n";
  const std::vector<Finding>& notes = imported.notes;
  for (const CheckProgram& program : imported.programs)
    text += "# Code of it runs in " + wording::counted(program.checks, "check") + ": " + program.interpreter +
            " " + program.file + "\n";
  if (!notes.empty()) text += "# What this suite does not say, or says otherwise:\n";
  for (const Finding& note : notes) text += "#   " + one_line(to_valid_utf8(to_text(note))) + "\n";
  return text + "\n";
}

struct ImportSuiteCommand {
  std::string config;
  std::optional<std::string> output;
  std::vector<std::string> allowed_paths;
  bool force = false;
  bool strict = false;

  int run() {
    if (const auto found = find_config(); !found) return report_error(found.error());
    const fs::path target = output ? fs::path(*output) : fs::path(config).parent_path() / "suite.yaml";
    const fs::path folder = target.parent_path();
    const auto imported = import_promptfoo(config, allowed_paths, folder);
    if (!imported) return report_findings(imported.error());
    if (const auto free = check_target(target); !free) return report_error(free.error());
    if (const auto free = check_programs(*imported, folder); !free) return report_error(free.error());
    const std::string text =
        header(fs::path(config).filename().string(), *imported) + suite_yaml(imported->suite);
    if (const auto written = write_whole_file("suite", target.string(), text); !written)
      return report_error(written.error());
    for (const Finding& note : imported->notes) show(printable(to_text(note)));
    if (const auto written = write_programs(*imported, folder); !written)
      return report_error(written.error());
    const fs::path settings = folder / settings_name;
    const auto lacking = write_settings(*imported, settings);
    if (!lacking) return report_unloaded(target, lacking.error());
    const auto loaded = load_any_suite(target, allowed_paths);
    if (!loaded) return report_unloaded(target, loaded.error());
    if (!lacking->empty()) return report_lacking(*lacking, target, settings);
    show(summary(*imported, target));
    const std::string lost = losses(*imported);
    if (!lost.empty()) show("worst first: " + lost);
    // A line to be copied is not broken.
    std::cout << "try it: sluice run " + printable(target.generic_string()) + config_flag(*imported, target) +
                     " --mode mock\n";
    if (!strict || lost.empty()) return exit_ok;
    std::cout.flush();
    report_error(target.generic_string() +
                 " is written, and with --strict it must ask and judge as the configuration: " + lost);
    return exit_failed;
  }

 private:
  Result<void> find_config() {
    if (!config.empty()) return {};
    const auto is_there = [](const char* name) {
      std::error_code error;
      return fs::is_regular_file(name, error);
    };
    const auto found = std::ranges::find_if(usual_names, is_there);
    if (found == usual_names.end())
      return fail(Reason::usage_invalid,
                  "there is no promptfooconfig.yaml here: name the configuration, as in `sluice import "
                  "evals/promptfooconfig.yaml`");
    config = *found;
    return {};
  }

  /// On a terminal in lines of whole words.
  static void show(const std::string& text) {
    const auto columns = detect_terminal(STDOUT_FILENO).columns;
    std::cout << (columns ? paragraph(text, *columns) : text + "\n");
  }

  Result<void> check_target(const fs::path& target) const {
    std::error_code error;
    if (fs::equivalent(target, config, error))
      return fail(Reason::usage_invalid,
                  "the suite would take the place of " + config + " itself: name another file with --output");
    if (force || !fs::exists(target, error)) return check_output_path("suite", target.string());
    return fail(Reason::usage_invalid,
                target.generic_string() +
                    " is there already: name another file with --output, or replace it "
                    "with --force");
  }

  /// One that somebody changed is his.
  Result<void> check_programs(const ImportedSuite& imported, const fs::path& folder) const {
    for (const CheckProgram& program : imported.programs) {
      if (const auto free = check_program(folder / program.file, program.text); !free) return free;
    }
    for (const CodeFile& code : imported.code_files) {
      if (const auto free = check_program(folder / code.file, code.text); !free) return free;
    }
    return {};
  }

  Result<void> check_program(const fs::path& file, std::string_view needed) const {
    std::error_code error;
    if (force || !fs::exists(file, error)) return {};
    const auto text = read_file(file, defaults::max_suite_bytes);
    if (text && *text == needed) return {};
    return fail(Reason::usage_invalid,
                file.generic_string() +
                    " is there already, and is another program than the suite needs: name another folder "
                    "with --output, or replace it with --force");
  }

  /// Who imports a configuration is told that its code runs.
  static Result<void> write_programs(const ImportedSuite& imported, const fs::path& folder) {
    for (const CheckProgram& program : imported.programs) {
      const fs::path file = folder / program.file;
      const auto written = write_whole_file("program", file.string(), program.text);
      if (!written) return written;
      show(printable(file.generic_string()) + ": written; " + wording::counted(program.checks, "check") +
           (program.checks == 1 ? " runs" : " run") + " code of the configuration with it, by " +
           program.interpreter);
    }
    for (const CodeFile& code : imported.code_files) {
      const fs::path file = folder / code.file;
      if (const auto written = write_whole_file("code", file.string(), code.text); !written) return written;
      show(printable(file.generic_string()) + ": written, with code that many tests have in common");
    }
    return {};
  }

  using Servers = std::vector<ImportedServer>;
  using Findings = std::vector<Finding>;

  static int report_unloaded(const fs::path& suite, const Findings& findings) {
    std::cout.flush();
    report_findings(findings);
    return report_error(suite.generic_string() + " is written, and does not load until that is mended");
  }

  /// A settings file that somebody else wrote is left alone: the servers that it lacks.
  static tl::expected<Servers, Findings> write_settings(const ImportedSuite& imported,
                                                        const fs::path& target) {
    if (imported.servers.empty()) return Servers();
    std::error_code error;
    if (!fs::exists(target, error)) {
      std::cout << printable(target.generic_string()) << ": written, with the servers that the suite names\n";
      const auto written = write_whole_file("settings", target.string(), settings_of(imported.servers));
      if (!written) return tl::unexpected(Findings{{target.generic_string(), 0, written.error().message}});
      return Servers();
    }
    auto lacking = lacking_in(target, imported.servers);
    if (!lacking || !lacking->empty())
      std::cout << printable(target.generic_string()) << ": is left alone; it needs\n"
                << settings_of(lacking ? *lacking : imported.servers);
    return lacking;
  }

  static tl::expected<Servers, Findings> lacking_in(const fs::path& file, const Servers& servers) {
    const std::string name = file.generic_string();
    const auto text = read_file(file, defaults::max_suite_bytes);
    if (!text) return tl::unexpected(Findings{{name, 0, "the settings file " + text.error().message}});
    SettingSources sources;
    sources.file_name = name;
    sources.file_text = *text;
    sources.environment = [](std::string_view) { return std::nullopt; };
    const auto settings = merge_settings(sources);
    if (!settings) return tl::unexpected(settings.error());
    Servers lacking;
    std::ranges::copy_if(servers, std::back_inserter(lacking), [&](const ImportedServer& server) {
      return std::ranges::none_of(settings->providers,
                                  [&](const ProviderConfig& has) { return is_that(has, server); });
    });
    return lacking;
  }

  /// Under its name the file may have another server, which the suite would ask instead.
  static bool is_that(const ProviderConfig& has, const ImportedServer& server) {
    const bool is_there = has.name == server.name && has.base_url.value == server.base_url &&
                          to_string(has.kind.value) == server.kind;
    return is_there && std::ranges::all_of(server.more, [&](const DocumentEntry& entry) {
             // An earlier import sorted the keys.
             return entry.key != "body" || has.body.value == written_json(entry.value) ||
                    has.body.value == canonical_json(entry.value);
           });
  }

  static int report_lacking(const Servers& lacking, const fs::path& suite, const fs::path& settings) {
    std::cout.flush();
    std::vector<std::string> names;
    for (const ImportedServer& server : lacking) names.push_back("[providers." + server.name + "]");
    return report_error(suite.generic_string() + " is written, and is not what it should be until " +
                        settings.generic_string() + " has " + joined(names) + ": add the lines above to it");
  }

  static std::string summary(const ImportedSuite& imported, const fs::path& target) {
    const std::string name = printable(target.generic_string());
    const std::string notes = imported.notes.empty() ? std::string("nothing was left out")
                                                     : wording::counted(imported.notes.size(), "note") +
                                                           " above on what was left out "
                                                           "or changed";
    return "wrote " + name + ": " + wording::counted(imported.tests, "test") + ", " +
           wording::counted(imported.prompts, "prompt") + ", " +
           wording::counted(imported.providers, "provider") + "; " + notes;
  }

  /// What asks or judges less than the configuration, or otherwise; empty if that is nothing.
  static std::string losses(const ImportedSuite& imported) {
    constexpr std::array<std::pair<Loss, std::string_view>, 7> kinds{{{Loss::all_checks, "test"},
                                                                      {Loss::test, "test"},
                                                                      {Loss::variable, "variable"},
                                                                      {Loss::prompt, "prompt"},
                                                                      {Loss::provider, "provider"},
                                                                      {Loss::check, "check"},
                                                                      {Loss::change, "other line"}}};
    std::string text;
    for (const auto& [loss, noun] : kinds) {
      const std::size_t count = imported.losses[static_cast<std::size_t>(loss)];
      if (count == 0) continue;
      text += (text.empty() ? "" : ", ") + wording::counted(count, noun);
      if (loss == Loss::all_checks)
        text +=
            count == 1 ? " lost all its checks (tag unchecked)" : " lost all their checks (tag unchecked)";
      else if (loss == Loss::change)
        text += count == 1 ? " changes a request or a verdict" : " change requests or verdicts";
      else
        text += count == 1 ? " was left out" : " were left out";
    }
    return text;
  }

  /// Settings are read from the current folder, unless they are named.
  static std::string config_flag(const ImportedSuite& imported, const fs::path& suite) {
    std::error_code error;
    const fs::path settings = suite.parent_path() / settings_name;
    if (imported.servers.empty() || fs::equivalent(settings, settings_name, error)) return "";
    return " --config " + printable(settings.generic_string());
  }
};

}  // namespace

Command add_import_command(CLI::App& program) {
  auto command = std::make_shared<ImportSuiteCommand>();
  CLI::App* app = program.add_subcommand("import", "Convert a promptfoo configuration to a suite");
  app->add_option("CONFIG", command->config,
                  "promptfooconfig.yaml, or the same in JSON (default: the one that is here)")
      ->type_name("");
  app->add_option("--output,-o", command->output, "The file to write (default: suite.yaml beside CONFIG)")
      ->type_name("FILE");
  app->add_flag("--force", command->force, "Replace an existing file");
  app->add_flag("--strict", command->strict,
                "Exit code 1 if a request or a verdict is another than in promptfoo");
  add_allow_path(*app, command->allowed_paths);
  app->footer(import_examples);
  return {app, [command] { return command->run(); }};
}

}  // namespace sluice
