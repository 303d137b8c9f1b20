#include "coordinator/session/run_commands.hpp"

#include "common/settings/settings.hpp"

#include <filesystem>
#include <string>

namespace sluice {

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
