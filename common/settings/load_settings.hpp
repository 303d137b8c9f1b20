#pragma once

#include "common/documents/document.hpp"
#include "common/documents/finding.hpp"
#include "common/settings/settings.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// A flag as given: `key` names the setting ("max_concurrent"), `flag` is what the user wrote
/// ("--max-concurrent").
struct FlagValue {
  std::string key;
  std::string flag;
  std::string value;
};

/// A setting that a suite file brings along (docs/suites.md).
struct SuiteSetting {
  std::string key;     ///< Of the setting ("request_timeout_seconds").
  std::string shown;   ///< As messages call it ("\"timeout_seconds\" in settings").
  std::string file;    ///< Where it stands.
  DocumentNode value;  ///< With its line.
};

/// The value of an environment variable; nothing if it is not set.
using Environment = std::function<std::optional<std::string>(std::string_view)>;

/// What an unknown key in [eval] is answered with where none is near: the command that lists the valid ones,
/// or, for that command itself, the list.
enum class ValidKeys : std::uint8_t { pointed_to, listed };

/// Everything that settings are made of.
struct SettingSources {
  std::string file_name;                 ///< For origins and findings.
  std::optional<std::string> file_text;  ///< Nothing: there is no file.
  std::vector<SuiteSetting> suite;
  Environment environment;
  std::vector<std::string> variables;  ///< The names of all variables, to find those that are misspelt.
  std::vector<FlagValue> flags;
  ValidKeys valid_keys = ValidKeys::pointed_to;
};

/// Merges the sources: flags go before the environment, that before the suite, that before the file, that
/// before the defaults. An empty variable counts as not set. Either the settings or everything that is wrong
/// with any source, whether overridden or not. Pure.
tl::expected<Settings, std::vector<Finding>> merge_settings(const SettingSources& sources);

/// In the current folder; need not exist.
inline constexpr const char* default_settings_file = "sluice.toml";

/// What settings are read from beside flags and suite.
struct SettingsInputs {
  std::string file_name = default_settings_file;
  std::optional<std::string> file_text;          ///< Nothing: there is no file.
  std::map<std::string, std::string> variables;  ///< Those of the environment, by name.
};
/// Of this process: `config_file`, or `sluice.toml` in the current folder if that exists. A file that was
/// named but cannot be read is a finding.
tl::expected<SettingsInputs, std::vector<Finding>> settings_inputs(
    const std::optional<std::string>& config_file);
/// The variables that set something, without whatever else the environment holds.
std::map<std::string, std::string> variables_of_settings(const SettingsInputs& inputs);

/// Merges the inputs with the flags and what the suite brings along.
tl::expected<Settings, std::vector<Finding>> load_settings(SettingsInputs inputs,
                                                           std::vector<FlagValue> flags,
                                                           std::vector<SuiteSetting> suite = {},
                                                           ValidKeys valid_keys = ValidKeys::pointed_to);
/// Reads `config_file`, or `sluice.toml` in the current folder if that exists, and merges it with the
/// process's environment, the flags and what the suite brings along. A file that was named but cannot be read
/// is a finding.
tl::expected<Settings, std::vector<Finding>> load_settings(const std::optional<std::string>& config_file,
                                                           std::vector<FlagValue> flags,
                                                           std::vector<SuiteSetting> suite = {},
                                                           ValidKeys valid_keys = ValidKeys::pointed_to);

}  // namespace sluice
