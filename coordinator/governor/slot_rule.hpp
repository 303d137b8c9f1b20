#pragma once

#include "common/model/provider_limits.hpp"
#include "coordinator/governor/bucket.hpp"
#include "coordinator/governor/defaults.hpp"

#include <cstdint>
#include <optional>

namespace sluice {

inline constexpr double seconds_a_minute = 60;
inline double in_seconds(BootTime time) {
  return static_cast<double>(time.count()) * 1e-6;
}

/// One limit as the slots keep it: a bucket with room for a permit's lifetime and the way to the provider.
struct PacedLimit {
  Bucket::Shape shape;
  /// The greatest single charge; 0: no bound.
  std::uint64_t ceiling = 0;
};

/// What is known of the ways, and of the burst beside the settings.
struct SlotConditions {
  BootTime variation = defaults::arrival_jitter;  ///< J: from a call's start to its arrival.
  BootTime shortest_lifetime =
      defaults::permit_lifetime_min;  ///< A shorter permit some worker could not use.
  std::optional<double> burst;        ///< Calls that the provider takes at once, at most; at least 1.
  friend bool operator==(const SlotConditions&, const SlotConditions&) = default;
};

/// What the slots of a provider follow (docs/budgets.md). A slot that opens at t stands for a call that
/// arrives in [t, t + lifetime + J + e].
struct SlotRule {
  BootTime lifetime{};
  std::optional<PacedLimit> requests;
  std::optional<PacedLimit> tokens;
  std::optional<PacedLimit> input_tokens;
  std::optional<PacedLimit> output_tokens;
  double burst = 0;          ///< Calls at once that `requests` counts on.
  bool has_reserve = false;  ///< One call of it is left for a process that is stopped right before it writes.

  bool any() const { return requests || tokens || input_tokens || output_tokens; }
};

/// The rule for the rates that are set in `limits` (`max_in_flight` is none).
SlotRule slot_rule(const ProviderLimits& limits, const SlotConditions& conditions = {});

/// Evenly spaced slots of a rate whose burst is not known; `per_second` above 0.
Bucket::Shape spaced_evenly(double per_second);
/// Slots of a rate that was found; `per_second` above 0, `burst` at least 1.
Bucket::Shape found_shape(double per_second, double burst, const SlotConditions& conditions);

}  // namespace sluice
