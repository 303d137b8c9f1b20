#include "coordinator/suite/test_files/suite_settings.hpp"

#include "common/settings/setting_definitions.hpp"
#include "coordinator/suite/test_files/thresholding_reader.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

namespace sluice {

namespace {

/// A key under `settings` and the setting that it sets.
struct SettingKey {
  std::string_view key;
  std::string_view setting;
};
constexpr std::array setting_keys{
    SettingKey{"provider", "provider"},
    SettingKey{"base_url", "base_url"},
    SettingKey{"temperature", "temperature"},
    SettingKey{"max_output_tokens", "max_output_tokens"},
    SettingKey{"seed", "seed"},
    SettingKey{"params", "params"},
    SettingKey{"timeout_seconds", "request_timeout_seconds"},
    SettingKey{"repeat", "repeat"},
    SettingKey{"perturb", "perturb"},
    SettingKey{"min_stability", "min_stability"},
    SettingKey{"embedding_provider", "embedding_provider"},
    SettingKey{"embedding_model", "embedding_model"},
    SettingKey{"judge", "judge"},
    SettingKey{"judge_model", "judge_model"},
    SettingKey{"judge_samples", "judge_samples"},
    SettingKey{"judge_temperature", "judge_temperature"},
    SettingKey{"judge_max_tokens", "judge_max_tokens"},
    SettingKey{"judge_min_kappa", "judge_min_kappa"},
};

/// Adds the value of a key to the settings, if it is there.
void take_setting(TableReader& reader, std::string_view key, std::string_view setting, std::string shown,
                  const DocumentContext& context, ReadSettings& into) {
  const DocumentEntry* entry = reader.entry(key);
  if (entry == nullptr) return;
  DocumentNode value = entry->value;
  value.line = entry->line;
  into.values.push_back({std::string(setting), std::move(shown), context.file, std::move(value)});
}

/// Anything else than a number is a finding once the settings are checked.
std::optional<double> number_of(TableReader& reader, std::string_view key) {
  const DocumentEntry* entry = reader.entry(key);
  if (entry == nullptr) return std::nullopt;
  if (const auto* whole = std::get_if<std::int64_t>(&entry->value.value)) {
    return static_cast<double>(*whole);
  }
  const auto* real = std::get_if<double>(&entry->value.value);
  return real != nullptr ? std::optional(*real) : std::nullopt;
}

/// A number, or a mapping by category.
void read_min_pass_rate(TableReader& reader, const DocumentContext& context, ReadSettings& into) {
  const DocumentEntry* entry = reader.entry("min_pass_rate");
  if (entry == nullptr) return;
  if (!std::holds_alternative<DocumentNode::Table>(entry->value.value))
    return take_setting(reader, "min_pass_rate", "min_pass_rate", "\"min_pass_rate\" in settings", context,
                        into);
  TableReader rates = context.reader(entry->value, "settings.min_pass_rate");
  take_setting(rates, general_pass_rate_key, "min_pass_rate", "\"default\" in settings.min_pass_rate",
               context, into);
  into.pass_rates = read_category_pass_rates(entry->value, context);
  if (std::get<DocumentNode::Table>(entry->value.value).empty())
    reader.add_wrong("min_pass_rate", "must be a number, or a number for \"default\" or a category at least");
}

void read_settings(const DocumentNode& table, const DocumentContext& context, ReadSettings& into) {
  TableReader reader = context.reader(table, "settings");
  const DocumentEntry* params = reader.entry("params");
  const bool are_no_params =
      params != nullptr && !std::holds_alternative<DocumentNode::Table>(params->value.value);
  if (are_no_params) reader.add_wrong("params", parse_params_in(&params->value, context.notation).error());
  for (const SettingKey& one : setting_keys) {
    if (are_no_params && one.key == "params") continue;
    take_setting(reader, one.key, one.setting, "\"" + std::string(one.key) + "\" in settings", context, into);
  }
  read_min_pass_rate(reader, context, into);
  into.demands.min_stability = number_of(reader, "min_stability");
  into.demands.repeat = number_of(reader, "repeat");
  if (const DocumentNode* thresholding = reader.table("thresholding")) {
    into.thresholding = read_suite_thresholding(context.reader(*thresholding, "settings.thresholding"));
  }
  for (const RenamedKey& one : renamed_eval_keys()) {
    if (reader.refused_entry(one.old_key) != nullptr) reader.add_wrong(one.old_key, renamed_key(one));
  }
  for (const std::string_view key : {std::string_view("api_key"), std::string_view("api_key_env")}) {
    if (reader.refused_entry(key) == nullptr) continue;
    reader.add_wrong(key, "is no setting of a suite: keys stay in the environment");
  }
  reader.finish([](std::string_view key) {
    return key == "model" ? "it stands at the top level of the suite" : place_of_setting(key, false);
  });
}

}  // namespace

ReadSettings read_suite_settings(TableReader& suite, const DocumentContext& context) {
  ReadSettings read;
  take_setting(suite, "model", "model", "\"model\"", context, read);
  if (const DocumentNode* settings = suite.table("settings")) read_settings(*settings, context, read);
  return read;
}

std::string place_of_setting(std::string_view key, bool is_at_top) {
  const std::string there = is_at_top ? "it belongs in \"settings\"" : "";
  if (key == "min_pass_rate" || key == "thresholding") return there;
  if (key == "provider" && is_at_top) return there + ", or, as a list with models, is called \"providers\"";
  if (key == "timeout") return (is_at_top ? there + " as" : "it is called") + " \"timeout_seconds\"";
  if (key == "concurrency" || key == "max_concurrency")
    return "no suite has it: it is \"max_concurrent\" in the settings file's [eval]";
  for (const SettingKey& one : setting_keys) {
    if (one.key == key) return there;
    if (one.setting == key)
      return (is_at_top ? there + " as \"" : "it is called \"") + std::string(one.key) + '"';
  }
  const std::string in_file = place_in_settings_file(key);
  return in_file.empty() ? "" : "no suite has it: it belongs in the settings file's " + in_file;
}

}  // namespace sluice
