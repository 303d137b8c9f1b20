#pragma once

#include "common/clock.hpp"

#include <cstdint>
#include <optional>

namespace sluice {

/// Where a limit in force comes from.
enum class LimitSource : std::uint8_t { configured, announced, found };

/// What a run learnt of a provider beyond what the settings say: given out with BudgetFacts::learned, taken
/// in with GovernorConfig::learned by the next run on the same provider and key. A value; it may be stored.
struct LearnedLimits {
  std::optional<double> requests_per_minute;  ///< Above 0: what the provider took, or announced.
  std::optional<double> burst;                ///< Calls that it takes at once; at least 1.
  /// Calls in flight: that it takes at most, or with the best throughput; at least 1.
  std::optional<std::uint32_t> in_flight;
  LimitSource source = LimitSource::found;  ///< Of the rate: found or announced.
  BootTime age{};                           ///< How long ago the newest of it was learnt.

  bool empty() const { return !requests_per_minute && !burst && !in_flight; }
  friend bool operator==(const LearnedLimits&, const LearnedLimits&) = default;
};

}  // namespace sluice
