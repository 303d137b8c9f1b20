#include "coordinator/session/run_commands.hpp"

#include "common/defaults.hpp"
#include "common/settings/settings.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/expectations/command_reader.hpp"
#include "coordinator/suite/suite_folder.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>

#include <unistd.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// As posix_spawnp looks for it; in `only` alone, if that is not empty.
bool is_in_path(const std::string& program, const fs::path& only = {}) {
  const char* const path = std::getenv("PATH");
  std::stringstream folders(path != nullptr ? path : "/bin:/usr/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code error;
    if (!only.empty() && !fs::equivalent(folder, only, error)) continue;
    const std::string file = (folder.empty() ? "." : folder) + "/" + program;
    if (::access(file.c_str(), X_OK) == 0) return true;
  }
  return false;
}

/// Where commands run.
std::string folder_of(const RunOptions& options) {
  const fs::path suite(options.suite_path);
  return suite.has_parent_path() ? suite.parent_path().string() : ".";
}

/// A program of a folder in PATH, which is another one on each machine however it is named.
bool is_of_machine(const std::vector<std::string>& arguments, std::size_t n) {
  const fs::path program(arguments[n]);
  return n == 0 && program.is_absolute() && is_in_path(program.filename().string(), program.parent_path());
}

/// A program that runs the file whose name it is handed, however its version is written: `python3.11`.
bool is_interpreter(const std::string& program) {
  constexpr std::array<std::string_view, 16> names{"bash",   "bun",     "dash", "deno", "ksh",    "node",
                                                   "nodejs", "perl",    "php",  "pypy", "python", "ruby",
                                                   "sh",     "ts-node", "tsx",  "zsh"};
  const std::string name = fs::path(program).filename().string();
  return std::ranges::find(names, name.substr(0, name.find_last_not_of("0123456789.") + 1)) != names.end();
}

/// Of a file of this machine.
bool is_script_name(std::string_view argument) {
  constexpr std::array<std::string_view, 9> endings{".py", ".js", ".mjs", ".cjs", ".ts",
                                                    ".rb", ".sh", ".pl",  ".php"};
  const bool is_address = argument.find("://") != argument.npos;
  return !is_address && argument.find(' ') == argument.npos &&
         std::ranges::any_of(endings, [&](std::string_view ending) {
           return argument.size() > ending.size() && argument.ends_with(ending);
         });
}

/// The first of the arguments that looks like the script which the program runs: those behind it are the
/// script's. Code and modules (`-c`, `-e`, `-m`) are no files.
std::optional<std::string> script_of(const std::vector<std::string>& arguments) {
  if (!is_interpreter(arguments.front())) return std::nullopt;
  for (std::size_t n = 1; n < arguments.size(); ++n) {
    const std::string& argument = arguments[n];
    if (argument == "-c" || argument == "-e" || argument == "-m") return std::nullopt;
    if (!argument.starts_with('-') && is_script_name(argument)) return argument;
  }
  return std::nullopt;
}

/// What the commands of a run name.
class NamedFiles {
 public:
  explicit NamedFiles(const RunOptions& options)
      : folder_(folder_of(options)), files_(SuiteFolder::open(folder_, options.allowed_paths)) {}

  void add(const std::vector<std::string>& arguments) {
    for (std::size_t n = 0; n < arguments.size(); ++n) {
      const std::string& name = arguments[n];
      if (n == 0 && name.find('/') == std::string::npos && !is_in_path(name)) missing_.insert(name);
      if (!may_be_file(arguments, n) || seen_.contains(name) || is_of_machine(arguments, n)) continue;
      std::error_code error;
      if (fs::is_regular_file(folder_ / name, error))
        seen_[name] = files_ && (*files_)->read(name, defaults::max_fixture_bytes).has_value();
    }
    std::error_code error;
    const auto script = script_of(arguments);
    if (script && !fs::exists(folder_ / *script, error)) missing_scripts_.emplace(*script, arguments.front());
  }
  /// The programs that are not in PATH.
  const std::set<std::string>& missing() const { return missing_; }
  /// The scripts that are not there, and what is to run them.
  const std::map<std::string, std::string>& missing_scripts() const { return missing_scripts_; }
  /// The files that there are, and whether the suite's fingerprint has their content.
  const std::map<std::string, bool>& seen() const { return seen_; }

 private:
  fs::path folder_;
  Result<std::shared_ptr<const SuiteFolder>> files_;
  std::set<std::string> missing_;
  std::map<std::string, std::string> missing_scripts_;
  std::map<std::string, bool> seen_;
};

std::string quoted(const std::string& name) {
  return '"' + excerpt(one_line(name), defaults::quoted_bytes) + '"';
}

/// Which command a run may not run, and why.
std::optional<std::string> refused_command(const RunOptions& options, const Suite& suite) {
  if (options.allow_commands || suite.runs_command.empty()) return std::nullopt;
  const std::string runs = " has a check that runs a command, and ";
  if (!suite.brings_command.empty()) {
    return suite.brings_command + runs +
           "the file was not named on the command line, but by the suite that was";
  }
  if (!options.suite_is_named) {
    return suite.runs_command + runs +
           "the suite was not named on the command line, but by the settings or a past run";
  }
  return std::nullopt;
}

/// Whether there is nothing to say of any command that loading the suite has noted: then nothing is to say of
/// those that are selected, and no case is read for it.
bool are_all_in_order(const RunOptions& options, const Suite& suite) {
  if (suite.commands.size() > defaults::max_noted_commands) return false;
  NamedFiles named(options);
  for (const std::string& arguments : suite.commands) named.add(command_arguments(arguments));
  return named.missing().empty() && named.missing_scripts().empty() &&
         std::ranges::all_of(named.seen(), [](const auto& file) { return file.second; });
}

}  // namespace

void note_selected_commands(const std::string& suite_path, Suite& suite) {
  if (suite.runs_command.empty()) return;
  const fs::path folder = fs::path(suite_path).parent_path();
  std::string runs;
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    const auto test_case = suite.cases.read(i);
    if (!test_case) return;  // It may run one.
    if (!runs_commands(**test_case)) continue;
    const std::string place =
        (folder / (*test_case)->source).generic_string() + ":" + std::to_string((*test_case)->line);
    if (runs.empty()) runs = place;
    if (!(*test_case)->brings_command && suite.brings_commands) continue;
    suite.runs_command = runs;
    suite.brings_command = (*test_case)->brings_command ? place : "";
    return;
  }
  suite.runs_command = runs;
  suite.brings_command.clear();
}

Result<void> check_commands(const RunOptions& options, const Suite& suite) {
  const auto refused = refused_command(options, suite);
  if (!refused) return {};
  return fail(Reason::usage_invalid, *refused + ": read what it runs, then say --allow-commands");
}

std::optional<std::string> commands_note(const RunOptions& options, const Suite& suite) {
  const auto refused = refused_command(options, suite);
  if (!refused) return std::nullopt;
  return *refused + ": `sluice run` needs --allow-commands, once you have read what it runs";
}

std::vector<std::string> command_remarks(const RunOptions& options, const Suite& suite) {
  if (suite.runs_command.empty() || are_all_in_order(options, suite)) return {};
  NamedFiles named(options);
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    const auto test_case = suite.cases.read(i);
    if (!test_case) continue;  // The run says so.
    visit_commands(**test_case,
                   [&](const TextExpectation& what) { named.add(command_check(what).arguments); });
  }
  std::vector<std::string> remarks;
  for (const std::string& program : named.missing()) {
    remarks.push_back("the program " + quoted(program) +
                      ", which checks answers, is not in PATH: its tests will be errors (check_undecided); "
                      "install it, or leave them out with --filter");
  }
  for (const auto& [script, program] : named.missing_scripts()) {
    remarks.push_back(
        "the script " + quoted(script) + ", by which " + quoted(program) +
        " checks answers, is not there: it is looked for in the suite's folder, and its tests will be errors "
        "(check_undecided); correct its name, or leave them out with --filter");
  }
  for (const auto& [file, is_seen] : named.seen()) {
    if (is_seen) continue;
    remarks.push_back("the fingerprint does not see when " + quoted(file) +
                      " changes, which checks answers: move it into the suite's folder, or allow its folder "
                      "with --allow-path DIR");
  }
  return remarks;
}

std::shared_ptr<const CommandRules> command_rules(const RunOptions& options, const RunInputs& inputs) {
  if (inputs.suite.runs_command.empty()) return nullptr;
  auto rules = std::make_shared<CommandRules>();
  rules->folder = folder_of(options);
  rules->hidden_variables = secret_variables(options.settings);
  rules->redactor = inputs.redactor;
  return rules;
}

}  // namespace sluice
