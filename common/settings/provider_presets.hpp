#pragma once

#include "common/settings/settings.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace sluice {

/// The names of the built-in providers, which are also the names of the kinds.
std::span<const std::string_view> preset_names();

/// The built-in provider whose models are called so, such as `openai` of `gpt-5-mini`; nothing for a name
/// that says nothing.
std::optional<std::string_view> provider_of_model(std::string_view model);

/// A built-in provider with its standard base URL and key variable; also the defaults of a [providers.NAME]
/// of that kind. Nothing for other names.
std::optional<ProviderConfig> preset_provider(std::string_view name);

}  // namespace sluice
