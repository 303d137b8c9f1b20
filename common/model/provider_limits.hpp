#pragma once

#include <cstdint>
#include <optional>

namespace sluice {

/// What a provider allows one key, as far as the settings name it ([providers.NAME] in sluice.toml). What is
/// not named is learnt from response headers, or found by search (docs/budgets.md).
struct ProviderLimits {
  std::optional<std::uint64_t> requests_per_minute;       ///< At least 1.
  std::optional<std::uint64_t> tokens_per_minute;         ///< Input and output together; at least 1.
  std::optional<std::uint64_t> input_tokens_per_minute;   ///< At least 1.
  std::optional<std::uint64_t> output_tokens_per_minute;  ///< At least 1.
  std::optional<std::uint32_t> max_in_flight;             ///< Calls at a time over all workers; at least 1.
  /// How much of each limit the provider takes at once, in seconds of its rate; above 0. Without it: a
  /// tenth of a second of requests, at least one, and one second of tokens.
  std::optional<double> burst_seconds;

  friend bool operator==(const ProviderLimits&, const ProviderLimits&) = default;
};

}  // namespace sluice
