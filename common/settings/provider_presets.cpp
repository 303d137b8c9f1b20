#include "common/settings/provider_presets.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace sluice {
namespace {

struct Preset {
  ProviderKind kind;
  std::string_view base_url;
  std::string_view api_key_env;
  std::string_view max_tokens_field;
};

constexpr std::array<Preset, 6> presets{{
    {ProviderKind::openai, "https://api.openai.com/v1", "OPENAI_API_KEY", "max_completion_tokens"},
    {ProviderKind::openai_responses, "https://api.openai.com/v1", "OPENAI_API_KEY", ""},
    {ProviderKind::anthropic, "https://api.anthropic.com", "ANTHROPIC_API_KEY", ""},
    {ProviderKind::gemini, "https://generativelanguage.googleapis.com", "GEMINI_API_KEY", ""},
    {ProviderKind::http, "", "", ""},
    {ProviderKind::exec, "", "", ""},
}};

}  // namespace

std::span<const std::string_view> preset_names() {
  static constexpr std::array<std::string_view, 4> names{"anthropic", "gemini", "openai", "openai-responses"};
  return names;
}

std::optional<std::string_view> provider_of_model(std::string_view model) {
  struct Family {
    std::string_view prefix;
    std::string_view provider;
  };
  static constexpr std::array<Family, 7> families{{{"gpt-", "openai"},
                                                   {"chatgpt-", "openai"},
                                                   {"o1", "openai"},
                                                   {"o3", "openai"},
                                                   {"o4", "openai"},
                                                   {"claude-", "anthropic"},
                                                   {"gemini-", "gemini"}}};
  const auto found =
      std::ranges::find_if(families, [&](const Family& one) { return model.starts_with(one.prefix); });
  return found != families.end() ? std::optional(found->provider) : std::nullopt;
}

std::optional<ProviderConfig> preset_provider(std::string_view name) {
  const auto kind = provider_kind_from(name);
  const auto found = std::find_if(presets.begin(), presets.end(),
                                  [&](const Preset& preset) { return kind && preset.kind == *kind; });
  if (found == presets.end()) return std::nullopt;
  ProviderConfig provider;
  provider.name = name;
  provider.kind.value = found->kind;
  provider.base_url.value = found->base_url;
  provider.api_key_env.value = found->api_key_env;
  provider.max_tokens_field.value = found->max_tokens_field;
  return provider;
}

}  // namespace sluice
