#include "common/settings/load_settings.hpp"

#include "common/defaults.hpp"
#include "common/documents/table_reader.hpp"
#include "common/documents/toml_document.hpp"
#include "common/files.hpp"
#include "common/model/redaction.hpp"
#include "common/settings/provider_presets.hpp"
#include "common/settings/request_body.hpp"
#include "common/settings/setting_definitions.hpp"
#include "common/settings/setting_values.hpp"
#include "common/settings/variable_names.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace sluice {
namespace {

bool stands_in(const SettingDefinition& one, std::string_view section) {
  return one.in_file && one.section == section;
}

/// Where a key belongs that stands elsewhere; empty if it belongs nowhere.
std::string where_it_belongs(std::string_view key) {
  if (to_lower(key).ends_with("api_key"))
    return "keys stay in the environment, and \"api_key_env\" in [providers.NAME] names the variable";
  if (const std::string place = place_in_settings_file(key); !place.empty()) return "it belongs in " + place;
  const auto outside = std::ranges::find(setting_definitions(), key, &SettingDefinition::key);
  if (outside == setting_definitions().end()) return "";
  return "it is set by " + std::string(outside->flag) + " or " + variable_of(key);
}

/// What is wrong with the name of a [providers.NAME], which flags, arms and reports name; empty if nothing
/// is.
std::string problem_with_provider_name(std::string_view name) {
  constexpr std::size_t longest = 128;
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (name.empty() || name.size() > longest || !std::ranges::all_of(name, is_part))
    return "must have a name of letters, digits, '-', '_' and '.', at most " + std::to_string(longest) +
           " of them";
  if (!names_a_provider(name))
    return "has a name that means no provider where a judge is named: take another";
  return "";
}

std::string list_of_eval_keys() {
  std::string list;
  for (const SettingDefinition& one : setting_definitions()) {
    if (stands_in(one, eval_section)) list.append(list.empty() ? "valid here: " : ", ").append(one.key);
  }
  return list;
}

class SettingsMerger {
 public:
  explicit SettingsMerger(const SettingSources& sources) : sources_(sources) {}

  tl::expected<Settings, std::vector<Finding>> merge() {
    settings_.home.value = "~/.sluice";
    for (const std::string_view name : preset_names()) settings_.providers.push_back(*preset_provider(name));
    if (sources_.file_text) apply_file();
    note_model_providers(Origin::file);
    apply_suite();
    note_model_providers(Origin::suite);
    apply_environment();
    note_model_providers(Origin::environment);
    apply_flags();
    note_model_providers(Origin::flag);
    infer_provider();
    if (!findings_.empty()) {
      sort_findings(findings_);
      return tl::unexpected(std::move(findings_));
    }
    expand_home_folders();
    for (std::string& warning : warn_of_misspelt_variables())
      settings_.warnings.push_back(std::move(warning));
    std::sort(settings_.providers.begin(), settings_.providers.end(),
              [](const ProviderConfig& a, const ProviderConfig& b) { return a.name < b.name; });
    return std::move(settings_);
  }

 private:
  /// A place that names a model and no provider means whatever provider is in effect.
  void note_model_providers(Origin layer) {
    const auto note = [layer](const Setting<std::string>& model, const Setting<std::string>& provider,
                              std::string& model_provider) {
      if (model.origin == layer) model_provider = provider.origin == layer ? provider.value : std::string();
    };
    note(settings_.model, settings_.provider, settings_.model_provider);
    note(settings_.judge_model, settings_.judge_provider, settings_.judge_model_provider);
  }

  /// Where nobody names a provider, a model whose name says who makes it goes there, and not to the default.
  void infer_provider() {
    if (settings_.provider.origin != Origin::default_value) return;
    const auto maker = provider_of_model(settings_.model.value);
    if (maker) settings_.provider = {std::string(*maker), settings_.model.origin, settings_.model.where};
  }

  Stamp in_file(std::uint32_t line) const {
    return {Origin::file, sources_.file_name + ":" + std::to_string(line)};
  }

  void apply_file() {
    const auto document = parse_toml(*sources_.file_text);
    if (!document) {
      findings_.push_back({sources_.file_name, document.error().line, document.error().message});
      return;
    }
    TableReader top(*document, "", sources_.file_name, findings_);
    if (const TomlNode* table = top.table(eval_section)) apply_eval(*table);
    if (const TomlNode* table = top.table(judge_section)) apply_plain_section(*table, judge_section);
    if (const TomlNode* table = top.table(redaction_section)) apply_redaction(*table);
    if (const TomlNode* table = top.table(ledger_section)) apply_plain_section(*table, ledger_section);
    if (const TomlNode* table = top.table("providers")) apply_providers(*table);
    top.finish(where_it_belongs);
  }

  template <class Owner>
  void apply_key(TableReader& reader, const Definition<Owner>& definition, Owner& owner) {
    const std::string_view key = definition.name_in_file();
    const TomlEntry* entry = reader.entry(key);
    if (entry == nullptr) return;
    const auto problem = definition.set(owner, &entry->value, in_file(entry->line));
    if (problem) reader.add_wrong(key, *problem);
  }

  void apply_section(TableReader& reader, std::string_view section) {
    for (const SettingDefinition& definition : setting_definitions()) {
      if (stands_in(definition, section)) apply_key(reader, definition, settings_);
    }
  }

  void apply_plain_section(const TomlNode& table, std::string_view section) {
    TableReader reader(table, "[" + std::string(section) + "]", sources_.file_name, findings_);
    apply_section(reader, section);
    reader.finish(where_it_belongs);
  }

  void apply_redaction(const TomlNode& table) {
    TableReader reader(table, "[redaction]", sources_.file_name, findings_);
    apply_section(reader, redaction_section);
    if (const TomlNode* patterns = reader.table("patterns")) apply_redaction_patterns(*patterns);
    reader.finish(where_it_belongs);
  }

  void apply_redaction_patterns(const TomlNode& table) {
    const auto is_name = [](std::string_view name) {
      return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
      });
    };
    for (const TomlEntry& entry : std::get<TomlNode::Table>(table.value)) {
      const std::string shown = json_string(excerpt(entry.key, 80)) + " in [redaction.patterns] ";
      const auto refuse = [&](const std::string& why) {
        findings_.push_back({sources_.file_name, entry.line, shown + why});
      };
      auto pattern = word()(&entry.value);
      if (!is_name(entry.key)) {
        refuse("must have a name of lower-case letters, digits, '-' and '_'");
      } else if (find_shipped_redaction(entry.key) != nullptr) {
        refuse(
            "is the name of a shipped pattern: switch that on with \"shipped\" in [redaction], or take "
            "another name");
      } else if (!pattern) {
        refuse(pattern.error());
      } else {
        const Stamp stamp = in_file(entry.line);
        settings_.redaction_patterns.emplace_back(
            entry.key, Setting<std::string>{std::move(*pattern), stamp.origin, stamp.where});
      }
    }
    std::ranges::sort(settings_.redaction_patterns, {}, [](const auto& one) { return one.first; });
  }

  void apply_eval(const TomlNode& table) {
    TableReader reader(table, "[eval]", sources_.file_name, findings_);
    apply_section(reader, eval_section);
    for (const RenamedKey& one : renamed_eval_keys()) {
      if (reader.refused_entry(one.old_key) != nullptr) reader.add_wrong(one.old_key, renamed_key(one));
    }
    reader.finish(where_it_belongs, sources_.valid_keys == ValidKeys::listed
                                        ? list_of_eval_keys()
                                        : "`sluice config` lists those that are valid");
  }

  void apply_providers(const TomlNode& table) {
    for (const TomlEntry& entry : std::get<TomlNode::Table>(table.value)) {
      const std::string name = "[providers." + excerpt(entry.key, 80) + "]";
      if (!std::holds_alternative<TomlNode::Table>(entry.value.value)) {
        findings_.push_back({sources_.file_name, entry.line,
                             name + " must be a table, not " + std::string(type_name(entry.value))});
        continue;
      }
      if (const std::string problem = problem_with_provider_name(entry.key); !problem.empty()) {
        findings_.push_back({sources_.file_name, entry.line, name + " " + problem});
        continue;
      }
      TableReader reader(entry.value, name, sources_.file_name, findings_);
      apply_provider(reader, entry.key);
    }
  }

  void apply_provider(TableReader& reader, const std::string& name) {
    // The kind decides about the other keys' defaults, so it comes first.
    ProviderConfig probe;
    std::optional<std::string> kind_name;
    if (provider_kind_from(name)) kind_name = name;
    const TomlEntry* kind = reader.entry("kind");
    if (kind != nullptr && !provider_definitions().front().set(probe, &kind->value, {})) {
      kind_name = to_string(probe.kind.value);
    }
    if (kind == nullptr && !kind_name) {
      const auto meant = nearest(name, preset_names());
      reader.add_missing({"kind"},
                         "missing \"kind\" in [providers." + excerpt(name, 80) + "]: expected " +
                             quoted_list(provider_kind_names(), "or") +
                             (meant ? "; did you mean [providers." + *meant + "]?" : std::string()));
    }
    ProviderConfig provider = *preset_provider(kind_name.value_or("openai"));
    provider.name = name;
    if (reader.refused_entry("api_key") != nullptr) {
      reader.add_wrong("api_key",
                       "is no setting: keys stay in the environment; name the variable with \"api_key_env\"");
    }
    // The kind is the first of them.
    for (const ProviderDefinition& definition : provider_definitions()) {
      if (belongs_to(definition.key, provider.kind.value)) apply_key(reader, definition, provider);
    }
    refuse_limits_without_effect(reader, provider.limits());
    check_keys_of_kind(reader, provider);
    reader.finish(where_it_belongs);
    std::erase_if(settings_.providers, [&](const ProviderConfig& other) { return other.name == name; });
    settings_.providers.push_back(std::move(provider));
  }

  static void check_keys_of_kind(TableReader& reader, const ProviderConfig& provider) {
    const ProviderKind kind = provider.kind.value;
    const std::string of_kind = " of the kind \"" + std::string(to_string(kind)) + "\"";
    for (const ProviderDefinition& definition : provider_definitions()) {
      if (!belongs_to(definition.key, kind) && reader.refused_entry(definition.key) != nullptr)
        reader.add_wrong(definition.key, "has no meaning for a provider" + of_kind);
    }
    const std::string endpoint =
        kind == ProviderKind::http ? std::string() : problem_with_endpoint(provider.base_url.value, kind);
    if (!endpoint.empty()) reader.add_wrong("base_url", endpoint);
    for (const std::string_view key : required_keys(kind)) {
      if (reader.entry(key) == nullptr)
        reader.add_missing({key}, "missing \"" + std::string(key) + "\" in a provider" + of_kind);
    }
  }

  static void refuse_limits_without_effect(TableReader& reader, const ProviderLimits& limits) {
    const bool has_rate = limits.requests_per_minute || limits.tokens_per_minute ||
                          limits.input_tokens_per_minute || limits.output_tokens_per_minute;
    if (limits.burst_seconds && !has_rate) {
      reader.add_wrong("burst_seconds",
                       "has no effect without a rate: name \"requests_per_minute\" or one of "
                       "\"tokens_per_minute\", \"input_tokens_per_minute\" and \"output_tokens_per_minute\"");
    }
    if (!limits.tokens_per_minute) return;
    const auto refuse_beyond_total = [&](std::string_view key, const std::optional<std::uint64_t>& part) {
      if (!part || *part < *limits.tokens_per_minute) return;
      reader.add_wrong(
          key, "has no effect: \"tokens_per_minute\", which counts the same tokens, allows no more (" +
                   std::to_string(*limits.tokens_per_minute) + "); leave one of them out");
    };
    refuse_beyond_total("input_tokens_per_minute", limits.input_tokens_per_minute);
    refuse_beyond_total("output_tokens_per_minute", limits.output_tokens_per_minute);
  }

  void apply_suite() {
    for (const SuiteSetting& given : sources_.suite) {
      const SettingDefinition* definition = find_definition(given.key);
      const std::uint32_t line = given.value.line;
      if (definition == nullptr) {
        findings_.push_back({given.file, line, given.shown + " is no setting"});
        continue;
      }
      const Stamp stamp{Origin::suite, given.file + ":" + std::to_string(line)};
      const auto problem = definition->set(settings_, &given.value, stamp);
      if (problem) findings_.push_back({given.file, line, given.shown + " " + *problem});
    }
  }

  static const SettingDefinition* find_definition(std::string_view key) {
    const auto found = std::ranges::find(setting_definitions(), key, &SettingDefinition::key);
    return found != setting_definitions().end() ? &*found : nullptr;
  }

  std::optional<std::string> variable(const std::string& name) const {
    if (!sources_.environment) return std::nullopt;
    auto value = sources_.environment(name);
    return value && !value->empty() ? std::move(value) : std::nullopt;
  }

  void apply_variable(const SettingDefinition& definition, const std::string& name) {
    const auto value = name.empty() ? std::nullopt : variable(name);
    if (!value) return;
    const auto problem = definition.set(settings_, std::string_view(*value), {Origin::environment, name});
    if (problem) findings_.push_back({name, 0, *problem});
  }

  void apply_environment() {
    for (const SettingDefinition& definition : setting_definitions()) {
      // The later one goes before the other.
      apply_variable(definition, std::string(definition.other_variable));
      apply_variable(definition, variable_of(definition.key));
    }
    for (const RenamedKey& one : renamed_eval_keys()) {
      const std::string name = variable_of(one.old_key);
      if (variable(name)) findings_.push_back({name, 0, renamed_variable(one)});
    }
  }

  std::vector<std::string> warn_of_misspelt_variables() const {
    std::vector<std::string> given;
    for (const std::string& name : sources_.variables) {
      if (variable(name)) given.push_back(name);
    }
    return misspelt_variables(given, settings_);
  }

  void apply_flags() {
    for (const FlagValue& given : sources_.flags) {
      const SettingDefinition* found = find_definition(given.key);
      if (found == nullptr) {
        findings_.push_back({given.flag, 0, "sets the unknown setting \"" + given.key + "\""});
        continue;
      }
      const auto problem = found->set(settings_, std::string_view(given.value), {Origin::flag, given.flag});
      if (problem) findings_.push_back({given.flag, 0, *problem});
    }
  }

  /// `~/` at the start of a path: the shell expands it in a flag, nobody does in a file or a default.
  void expand_home_folders() {
    const auto user_home = variable("HOME");
    for (Setting<std::string>* path :
         {&settings_.fixtures_dir, &settings_.prompt_file, &settings_.ontology_file, &settings_.prices_file,
          &settings_.database_path, &settings_.home}) {
      if (path->value != "~" && !path->value.starts_with("~/")) continue;
      // Without a home folder (some containers) files go into the current one.
      path->value = user_home.value_or(".") + path->value.substr(1);
    }
  }

  const SettingSources& sources_;
  Settings settings_;
  std::vector<Finding> findings_;
};

}  // namespace

tl::expected<Settings, std::vector<Finding>> merge_settings(const SettingSources& sources) {
  return SettingsMerger(sources).merge();
}

tl::expected<SettingsInputs, std::vector<Finding>> settings_inputs(
    const std::optional<std::string>& config_file) {
  SettingsInputs inputs;
  if (config_file) inputs.file_name = *config_file;
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
    const std::string_view variable = *one;
    const std::size_t end = variable.find('=');
    if (end != std::string_view::npos)
      inputs.variables.emplace(variable.substr(0, end), variable.substr(end + 1));
  }
  std::error_code error;
  const auto type = std::filesystem::status(inputs.file_name, error).type();
  if (config_file || type != std::filesystem::file_type::not_found) {
    auto text = read_file(inputs.file_name, defaults::max_settings_bytes);
    if (!text) {
      return tl::unexpected(
          std::vector<Finding>{{inputs.file_name, 0, "the settings file " + text.error().message}});
    }
    inputs.file_text = std::move(*text);
  }
  return inputs;
}

std::map<std::string, std::string> variables_of_settings(const SettingsInputs& inputs) {
  std::map<std::string, std::string> found;
  const auto take = [&](const std::string& name) {
    if (const auto one = inputs.variables.find(name); one != inputs.variables.end()) found.insert(*one);
  };
  for (const SettingDefinition& definition : setting_definitions()) {
    take(variable_of(definition.key));
    take(std::string(definition.other_variable));
  }
  return found;
}

tl::expected<Settings, std::vector<Finding>> load_settings(SettingsInputs inputs,
                                                           std::vector<FlagValue> flags,
                                                           std::vector<SuiteSetting> suite,
                                                           ValidKeys valid_keys) {
  SettingSources sources;
  for (const auto& [name, value] : inputs.variables) sources.variables.push_back(name);
  sources.file_name = std::move(inputs.file_name);
  sources.file_text = std::move(inputs.file_text);
  sources.environment =
      [variables = std::move(inputs.variables)](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(std::string(name));
    return found != variables.end() ? std::optional(found->second) : std::nullopt;
  };
  sources.flags = std::move(flags);
  sources.suite = std::move(suite);
  sources.valid_keys = valid_keys;
  return merge_settings(sources);
}

tl::expected<Settings, std::vector<Finding>> load_settings(const std::optional<std::string>& config_file,
                                                           std::vector<FlagValue> flags,
                                                           std::vector<SuiteSetting> suite,
                                                           ValidKeys valid_keys) {
  auto inputs = settings_inputs(config_file);
  if (!inputs) return tl::unexpected(std::move(inputs.error()));
  return load_settings(std::move(*inputs), std::move(flags), std::move(suite), valid_keys);
}

}  // namespace sluice
