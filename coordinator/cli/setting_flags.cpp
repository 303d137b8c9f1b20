#include "coordinator/cli/setting_flags.hpp"

#include "common/settings/setting_definitions.hpp"
#include "common/text/stderr_line.hpp"
#include "common/text/text.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/gate/quoted.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

std::vector<Finding> problem_with_home(const Setting<std::string>& home) {
  std::error_code unknown;
  if (!std::filesystem::exists(home.value, unknown) || std::filesystem::is_directory(home.value, unknown))
    return {};
  return {{home.where.empty() ? "home" : home.where, 0,
           "the home " + home.value + " is a file, and has to be a folder; name another one"}};
}

}  // namespace

void SettingFlags::add_to(CLI::App& command, std::initializer_list<std::string_view> keys) {
  for (const SettingDefinition& definition : setting_definitions()) {
    const bool wanted = keys.size() == 0 || std::find(keys.begin(), keys.end(), definition.key) != keys.end();
    const auto other = renamed_.find(definition.key);
    const std::string_view name = other == renamed_.end() ? definition.flag : other->second;
    if (!wanted || name.empty()) continue;
    auto flag = std::make_unique<Flag>();
    flag->value.key = definition.key;
    flag->value.flag = name;
    flag->option = command.add_option(flag->value.flag, flag->value.value, std::string(definition.doc))
                       ->type_name(std::string(definition.value))
                       ->group("Settings");
    if (!definition.bare.empty()) {
      flag->bare = definition.bare;
      flag->option->expected(0, 1);
    }
    CLI::Option* option = flag->option;
    flags_.push_back(std::move(flag));
    if (!definition.off_flag.empty() && other == renamed_.end()) {
      auto off = std::make_unique<Flag>();
      off->value = {std::string(definition.key), std::string(definition.off_flag),
                    std::string(definition.off)};
      const std::string doc =
          "The same as " + std::string(definition.flag) + " " + std::string(definition.off);
      off->option = command.add_flag(off->value.flag, doc)->excludes(option)->group("Settings");
      flags_.push_back(std::move(off));
    }
  }
  config_option_ = command.add_option("--config", config_, "Settings file instead of ./sluice.toml")
                       ->type_name("FILE")
                       ->group("Settings");
}

tl::expected<Settings, std::vector<Finding>> SettingFlags::load(Warnings warnings,
                                                                std::vector<SuiteSetting> suite,
                                                                ValidKeys valid_keys) const {
  std::vector<FlagValue> given;
  for (const auto& flag : flags_) {
    if (flag->option->count() == 0) continue;
    given.push_back(flag->value);
    FlagValue& one = given.back();
    if (one.value.empty() && !flag->bare.empty()) one.value = flag->bare;
    if (flag->bare == "true" && one.value != "true" && one.value != "false") {
      return tl::unexpected(std::vector<Finding>{
          {one.flag, 0,
           "it took \"" + excerpt(one.value, defaults::quoted_flag_bytes) +
               "\" for its value, which is true or false: write that in front of it, or say " + one.flag +
               "=true"}});
    }
  }
  auto read = inputs();
  if (!read) return tl::unexpected(std::move(read.error()));
  auto settings = load_settings(std::move(*read), std::move(given), std::move(suite), valid_keys);
  const auto is_of_home = [](const auto& flag) { return flag->value.key == "home"; };
  if (settings && std::ranges::any_of(flags_, is_of_home)) {
    if (auto findings = problem_with_home(settings->home); !findings.empty())
      return tl::unexpected(std::move(findings));
  }
  if (settings && !inputs_) set_log_format(settings->log_format.value);
  if (settings && warnings == Warnings::shown) {
    for (const std::string& warning : settings->warnings) report_warning(warning);
  }
  return settings;
}

tl::expected<SettingsInputs, std::vector<Finding>> SettingFlags::inputs() const {
  const bool named = config_option_ != nullptr && config_option_->count() > 0;
  if (inputs_) return *inputs_;
  return settings_inputs(named ? std::optional(config_) : std::nullopt);
}

std::string SettingFlags::unread_file(const std::string& suite) const {
  const auto file = std::filesystem::path(suite).parent_path() / default_settings_file;
  std::error_code error;
  const bool is_here = std::filesystem::equivalent(file, default_settings_file, error);
  if (is_here || !config_.empty() || inputs_ || !std::filesystem::exists(file, error)) return "";
  return file.generic_string();
}

std::string SettingFlags::unread_file_remark(const std::string& suite) const {
  const std::string name = unread_file(suite);
  if (name.empty()) return "";
  return name + " lies beside the suite and is not read, since settings come from " + default_settings_file +
         " in the current folder: to use it, add --config " + shell_word(name);
}

std::string SettingFlags::file_beside(const std::string& suite, const std::string& provider) const {
  const std::string name = unread_file(suite);
  if (name.empty()) return "";
  const auto others = load_settings(name, {});
  // One that cannot be read as it stands is no way out.
  if (!others || others->find_provider(provider) == nullptr) return "";
  return "; " + name + " has \"" + provider + "\": --config " + shell_word(name);
}

void add_allow_path(CLI::App& command, std::vector<std::string>& folders) {
  command
      .add_option("--allow-path", folders,
                  "Allow the suite to name files in this folder too; may be repeated")
      ->allow_extra_args(false)
      ->type_name("DIR");
}

void add_filter(CLI::App& command, std::vector<std::string>& filters) {
  command
      .add_option("--filter", filters,
                  "Only tests whose id matches, or name, category or tag: tag=slow, 'id~^tls-', tag!=old; "
                  "may be repeated")
      ->allow_extra_args(false)
      ->type_name("[FIELD=]GLOB");
}

}  // namespace sluice
