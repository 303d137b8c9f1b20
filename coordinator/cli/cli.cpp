#include "coordinator/cli/cli.hpp"

#include "common/text/text.hpp"
#include "coordinator/cli/command.hpp"

#include <array>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

constexpr const char* sluice_examples =
    "Examples:\n"
    "  sluice validate-fixtures\n"
    "  sluice run --mode live --provider openai --model gpt-4o-mini\n"
    "  sluice config\n"
    "`sluice COMMAND --help` shows a command's flags.";

/// The command that was given, of a command's own the last, or the program itself.
const CLI::App& innermost(const CLI::App& program) {
  const auto given = program.get_subcommands();
  return given.empty() ? program : innermost(*given.front());
}

/// `cache export `; empty for the program itself.
std::string words_before_flags(const CLI::App& app) {
  return app.get_parent() == nullptr ? "" : words_before_flags(*app.get_parent()) + app.get_name() + " ";
}

/// `; did you mean "--mode"?` for the first word that is no flag or command.
std::string suggestion(const CLI::App& program, const std::vector<std::string>& unknown) {
  if (unknown.empty()) return "";
  const CLI::App& app = innermost(program);
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string& first = unknown.front();
  return did_you_mean(std::string_view(first).substr(0, first.find('=')), candidates);
}

std::string usage_message(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& app = innermost(program);
  const std::string help = " (see `sluice " + words_before_flags(app) + "--help`)";
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const auto unknown = program.remaining(true);
    const std::string word = unknown.empty() ? std::string("?") : unknown.front();
    const bool is_command = &app == &program;  // Nothing else may stand there.
    const char* const kind = word.starts_with('-') ? "unknown flag"
                             : is_command          ? "unknown command"
                                                   : "unexpected argument";
    return std::string(kind) + " \"" + word + "\"" + suggestion(program, unknown) + help;
  }
  std::string message = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && message.starts_with('-')) {
    return message.substr(0, message.find(':')) + " takes one value, and is given once" + help;
  }
  if (message.ends_with('.')) message.pop_back();
  return message + help;
}

int run_program(int argc, char** argv, const StartWorkers& start_workers, const CacheTools& cache_tools) {
  CLI::App program(
      "Runs LLM evals over a suite or a folder of fixtures, on one machine or many, and gates on them",
      "sluice");
  program.set_version_flag("--version", "sluice " SLUICE_VERSION, "Show the version");
  program.set_help_flag("--help,-h", "Show this help");
  program.footer(sluice_examples);
  // One command: a file or a run after it may bear a command's name.
  program.require_subcommand(0, 1);
  const std::array<Command, 9> commands{add_run_command(program, start_workers),
                                        add_list_fixtures_command(program),
                                        add_validate_fixtures_command(program),
                                        add_config_command(program),
                                        add_baseline_command(program),
                                        add_update_baseline_command(program),
                                        add_runs_command(program),
                                        add_compare_command(program),
                                        add_cache_command(program, cache_tools)};
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& success) {
    // Help and version: printed by the library, which knows the command's own page.
    program.exit(success, std::cout, std::cerr);
    return exit_ok;
  } catch (const CLI::ParseError& error) {
    return report_error(usage_message(program, error));
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return report_error(
      "no command is given: run, list-fixtures, validate-fixtures, config, baseline, update-baseline, runs, "
      "compare or cache (see `sluice --help`)");
}

}  // namespace

int run_cli(int argc, char** argv, const StartWorkers& start_workers, const CacheTools& cache_tools) {
  try {
    const int code = run_program(argc, argv, start_workers, cache_tools);
    std::cout.flush();
    if (!std::cout && code == exit_ok) return report_error("the output cannot be written to stdout");
    return code;
  } catch (const std::exception& error) {
    return report_error(std::string("internal error: ") + error.what());
  }
}

}  // namespace sluice
