#pragma once

#include "common/model/paid_tokens.hpp"
#include "worker/providers/formats.hpp"
#include "worker/providers/provider.hpp"

#include <chrono>

namespace sluice {

/// What an error response means: its reason, whether a retry makes sense, and how long to wait first. A cause
/// that the body names as fatal outweighs `x-should-retry`, and that outweighs the status. `kind` is
/// what the call was for: its messages name the settings of such calls.
Failed classify_failure(const ProviderSettings& provider, const HttpResponse& response,
                        const ErrorFacts& facts, std::chrono::system_clock::time_point now,
                        const Credentials& credentials, CallKind kind);

}  // namespace sluice
