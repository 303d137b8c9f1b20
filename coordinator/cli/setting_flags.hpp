#pragma once

#include "common/documents/finding.hpp"
#include "common/settings/load_settings.hpp"
#include "common/settings/settings.hpp"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sluice {

/// Whether settings without an effect are reported on stderr.
enum class Warnings : std::uint8_t { shown, left_out };

/// The flags of a command that set settings, made from the table of settings, and `--config`.
class SettingFlags {
 public:
  /// Adds the flags of the named settings, or of all that have one. The texts' storage is this object, which
  /// must live as long as the command line is parsed; it is not copied or moved.
  void add_to(CLI::App& command, std::initializer_list<std::string_view> keys = {});
  /// For a command that gives a setting's flag to something else, or has one for a setting that has none
  /// elsewhere: the setting's is called `flag`, and it has no flag that switches it off. Call before
  /// `add_to`.
  void rename(std::string_view key, std::string_view flag) { renamed_.emplace(key, flag); }
  SettingFlags() = default;
  SettingFlags(const SettingFlags&) = delete;
  SettingFlags& operator=(const SettingFlags&) = delete;

  /// The effective settings: what was given, with the environment, the suite's own and the file. Call after
  /// parsing. A command that loads them a second time, with a suite, leaves out the warnings then.
  tl::expected<Settings, std::vector<Finding>> load(Warnings warnings = Warnings::shown,
                                                    std::vector<SuiteSetting> suite = {},
                                                    ValidKeys valid_keys = ValidKeys::pointed_to) const;

  /// What `load` reads beside the flags and the suite.
  tl::expected<SettingsInputs, std::vector<Finding>> inputs() const;
  /// Has `load` take these in place of what --config and the process say. They are no settings of this
  /// process: how it logs stays as it is.
  void read_from(SettingsInputs inputs) { inputs_ = std::move(inputs); }

  /// The settings file beside the suite, where it is not read: it is not in the current folder, and --config
  /// names none; else empty.
  std::string unread_file(const std::string& suite) const;
  /// Says of such a file that it is not read, and how it would be; empty where there is none.
  std::string unread_file_remark(const std::string& suite) const;
  /// `; evals/sluice.toml has "mine": --config evals/sluice.toml` for a provider that the settings do not
  /// have, where the settings file beside the suite was not read and has it; else empty.
  std::string file_beside(const std::string& suite, const std::string& provider) const;

  /// The settings file that --config names, else the one that is read where it exists.
  std::string config_file() const { return config_.empty() ? default_settings_file : config_; }

 private:
  struct Flag {
    FlagValue value;
    std::string_view bare;  ///< What it means without a value.
    CLI::Option* option = nullptr;
  };
  std::vector<std::unique_ptr<Flag>> flags_;
  std::map<std::string_view, std::string_view> renamed_;  ///< Flags by their settings' keys.
  std::string config_;
  std::optional<SettingsInputs> inputs_;
  CLI::Option* config_option_ = nullptr;
};

/// --allow-path of a command that loads a suite, and no setting: neither a suite nor a file beside it may
/// open the way to other files.
void add_allow_path(CLI::App& command, std::vector<std::string>& folders);

/// --filter, as CaseFilter::parse takes it.
void add_filter(CLI::App& command, std::vector<std::string>& filters);

}  // namespace sluice
