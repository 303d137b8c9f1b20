#include "coordinator/session/run_commands.hpp"

#include "common/defaults.hpp"
#include "common/settings/settings.hpp"
#include "common/text/text.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <unistd.h>

namespace sluice {
namespace {

/// As posix_spawnp looks for it.
bool is_in_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::stringstream folders(path != nullptr ? path : "/bin:/usr/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + program;
    if (::access(file.c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace

Result<void> check_commands(const RunOptions& options, const Suite& suite) {
  if (options.allow_commands || suite.runs_command.empty()) return {};
  const auto refuse = [](const std::string& place, const std::string& why) {
    return fail(Reason::usage_invalid, place + " has a check that runs a command, and " + why +
                                           ": read what it runs, then say --allow-commands");
  };
  if (!suite.brings_command.empty()) {
    return refuse(suite.brings_command,
                  "the file was not named on the command line, but by the suite that was");
  }
  if (!options.suite_is_named) {
    return refuse(suite.runs_command,
                  "the suite was not named on the command line, but by the settings or a "
                  "past run");
  }
  return {};
}

std::vector<std::string> missing_programs(const Suite& suite) {
  std::vector<std::string> missing;
  for (const std::string& program : suite.programs) {
    if (program.find('/') != std::string::npos || is_in_path(program)) continue;
    missing.push_back("the program \"" + excerpt(one_line(program), defaults::quoted_bytes) +
                      "\", which checks answers, is not in PATH: its tests will be errors "
                      "(check_undecided); install it, or leave them out with --filter");
  }
  return missing;
}

std::shared_ptr<const CommandRules> command_rules(const RunOptions& options, const RunInputs& inputs) {
  if (inputs.suite.runs_command.empty()) return nullptr;
  auto rules = std::make_shared<CommandRules>();
  const std::filesystem::path suite(options.suite_path);
  rules->folder = suite.has_parent_path() ? suite.parent_path().string() : ".";
  rules->hidden_variables = secret_variables(options.settings);
  rules->redactor = inputs.redactor;
  return rules;
}

}  // namespace sluice
