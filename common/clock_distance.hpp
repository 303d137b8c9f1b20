#pragma once

#include "common/clock.hpp"
#include "common/defaults.hpp"

#include <algorithm>
#include <chrono>

/// What a round trip between a worker and its coordinator means for permits (docs/budgets.md). Both sides go
/// by it: the worker when it uses a permit, the coordinator when it says how long one lasts.
namespace sluice {

/// Messages prove where the other clock stands to the length of a round trip, and no better: how much of it
/// is the way there nobody can measure. Nearby that is enough, and the proof is kept. Beyond it the two ways
/// are taken to differ by 20 ms and a tenth of the rest at most: what they differ by beyond that shifts all
/// calls of a worker alike, which keeps their distances, and so its share of the rate.
inline constexpr BootTime near_round_trip = std::chrono::milliseconds(50);
inline constexpr BootTime least_difference = std::chrono::milliseconds(20);
inline constexpr BootTime::rep ways_differ_by = 10;

/// How exactly the other clock is taken to be known over a round trip.
inline BootTime clock_uncertainty(BootTime round_trip) {
  if (round_trip <= near_round_trip) return round_trip;
  return least_difference + (round_trip - least_difference) / ways_differ_by;
}

/// How much earlier than `permit_lead` a permit is granted, which arrives half a round trip later.
inline BootTime granted_ahead(BootTime round_trip) {
  return std::max<BootTime>(BootTime::zero(), round_trip - defaults::permit_lead);
}

}  // namespace sluice
