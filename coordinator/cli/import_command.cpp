#include "common/text/printable.hpp"
#include "common/text/text.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/import/promptfoo_config.hpp"
#include "coordinator/import/suite_yaml.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/suite/suite_loader.hpp"

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr const char* import_examples =
    "Reads a configuration of promptfoo in YAML or JSON with the files that it names,\n"
    "the JSON output of an evaluation, or a table of tests in CSV, and writes a suite\n"
    "that loads. Each line of the output is something that the suite does not say,\n"
    "as FILE:LINE: what; the same stands at the suite's top. Servers that the suite\n"
    "needs go into a sluice.toml beside it, and are printed where there is one.\n"
    "Examples:\n"
    "  sluice import promptfooconfig.yaml\n"
    "  sluice import evals/promptfooconfig.json --output evals/suite.yaml --force\n"
    "  sluice run suite.yaml --mode mock      # try what was written, without a model\n"
    "Exit code 0: written, whatever was left out; 2: nothing was written, or what was\n"
    "written does not load.";

constexpr const char* settings_name = "sluice.toml";

/// What was left out, for whoever opens the suite later.
std::string header(const std::string& config, const std::vector<Finding>& notes) {
  std::string text = "# Imported from " + one_line(to_valid_utf8(config)) + ".\n";
  if (!notes.empty()) text += "# What this suite does not say, or says otherwise:\n";
  for (const Finding& note : notes) text += "#   " + one_line(to_valid_utf8(to_text(note))) + "\n";
  return text + "\n";
}

struct ImportCommand {
  std::string config;
  std::optional<std::string> output;
  std::vector<std::string> allowed_paths;
  bool force = false;

  int run() const {
    const auto imported = import_promptfoo(config, allowed_paths);
    if (!imported) return report_findings(imported.error());
    const fs::path target = output ? fs::path(*output) : fs::path(config).parent_path() / "suite.yaml";
    if (const auto free = check_target(target); !free) return report_error(free.error());
    const std::string text =
        header(fs::path(config).filename().string(), imported->notes) + suite_yaml(imported->suite);
    if (const auto written = write("suite", target, text); !written) return report_error(written.error());
    for (const Finding& note : imported->notes) std::cout << printable(to_text(note)) << '\n';
    if (const auto shown = write_settings(*imported, target.parent_path() / settings_name); !shown)
      return report_error(shown.error());
    const auto loaded = load_any_suite(target, allowed_paths);
    if (!loaded) {
      std::cout.flush();
      report_findings(loaded.error());
      return report_error(target.generic_string() + " is written, and does not load until that is mended");
    }
    std::cout << summary(*imported, target);
    return exit_ok;
  }

 private:
  static Result<void> write(std::string_view content, const fs::path& target, const std::string& text) {
    return write_whole_file(content, target.string(), [&](Sink& sink) -> Result<void> {
      sink.write(text);
      return {};
    });
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

  /// A settings file that somebody else wrote is left alone.
  static Result<void> write_settings(const ImportedSuite& imported, const fs::path& target) {
    if (imported.servers.empty()) return {};
    const std::string text = settings_of(imported.servers);
    std::error_code error;
    if (!fs::exists(target, error)) {
      std::cout << printable(target.generic_string()) << ": written, with the servers that the suite names\n";
      return write("settings", target, text);
    }
    std::cout << printable(target.generic_string()) << ": is left alone; it needs\n" << text;
    return {};
  }

  static std::string summary(const ImportedSuite& imported, const fs::path& target) {
    const std::string name = printable(target.generic_string());
    const std::string notes = imported.notes.empty() ? std::string("nothing was left out")
                                                     : wording::counted(imported.notes.size(), "note") +
                                                           " above on what was left out "
                                                           "or changed";
    return "wrote " + name + ": " + wording::counted(imported.tests, "test") + ", " +
           wording::counted(imported.prompts, "prompt") + ", " +
           wording::counted(imported.providers, "provider") + "; " + notes + "\ntry it: sluice run " + name +
           " --mode mock\n";
  }
};

}  // namespace

Command add_import_command(CLI::App& program) {
  auto command = std::make_shared<ImportCommand>();
  CLI::App* app = program.add_subcommand("import", "Make a suite of a promptfoo configuration");
  app->add_option("CONFIG", command->config, "promptfooconfig.yaml, or the same in JSON")
      ->required()
      ->type_name("");
  app->add_option("--output,-o", command->output, "Where the suite goes (default: suite.yaml beside CONFIG)")
      ->type_name("FILE");
  app->add_flag("--force", command->force, "Replace a file that is there");
  add_allow_path(*app, command->allowed_paths);
  app->footer(import_examples);
  return {app, [command] { return command->run(); }};
}

}  // namespace sluice
