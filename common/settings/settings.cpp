#include "common/settings/settings.hpp"

#include "common/defaults.hpp"
#include "common/documents/table_reader.hpp"
#include "common/model/sampling.hpp"
#include "common/settings/request_body.hpp"
#include "common/settings/setting_definitions.hpp"
#include "common/settings/setting_values.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

/// What a mock run's model is called where nobody named one: a report has to name something.
constexpr std::string_view mock_model = "mock";

std::string origin_text(const Stamp& stamp) {
  if (stamp.origin == Origin::default_value) return "default";
  return stamp.origin == Origin::flag ? "flag " + stamp.where : stamp.where;
}

/// The setting of a model and how it is called: that of answers, or that of votes.
struct NamedModel {
  const Setting<std::string>& model;
  const std::string& meant_for;  ///< A provider; empty: any.
  const char* flag;
  const char* in_file;
  const char* whose;     ///< As "the provider" is called in its messages.
  const char* replayed;  ///< What a cached run lacks without it.
};

NamedModel model_of_answers(const Settings& settings) {
  return {settings.model, settings.model_provider,
          "--model",      "\"model\" in [eval]",
          "provider",     "and a cached run replays the answers of one"};
}

NamedModel model_of_votes(const Settings& settings) {
  return {settings.judge_model,
          settings.judge_model_provider,
          "--judge-model",
          "\"model\" in [judge]",
          "judge",
          "and a cached run replays the votes of one"};
}

/// The model as named for the provider, else the provider's own; empty if there is none.
Setting<std::string> model_for(const NamedModel& named, std::string_view name,
                               const ProviderConfig* provider) {
  const bool is_meant = named.meant_for.empty() || named.meant_for == name;
  if (!named.model.value.empty() && is_meant) return named.model;
  return provider != nullptr ? provider->model : Setting<std::string>();
}

/// The model that a run would use, with where it comes from; empty if there is none.
Setting<std::string> effective_model(const Settings& settings, const ProviderConfig* provider) {
  Setting<std::string> model = model_for(model_of_answers(settings), settings.provider.value, provider);
  if (model.value.empty() && settings.mode.value == Mode::mock) model.value = mock_model;
  return model;
}

/// The model that would judge, or whose votes would be looked up; empty if there is none.
Setting<std::string> effective_judge_model(const Settings& settings) {
  const std::string& name = settings.judge_provider.value;
  return model_for(model_of_votes(settings), name, settings.find_provider(name));
}

/// Who would embed: as named, else what resolve_embedding takes. The built-in embedder has no provider.
Setting<std::string> effective_embedding_provider(const Settings& settings) {
  Setting<std::string> provider = settings.embedding_provider;
  const bool built_in = settings.embedding_model.value == lexical_embedding_model;
  if (provider.value.empty() && !built_in) provider.value = defaults::embedding_provider;
  return provider;
}

/// The model that it would embed with; empty if there is none.
Setting<std::string> effective_embedding_model(const Settings& settings) {
  Setting<std::string> model = settings.embedding_model;
  const bool is_default = effective_embedding_provider(settings).value == defaults::embedding_provider;
  if (model.value.empty() && is_default) model.value = defaults::embedding_model;
  return model;
}

/// `; votes in caches are those of "openai" (sluice.toml:2)` beneath a "none"; else empty.
std::string votes_in_caches(const Settings& settings) {
  const auto& [name, origin, where] = settings.judge_provider;
  if (name.empty() || settings.judge.value != to_string(Judge::none)) return "";
  return "; votes in caches are those of " + json_string(name) + " (" + origin_text({origin, where}) + ")";
}

/// What a run makes of the settings that are empty by default, and yet have one.
std::optional<Setting<std::string>> effective_text(const Settings& settings, std::string_view key) {
  if (key == "model") return effective_model(settings, settings.find_provider(settings.provider.value));
  if (key == "embedding_provider") return effective_embedding_provider(settings);
  if (key == "embedding_model") return effective_embedding_model(settings);
  if (key == "judge_model") return effective_judge_model(settings);
  if (key == "database_path") {
    Setting<std::string> path = settings.database_path;
    path.value = observations_file(settings);
    return path;
  }
  return std::nullopt;
}

struct Target {
  std::string provider;
  std::string model;
};

/// The halves of `openai:gpt-5`, as a suite names its targets; nothing if it begins with no provider's name.
std::optional<Target> target_in(const Settings& settings, const std::string& name) {
  const auto colon = name.find(':');
  if (colon == std::string::npos || settings.find_provider(name.substr(0, colon)) == nullptr)
    return std::nullopt;
  return Target{name.substr(0, colon), name.substr(colon + 1)};
}

/// The provider as configured, or why there is none. `words` may stand in its place.
Result<const ProviderConfig*> known_provider(const Settings& settings, const std::string& name,
                                             const Stamp& named_by, std::vector<std::string> words = {}) {
  if (const ProviderConfig* config = settings.find_provider(name)) return config;
  std::vector<std::string> names = std::move(words);
  for (const ProviderConfig& provider : settings.providers) names.push_back(provider.name);
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const auto target = target_in(settings, name);
  const std::string advice = target ? "; a model is named by itself here: the provider is \"" +
                                          target->provider + "\", the model \"" + target->model + "\""
                                    : did_you_mean(name, candidates);
  return fail(Reason::settings_invalid, "there is no provider \"" + name + "\" (" + origin_text(named_by) +
                                            "); there are " + quoted_list(names) +
                                            ", and each [providers.NAME] of the settings file" + advice);
}

Result<const ProviderConfig*> chosen_provider(const Settings& settings) {
  const auto& [name, origin, where] = settings.provider;
  return known_provider(settings, name, {origin, where});
}

Result<const ProviderConfig*> embedding_provider(const Settings& settings) {
  const auto& [name, origin, where] = settings.embedding_provider;
  return known_provider(settings, name.empty() ? std::string(defaults::embedding_provider) : name,
                        {origin, where});
}

Result<const ProviderConfig*> judges_provider(const Settings& settings) {
  const auto& [name, origin, where] = settings.judge_provider;
  return known_provider(settings, name, {origin, where},
                        {std::string(to_string(Judge::none)), std::string(to_string(Judge::fake))});
}

Judge judge_of(const Settings& settings) {
  const std::string& named = settings.judge.value;
  if (settings.mode.value == Mode::mock || named == to_string(Judge::fake)) return Judge::fake;
  return named == to_string(Judge::none) ? Judge::none : Judge::model;
}

/// `, such as "a" or "b"`; empty where the provider's server may have quite other models.
std::string such_as(const Settings& settings, const ProviderConfig& provider, const ExampleModels& examples) {
  const bool is_standard =
      settings.base_url.value.empty() && provider.base_url.origin == Origin::default_value;
  if (!is_standard || !examples) return "";
  const auto names = examples(provider.kind.value);
  return names.empty() ? "" : ", such as " + quoted_list(names, "or");
}

tl::unexpected<Error> no_model(const Settings& settings, const NamedModel& named,
                               const ProviderConfig& provider, const ExampleModels& examples) {
  const auto& [model, origin, where] = named.model;
  const std::string flag = named.flag;
  const std::string of_provider = "\"model\" in [providers." + provider.name + "] of the settings file";
  const std::string example = such_as(settings, provider, examples);
  if (!model.empty()) {
    return fail(Reason::settings_invalid, "the model \"" + model + "\" (" + origin_text({origin, where}) +
                                              ") is meant for the provider \"" + named.meant_for +
                                              "\": name one for \"" + provider.name + "\" with " + flag +
                                              example + ", or as " + of_provider);
  }
  const bool replays = settings.mode.value == Mode::cached;
  const bool is_default =
      settings.provider.origin == Origin::default_value && &model == &settings.model.value;
  const std::string others =
      is_default ? "; \"" + provider.name + "\" is the default, and --provider names another" : "";
  return fail(Reason::settings_invalid,
              "no model is named for the " + std::string(named.whose) + " \"" + provider.name + "\"" +
                  (replays ? ", " + std::string(named.replayed) : std::string()) + ": name it with " + flag +
                  example + ", or as " + named.in_file + ", or " + of_provider + others);
}

/// Where nobody names a provider, a model that is written as targets are: `openai:gpt-5-mini`. At a named one
/// it may be called so: `mistral:7b`.
Result<void> check_names_no_provider(const Settings& settings, const std::string& model) {
  const auto target = target_in(settings, model);
  if (settings.provider.origin != Origin::default_value || !target) return {};
  return fail(Reason::settings_invalid,
              "the model \"" + model + "\" begins with a provider's name: --provider " + target->provider +
                  " --model " + target->model + " name both, and so do \"settings: {provider: " +
                  target->provider + "}\" and \"model: " + target->model + "\" in a suite");
}

}  // namespace

const ProviderConfig* Settings::find_provider(std::string_view name) const {
  const auto found = std::find_if(providers.begin(), providers.end(),
                                  [name](const ProviderConfig& candidate) { return candidate.name == name; });
  return found != providers.end() ? &*found : nullptr;
}

std::string_view mode_name(const Settings& settings) {
  return settings.robust ? std::string_view("robust") : to_string(settings.mode.value);
}

Result<std::vector<std::string>> perturbations_wanted(const Settings& settings) {
  const auto& [names, origin, where] = settings.perturb;
  if (names == std::vector<std::string>{"none"}) {
    if (!settings.robust) return std::vector<std::string>();
    return fail(Reason::settings_invalid,
                "the mode \"robust\" (" + origin_text({settings.mode.origin, settings.mode.where}) +
                    ") is live with perturbations, and \"perturb\" (" + origin_text({origin, where}) +
                    ") wants none: use --mode live, or name perturbations with --perturb");
  }
  if (names.empty() && settings.robust) return std::vector<std::string>{"all"};
  return names;
}

ProviderSettings provider_settings(const Settings& settings, const ProviderConfig& config) {
  const bool is_runs_own = config.name == settings.provider.value;
  const bool is_exec = config.kind.value == ProviderKind::exec;
  ProviderSettings provider;
  provider.name = config.name;
  provider.kind = config.kind.value;
  provider.base_url =
      is_runs_own && !settings.base_url.value.empty() ? settings.base_url.value : config.base_url.value;
  if (is_exec) provider.base_url = "exec:" + config.name;
  provider.api_key_env = config.api_key_env.value;
  provider.max_tokens_field = config.max_tokens_field.value;
  provider.headers = config.headers.value;
  provider.query = config.query.value;
  const std::string& named = config.cache_identity.value;
  if (is_exec) {
    provider.cache_identity =
        named.empty() ? identity_of_command(config.command.value) + field_identity(provider) : named;
    return provider;
  }
  provider.cache_identity = named.empty() ? default_cache_identity(provider) : named;
  if (provider.kind == ProviderKind::http)
    provider.cache_identity += " format:" + identity_of_format(config.body.value, config.answer.value);
  return provider;
}

ProviderLimits ProviderConfig::limits() const {
  ProviderLimits limits;
  limits.requests_per_minute = requests_per_minute.value;
  limits.tokens_per_minute = tokens_per_minute.value;
  limits.input_tokens_per_minute = input_tokens_per_minute.value;
  limits.output_tokens_per_minute = output_tokens_per_minute.value;
  limits.max_in_flight = max_in_flight.value;
  limits.burst_seconds = burst_seconds.value;
  return limits;
}

ProviderLimits limits_of(const Settings& settings, std::string_view provider) {
  const ProviderConfig* config = settings.find_provider(provider);
  ProviderLimits limits = config != nullptr ? config->limits() : ProviderLimits();
  if (settings.max_in_flight.value && provider == settings.provider.value) {
    limits.max_in_flight = settings.max_in_flight.value;
  }
  return limits;
}

Result<void> check_provider(const Settings& settings) {
  if (const auto chosen = chosen_provider(settings); !chosen) return fail(chosen.error());
  return {};
}

Result<void> check_model(const Settings& settings) {
  const ProviderConfig* provider = settings.find_provider(settings.provider.value);
  return check_names_no_provider(settings, effective_model(settings, provider).value);
}

Result<void> check_embedding_provider(const Settings& settings) {
  if (settings.embedding_model.value == lexical_embedding_model) return {};
  if (const auto embeds = embedding_provider(settings); !embeds) return fail(embeds.error());
  return {};
}

Result<void> check_judge_provider(const Settings& settings) {
  if (settings.judge_provider.value.empty()) return {};
  if (const auto judge = judges_provider(settings); !judge) return fail(judge.error());
  return {};
}

bool names_model(const Settings& settings) {
  const auto config = chosen_provider(settings);
  return config && !effective_model(settings, *config).value.empty();
}

Result<ResolvedProvider> resolve_provider(const Settings& settings, const ExampleModels& examples) {
  const auto config = chosen_provider(settings);
  if (!config) return fail(config.error());
  if ((*config)->kind.value == ProviderKind::exec && !settings.base_url.value.empty()) {
    return fail(Reason::settings_invalid,
                "the base URL (" + origin_text({settings.base_url.origin, settings.base_url.where}) +
                    ") has no effect: the provider \"" + (*config)->name + "\" is a program (kind \"exec\")");
  }
  if (const auto problem = problem_with_endpoint(settings.base_url.value, (*config)->kind.value);
      !problem.empty()) {
    return fail(
        Reason::settings_invalid,
        "the base URL (" + origin_text({settings.base_url.origin, settings.base_url.where}) + ") " + problem);
  }
  ResolvedProvider resolved;
  resolved.model = effective_model(settings, *config).value;
  if (resolved.model.empty()) return no_model(settings, model_of_answers(settings), **config, examples);
  if (auto checked = check_names_no_provider(settings, resolved.model); !checked)
    return fail(std::move(checked.error()));
  resolved.provider = provider_settings(settings, **config);
  resolved.params = (*config)->params.value;
  return resolved;
}

Result<ResolvedEmbedding> resolve_embedding(const Settings& settings) {
  const Setting<std::string>& model = settings.embedding_model;
  const Setting<std::string>& named = settings.embedding_provider;
  ResolvedEmbedding resolved;
  if (model.value == lexical_embedding_model) {
    resolved.embedding.model = model.value;
    return resolved;
  }
  const auto config = embedding_provider(settings);
  if (!config) return fail(config.error());
  const std::string& name = (*config)->name;
  const ProviderKind kind = (*config)->kind.value;
  if (kind != ProviderKind::openai && kind != ProviderKind::gemini) {
    return fail(
        Reason::settings_invalid,
        "the provider \"" + name + "\" (" + origin_text({named.origin, named.where}) +
            ") has no embeddings: name one of kind \"openai\" or \"gemini\" with --embedding-provider");
  }
  if (model.value.empty() && name != defaults::embedding_provider) {
    return fail(Reason::settings_invalid, "the provider \"" + name +
                                              "\" has no default embedding model: name one with "
                                              "--embedding-model, or as \"embedding_model\" in [eval]");
  }
  resolved.embedding = {name, model.value.empty() ? std::string(defaults::embedding_model) : model.value};
  resolved.provider = provider_settings(settings, **config);
  return resolved;
}

bool names_a_provider(std::string_view judge) {
  return judge != to_string(Judge::none) && judge != to_string(Judge::fake);
}

std::optional<double> temperature_for(const Settings& settings, std::string_view model) {
  const bool is_default = settings.temperature.origin == Origin::default_value;
  return is_default && !takes_temperature(model) ? std::nullopt : settings.temperature.value;
}

Result<ResolvedJudge> resolve_judge(const Settings& settings, const ExampleModels& examples) {
  ResolvedJudge resolved;
  JudgeSettings& judge = resolved.judge;
  judge.judge = judge_of(settings);
  judge.temperature = settings.judge_temperature.value;
  judge.max_tokens = settings.judge_max_tokens.value;
  if (judge.judge == Judge::fake || settings.judge_provider.value.empty()) return resolved;
  const auto config = judges_provider(settings);
  if (!config) return fail(config.error());
  judge.provider = (*config)->name;
  judge.model = effective_judge_model(settings).value;
  if (judge.model.empty()) return no_model(settings, model_of_votes(settings), **config, examples);
  const bool is_default = settings.judge_temperature.origin == Origin::default_value;
  if (is_default && !takes_temperature(judge.model)) judge.temperature = steadiest_temperature(judge.model);
  resolved.provider = provider_settings(settings, **config);
  return resolved;
}

std::vector<std::string> secret_variables(const Settings& settings) {
  std::vector<std::string> names;
  for (const ProviderConfig& provider : settings.providers) {
    names.push_back(provider.api_key_env.value);
    for (const ProviderHeader& header : provider.headers.value) names.push_back(header.variable);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::erase(names, "");
  return names;
}

std::string observations_file(const Settings& settings) {
  const std::string& named = settings.database_path.value;
  return named.empty() ? settings.home.value + "/observations.db" : named;
}

std::vector<RedactionPattern> redaction_of(const Settings& settings) {
  const auto& names = settings.redact.value;
  const bool all = names == std::vector<std::string>{"all"};
  std::vector<RedactionPattern> patterns;
  for (const ShippedRedaction& one : shipped_redactions()) {
    if (all || std::ranges::find(names, one.name) != names.end())
      patterns.push_back({std::string(one.name), std::string(one.pattern)});
  }
  for (const auto& [name, pattern] : settings.redaction_patterns) patterns.push_back({name, pattern.value});
  return patterns;
}

std::vector<SettingLine> describe(const Settings& settings) {
  std::vector<SettingLine> lines;
  for (const SettingDefinition& definition : setting_definitions()) {
    const std::string key =
        definition.in_file ? std::string(definition.section) + "." + std::string(definition.name_in_file())
                           : std::string(definition.key);
    if (const auto effective = effective_text(settings, definition.key)) {
      lines.push_back(
          {key, show_value(effective->value), origin_text({effective->origin, effective->where})});
    } else {
      lines.push_back({key, definition.show(settings), origin_text(definition.stamp(settings))});
    }
    if (definition.key == "judge") lines.back().origin += votes_in_caches(settings);
  }
  for (const auto& [name, pattern] : settings.redaction_patterns) {
    lines.push_back({"redaction.patterns." + name, show_value(pattern.value),
                     origin_text({pattern.origin, pattern.where})});
  }
  for (const ProviderConfig& provider : settings.providers) {
    for (const ProviderDefinition& definition : provider_definitions()) {
      if (!belongs_to(definition.key, provider.kind.value)) continue;
      lines.push_back({"providers." + provider.name + "." + std::string(definition.key),
                       definition.show(provider), origin_text(definition.stamp(provider))});
    }
  }
  return lines;
}

}  // namespace sluice
