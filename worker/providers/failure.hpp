#pragma once

#include "worker/providers/formats.hpp"
#include "worker/providers/provider.hpp"

#include <chrono>
#include <string_view>

namespace sluice {

/// What an error response means: its reason, whether a retry makes sense, and how long to wait first. A cause
/// that the body names as fatal outweighs `x-should-retry`, and that outweighs the status. `model_setting`
/// is what a message about an unknown model asks the user to check.
Failed classify_failure(const ProviderSettings& provider, const HttpResponse& response,
                        const ErrorFacts& facts, std::chrono::system_clock::time_point now,
                        std::string_view api_key, std::string_view model_setting = "--model");

}  // namespace sluice
