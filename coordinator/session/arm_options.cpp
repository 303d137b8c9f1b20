#include "coordinator/session/arm_options.hpp"

#include "common/settings/provider_presets.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/session/flag_values.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/suite/prompts/arms.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace sluice {
namespace {

/// Who is asked under the arm: who it says, or makes its model where nobody names a provider; else the run's.
std::string provider_of(const Arm& arm, const Settings& settings) {
  if (!arm.provider.empty()) return arm.provider;
  const bool is_default = settings.provider.origin == Origin::default_value;
  const auto maker = is_default ? provider_of_model(arm.model) : std::nullopt;
  return maker ? std::string(*maker) : settings.provider.value;
}

/// The settings as an arm has them. A model or a base URL that was named for the run's provider is not one
/// for another.
Settings settings_of(const Arm& arm, Settings settings) {
  const auto stamp = [&](auto& setting, const std::string& value) {
    setting.value = value;
    setting.origin = Origin::suite;
    setting.where = arm.where;
  };
  if (const std::string provider = provider_of(arm, settings); provider != settings.provider.value) {
    stamp(settings.provider, provider);
    settings.base_url = {};
  }
  if (!arm.model.empty()) {
    stamp(settings.model, arm.model);
    settings.model_provider.clear();
  }
  return settings;
}

/// Where the arm stands is said before them.
std::string words_of(const Arm& arm, const Error& error) {
  return "the arm \"" + arm.name + "\": " + without_place(error.message, arm.where);
}

/// A number that was said for the run holds for each provider that answers in it.
void bound_calls_in_flight(Settings& settings, const std::vector<Arm>& arms) {
  if (!settings.max_in_flight.value) return;
  for (const Arm& arm : arms) {
    const auto asked =
        std::ranges::find(settings.providers, provider_of(arm, settings), &ProviderConfig::name);
    if (asked != settings.providers.end()) asked->max_in_flight = settings.max_in_flight;
  }
}

/// A base URL without a provider is that of the one that all arms ask. Where they ask several it could be
/// anybody's, and another's key would go there.
Result<void> take_provider_of_arms(Settings& settings, const std::vector<Arm>& arms) {
  const auto origin = settings.base_url.origin;
  const bool is_of_run = origin == Origin::flag || origin == Origin::environment || origin == Origin::suite;
  if (arms.empty() || !is_of_run || settings.provider.origin != Origin::default_value) return {};
  const std::string provider = provider_of(arms.front(), settings);
  const auto other =
      std::ranges::find_if(arms, [&](const Arm& arm) { return provider_of(arm, settings) != provider; });
  if (other != arms.end()) {
    return usage_error(
        settings.base_url.where + ": the arms ask \"" + provider + "\" and \"" +
        provider_of(*other, settings) +
        "\", and it is not said whose base URL this is; name it as base_url under [providers." + provider +
        "] in sluice.toml, or say --provider");
  }
  if (provider != settings.provider.value) settings.provider = {provider, Origin::suite, arms.front().where};
  return {};
}

/// What the command line or the suite says and no arm follows: whoever said it would believe that others are
/// asked than are.
std::optional<std::string> saying_that_no_arm_follows(const Settings& settings,
                                                      const std::vector<Arm>& arms) {
  if (arms.empty()) return std::nullopt;
  const auto& provider = settings.provider.value;
  const auto is_other = [&](const Arm& arm) { return provider_of(arm, settings) != provider; };
  const bool judges_or_embeds = settings.judge.value == provider ||
                                settings.judge_provider.value == provider ||
                                settings.embedding_provider.value == provider;
  if (!judges_or_embeds && std::ranges::all_of(arms, is_other)) {
    const bool is_flag = settings.provider.origin == Origin::flag;
    const auto base_url = settings.base_url.origin;
    // Without the provider's flag a suite's base URL may well fit.
    if (base_url == Origin::flag || (base_url == Origin::suite && !is_flag)) {
      return settings.base_url.where + " goes with the provider \"" + provider + "\" (" +
             settings.provider.where + "), which no arm asks: name it as base_url under [providers." +
             provider_of(arms.front(), settings) +
             "] in sluice.toml, or the provider that is meant with --provider";
    }
    if (is_flag) {
      return settings.provider.where +
             ": every arm of the run names another provider; leave it out, or say " +
             "--arm NAME=PROVIDER:MODEL for other arms";
    }
  }
  const auto names_model = [](const Arm& arm) { return !arm.model.empty(); };
  if (settings.model.origin == Origin::flag && std::ranges::all_of(arms, names_model)) {
    return settings.model.where + ": every arm of the run names its own model; leave it out, or say " +
           "--arm NAME=PROVIDER:MODEL for other arms";
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<Arm>> run_arms(const RunFlags& flags, const Suite& suite) {
  std::vector<Arm> named;
  for (const std::string& text : flags.arms) {
    auto arm = parse_arm(text);
    if (!arm) return usage_error("--arm " + arm.error().message);
    arm->where = "--arm " + text;
    named.push_back(std::move(*arm));
  }
  std::vector<Arm> arms = arms_of(suite.prompts, suite.arms, named);
  if (auto checked = check_arms(arms); !checked) return usage_error(checked.error().message);
  if (flags.only_arm.empty()) return arms;
  const auto is_other = [&](const Arm& arm) { return arm.name != flags.only_arm; };
  // Where flags name another one alone, it is the suite's.
  if (std::ranges::all_of(arms, is_other)) arms = arms_of(suite.prompts, suite.arms, {});
  std::erase_if(arms, is_other);
  return arms;
}

Result<void> fit_to_arms(Settings& settings, const std::vector<Arm>& arms) {
  if (auto taken = take_provider_of_arms(settings, arms); !taken) return taken;
  bound_calls_in_flight(settings, arms);
  if (auto unfollowed = saying_that_no_arm_follows(settings, arms))
    return usage_error(std::move(*unfollowed));
  return {};
}

std::vector<std::string> places_of_models(const RunOptions& options) {
  std::vector<std::string> places;
  // One that no such place names is that of the provider's settings.
  const auto place_of_run = [&](const ResolvedProvider& asked) {
    const Setting<std::string>& model = options.settings.model;
    const bool is_named = asked.model == model.value && !model.where.empty();
    return is_named ? model.where : "[providers." + asked.provider.name + "]";
  };
  const auto words = [](const ResolvedProvider& asked, const std::string& place) {
    return '"' + excerpt(asked.model, defaults::quoted_flag_bytes) + "\" (" + place + ")";
  };
  for (const RunArm& one : options.arms) {
    const std::string& arm = one.arm.name;
    const std::string place = one.arm.model.empty() ? place_of_run(one.provider) : one.arm.where;
    places.push_back(words(one.provider, place + ", arm \"" + arm + '"'));
  }
  if (places.empty()) places.push_back(words(options.provider, place_of_run(options.provider)));
  return places;
}

std::vector<UnknownProvider> unknown_providers(const Settings& settings, const std::vector<Arm>& arms) {
  std::vector<UnknownProvider> unknown;
  for (const Arm& arm : arms) {
    const Settings own = settings_of(arm, settings);
    if (const auto known = check_provider(own); !known)
      unknown.push_back({own.provider.value, {arm.where, 0, words_of(arm, known.error())}});
  }
  if (!arms.empty()) return unknown;
  if (const auto known = check_provider(settings); !known)
    unknown.push_back({settings.provider.value, {settings.provider.where, 0, known.error().message}});
  return unknown;
}

std::vector<Finding> refused_arms(Settings settings, const std::vector<PromptVariant>& prompts,
                                  const std::vector<Arm>& arms) {
  std::vector<Finding> refused;
  const auto refuse = [&](const std::string& where, std::string message) {
    if (message.starts_with(where + ": ")) message.erase(0, where.size() + 2);
    refused.push_back({where, 0, std::move(message)});
  };
  if (const auto checked = check_arms(arms_of(prompts, arms)); !checked)
    refuse(arms.empty() ? "prompts" : arms.front().where, checked.error().message);
  if (const auto fitting = fit_to_arms(settings, arms); !fitting)
    refuse(settings.base_url.where, fitting.error().message);
  const auto resolve = [&](const Settings& own) {
    const bool can_be = check_provider(own) && names_model(own);
    const auto resolved = can_be ? resolve_provider(own) : Result<ResolvedProvider>();
    return resolved ? std::nullopt : std::optional(resolved.error());
  };
  for (const Arm& arm : arms) {
    if (const auto error = resolve(settings_of(arm, settings))) refuse(arm.where, words_of(arm, *error));
  }
  if (!arms.empty()) return refused;
  if (const auto error = resolve(settings)) refuse(settings.model.where, error->message);
  return refused;
}

Result<std::vector<RunArm>> resolve_arms(const Settings& settings, std::vector<Arm> arms) {
  std::vector<RunArm> resolved;
  for (Arm& arm : arms) {
    const Settings own = settings_of(arm, settings);
    auto provider = resolve_provider(own, models_with_prices(own));
    if (!provider) {
      return fail(provider.error().reason, arm.where + ": " + words_of(arm, provider.error()));
    }
    resolved.push_back({std::move(arm), std::move(*provider)});
  }
  return resolved;
}

}  // namespace sluice
