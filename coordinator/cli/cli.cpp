#include "coordinator/cli/cli.hpp"

#include "common/manual/command_text.hpp"
#include "common/manual/help_formatter.hpp"
#include "common/memory.hpp"
#include "common/process/descriptors.hpp"
#include "common/text/text.hpp"
#include "coordinator/cli/command.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

constexpr const char* sluice_examples =
    "Examples:\n"
    "  sluice init                        # a first suite, from three questions\n"
    "  sluice import promptfooconfig.yaml\n"
    "  sluice run suite.yaml --mode live --provider openai --model gpt-4o-mini\n"
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

constexpr const char* how_to_name_a_run = ": `last` for the newest one, or an id of `sluice runs list`";

std::string see_help(const CLI::App& app) {
  return " (see `sluice " + words_before_flags(app) + "--help`)";
}

/// `run, compare and cache`.
std::string list_of_commands(const CLI::App& app, std::string_view conjunction) {
  const auto commands = app.get_subcommands(nullptr);
  std::string list;
  for (const CLI::App* command : commands) {
    const bool is_last = command == commands.back();
    if (!list.empty()) list += is_last ? " " + std::string(conjunction) + " " : std::string(", ");
    list += command->get_name();
  }
  return list;
}

/// A file or folder that can be run, or a name that only a suite has.
bool is_suite(std::string_view word) {
  std::error_code none;
  return word.ends_with(".yaml") || word.ends_with(".yml") || std::filesystem::exists(word, none);
}

/// `; did you mean "config"?`; by its first word alone for "validate". Where none is near: all that there
/// are.
std::string nearest_command(const CLI::App& app, std::string_view word) {
  if (app.get_parent() == nullptr && is_suite(word))
    return "; did you mean `sluice run " + std::string(word) + "`?";
  // As others call it.
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> elsewhere{{
      {"eval", "\"run\""},
      {"test", "\"run\""},
      {"help", "`sluice --help`, or `sluice COMMAND --help`"},
      {"version", "`sluice --version`"},
  }};
  const auto* same = std::ranges::find(elsewhere, word, &decltype(elsewhere)::value_type::first);
  if (app.get_parent() == nullptr && same != elsewhere.end())
    return "; did you mean " + std::string(same->second) + "?";
  for (const bool whole : {true, false}) {
    std::vector<std::string_view> names;
    for (const CLI::App* command : app.get_subcommands(nullptr)) {
      const std::string_view name = command->get_name();
      names.push_back(whole ? name : name.substr(0, name.find('-')));
    }
    const auto near = nearest(word, names);
    if (!near) continue;
    const auto at = std::ranges::find(names, std::string_view(*near)) - names.begin();
    return "; did you mean \"" + app.get_subcommands(nullptr)[static_cast<std::size_t>(at)]->get_name() +
           "\"?";
  }
  return "; there are " + list_of_commands(app, "and");
}

/// What is wrong if a word stands where a command should, and is none.
std::optional<std::string> unknown_command(const CLI::App& program) {
  for (const CLI::App* app = &program; !app->get_subcommands(nullptr).empty();) {
    const auto words = app->remaining();
    if (!words.empty() && !words.front().starts_with('-')) {
      return "unknown command \"" + words.front() + "\"" + nearest_command(*app, words.front()) +
             see_help(*app);
    }
    const auto given = app->get_subcommands();
    if (given.empty()) break;
    app = given.front();
  }
  return std::nullopt;
}

/// What a flag of another name is called, or does, here; empty if nobody is known to call it so.
std::string known_elsewhere(const CLI::App& app, std::string_view flag) {
  const bool is_run = app.get_name() == "run";
  const bool is_of_rerun = flag == "--failed" || flag == "--errors" || flag == "--flaky";
  if (is_run && is_of_rerun)
    return "; did you mean `sluice rerun " + std::string(flag) + "`, which runs those cases of a past run?";
  if (is_run && flag == "--dry-run") return "; did you mean `sluice plan`, which calls nobody?";
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> flags{{
      {"--concurrency", "--max-concurrent"},
      {"--max-concurrency", "--max-concurrent"},
      {"-j", "--max-concurrent"},
      {"-o", "--output"},
      {"--filter-pattern", "--filter"},
      {"--filter-first-n", "--max-fixtures"},
      {"--limit", "--max-fixtures"},
      {"--max-tests", "--max-fixtures"},
      {"--timeout", "--request-timeout"},
  }};
  const auto* same = std::ranges::find(flags, flag, &decltype(flags)::value_type::first);
  if (same == flags.end() || app.get_option_no_throw(std::string(same->second)) == nullptr) return "";
  return "; did you mean \"" + std::string(same->second) + "\"?";
}

/// `; did you mean "--mode"?` for a word that is none of the command's flags.
std::string nearest_flag(const CLI::App& app, std::string_view word) {
  const std::string_view flag = word.substr(0, word.find('='));
  if (auto known = known_elsewhere(app, flag); !known.empty()) return known;
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  return did_you_mean(flag, candidates);
}

std::string usage_message(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& app = innermost(program);
  const std::string help = see_help(app);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    if (auto message = unknown_command(program)) return *message;
    const auto unknown = program.remaining(true);
    const std::string word = unknown.empty() ? std::string("?") : unknown.front();
    const char* const kind = word.starts_with('-') ? "unknown flag" : "unexpected argument";
    const std::string flag = word.substr(0, word.find('='));
    if (flag.starts_with("--") && app.get_option_no_throw(flag) != nullptr)
      return "the flag " + flag + " stands behind the command: sluice " + words_before_flags(app) + flag +
             help;
    return std::string(kind) + " \"" + word + "\"" + nearest_flag(app, word) + help;
  }
  std::string message = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && message.starts_with('-')) {
    return message.substr(0, message.find(':')) + " takes one value, and is given once" + help;
  }
  if (message.ends_with('.')) message.pop_back();
  if (message == "RUN is required") message += how_to_name_a_run;
  return message + help;
}

/// A command by its name, and what adds it to the program.
struct NamedCommand {
  std::string_view name;
  std::function<Command(CLI::App&)> add;
};

std::vector<NamedCommand> all_commands(const PrepareWorkers& prepare_workers, const CacheTools& caches) {
  const auto with_caches = [&caches](Command (*add)(CLI::App&, const CacheTools&)) {
    return [add, &caches](CLI::App& program) { return add(program, caches); };
  };
  const auto with_workers = [&prepare_workers](Command (*add)(CLI::App&, const PrepareWorkers&)) {
    return [add, &prepare_workers](CLI::App& program) { return add(program, prepare_workers); };
  };
  const auto with_both = [&](Command (*add)(CLI::App&, const PrepareWorkers&, const CacheTools&)) {
    return
        [add, &prepare_workers, &caches](CLI::App& program) { return add(program, prepare_workers, caches); };
  };
  return {
      {"init", add_init_command},
      {"import", add_import_command},
      {"run", with_both(add_run_command)},
      {"rerun", with_both(add_rerun_command)},
      {"plan", with_caches(add_plan_command)},
      {"grade", with_workers(add_grade_command)},
      {"generate-corpus", with_both(add_generate_corpus_command)},
      {"review", add_review_command},
      {"list-fixtures", add_list_fixtures_command},
      {"validate-fixtures", add_validate_fixtures_command},
      {"config", add_config_command},
      {"baseline", add_baseline_command},
      {"update-baseline", add_update_baseline_command},
      {"runs", add_runs_command},
      {"report", with_caches(add_report_command)},
      {"view", with_caches(add_view_command)},
      {"show", with_caches(add_show_command)},
      {"diff", with_caches(add_diff_command)},
      {"observations", add_observations_command},
      {"compare", add_compare_command},
      {"calibrate-judge", with_workers(add_calibrate_judge_command)},
      {"calibrate-bands", add_calibrate_bands_command},
      {"quality", add_quality_command},
      {"limits", add_limits_command},
      {"keys", add_keys_command},
      {"cache", with_caches(add_cache_command)},
      {"doctor", with_caches(add_doctor_command)},
  };
}

/// Adds the command that the line begins with, none where it asks for the version alone, and else all of
/// them, for the help and for what is wrong: the flags of all take as long to add as a short command takes.
std::vector<Command> add_commands(CLI::App& program, int argc, char** argv,
                                  const PrepareWorkers& prepare_workers, const CacheTools& caches) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (argc == 2 && first == "--version") return {};
  const auto all = all_commands(prepare_workers, caches);
  const auto named = std::ranges::find(all, first, &NamedCommand::name);
  std::vector<Command> added;
  if (named != all.end()) {
    added.push_back(named->add(program));
  } else {
    for (const NamedCommand& command : all) added.push_back(command.add(program));
  }
  return added;
}

/// The program without its commands.
std::unique_ptr<CLI::App> make_program() {
  auto program = std::make_unique<CLI::App>(
      "Runs LLM evals over a suite or a folder of fixtures, on one machine or many, and gates on them",
      "sluice");
  program->formatter(std::make_shared<HelpFormatter>());
  program->set_version_flag("--version", "sluice " SLUICE_VERSION, "Show the version");
  program->set_help_flag("--help,-h", "Show this help");
  program->footer(sluice_examples);
  return program;
}

int run_program(int argc, char** argv, const PrepareWorkers& prepare_workers, const CacheTools& cache_tools) {
  const auto made = make_program();
  CLI::App& program = *made;
  // One command: a file or a run after it may bear a command's name.
  program.require_subcommand(0, 1);
  const auto commands = add_commands(program, argc, argv, prepare_workers, cache_tools);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& success) {
    if (const auto unknown = unknown_command(program)) return report_error(*unknown);
    // Help and version: printed by the library, which knows the command's own page.
    program.exit(success, std::cout, std::cerr);
    return exit_ok;
  } catch (const CLI::ParseError& error) {
    return report_error(usage_message(program, error));
  }
  const std::vector<std::string> words(argv, argv + argc);
  if (const std::string empty = problem_with_empty_values(innermost(program), words); !empty.empty())
    return report_error(empty + (empty == "RUN is empty" ? how_to_name_a_run : "") +
                        see_help(innermost(program)));
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return report_error("no command is given: " + list_of_commands(program, "or") + see_help(program));
}

}  // namespace

CommandText describe_cli() {
  const auto program = make_program();
  const PrepareWorkers no_workers;
  const CacheTools no_caches{};
  std::vector<Command> flags;  // They hold what the options refer to.
  for (const NamedCommand& command : all_commands(no_workers, no_caches))
    flags.push_back(command.add(*program));
  return command_text(*program);
}

int run_cli(int argc, char** argv, const PrepareWorkers& prepare_workers, const CacheTools& cache_tools) {
  use_huge_pages();
  set_log_format(early_log_format(argc, argv));
  // Each worker is a connection.
  if (const auto ready = prepare_descriptors(); !ready) return report_error(ready.error());
  try {
    const int code = run_program(argc, argv, prepare_workers, cache_tools);
    std::cout.flush();
    if (!std::cout && code == exit_ok) return report_error("the output cannot be written to stdout");
    return code;
  } catch (const std::exception& error) {
    return report_error(std::string("internal error: ") + error.what());
  }
}

}  // namespace sluice
