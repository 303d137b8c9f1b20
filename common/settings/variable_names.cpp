#include "common/settings/variable_names.hpp"

#include "common/settings/setting_definitions.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace sluice {
namespace {

constexpr std::string_view prefix = "SLUICE_";

/// All that the environment may name of settings, be it refused.
std::vector<std::string> known_variables() {
  std::vector<std::string> known;
  for (const SettingDefinition& one : setting_definitions()) known.push_back(variable_of(one.key));
  for (const RenamedKey& one : renamed_eval_keys()) known.push_back(variable_of(one.old_key));
  known.insert(known.end(), other_variables().begin(), other_variables().end());
  return known;
}

bool holds_a_key(const std::string& name, const Settings& settings) {
  const auto secrets = secret_variables(settings);
  return std::ranges::find(secrets, name) != secrets.end();
}

/// The variable of the setting whose flag would have this one, where flag and key differ: --max-cost sets
/// max_run_cost.
std::optional<std::string> variable_by_flag(std::string_view name) {
  for (const SettingDefinition& one : setting_definitions()) {
    std::string key(one.flag.substr(std::min<std::size_t>(2, one.flag.size())));
    std::ranges::replace(key, '-', '_');
    if (!key.empty() && variable_of(key) == name) return variable_of(one.key);
  }
  return std::nullopt;
}

/// The variable of the setting that would have this one by its place in the settings file: `provider` in
/// [judge] is SLUICE_JUDGE.
std::optional<std::string> variable_by_place(std::string_view name) {
  for (const SettingDefinition& one : setting_definitions()) {
    if (variable_of(std::string(one.section) + "_" + std::string(one.name_in_file())) == name)
      return variable_of(one.key);
  }
  return std::nullopt;
}

}  // namespace

std::span<const std::string_view> other_variables() {
  static constexpr std::array<std::string_view, 5> names{
      "SLUICE_FLEET_KEY", "SLUICE_IMAGE", "SLUICE_PERTURB_FILES", "SLUICE_PUSH_TOKEN", "SLUICE_SKIP_DEPS"};
  return names;
}

std::vector<std::string> misspelt_variables(std::span<const std::string> names, const Settings& settings) {
  const std::vector<std::string> known = known_variables();
  // What all of them begin with would make any two names near ones.
  std::vector<std::string> variables;
  for (const SettingDefinition& one : setting_definitions()) variables.push_back(variable_of(one.key));
  std::vector<std::string_view> candidates;
  for (const std::string_view variable : variables) candidates.push_back(variable.substr(prefix.size()));

  std::vector<std::string> warnings;
  for (const std::string& name : names) {
    if (!name.starts_with(prefix) || std::ranges::find(known, name) != known.end()) continue;
    if (holds_a_key(name, settings)) continue;
    auto meant = variable_by_flag(name);
    if (!meant) meant = variable_by_place(name);
    if (!meant) {
      meant = nearest(std::string_view(name).substr(prefix.size()), candidates);
      if (meant) meant->insert(0, prefix);
    }
    if (meant) warnings.push_back(excerpt(name, 80) + " is no setting; did you mean " + *meant + "?");
  }
  std::ranges::sort(warnings);
  return warnings;
}

}  // namespace sluice
