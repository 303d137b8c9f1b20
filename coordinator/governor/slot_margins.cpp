#include "coordinator/governor/slot_margins.hpp"

#include "common/clock_distance.hpp"
#include "coordinator/governor/defaults.hpp"

#include <algorithm>

namespace sluice {

namespace {

/// How much longer than the clock's uncertainty a permit lasts.
BootTime beyond_way(BootTime round_trip) {
  return round_trip > near_round_trip ? defaults::lifetime_beyond_long_way : defaults::lifetime_beyond_way;
}

}  // namespace

bool SlotMargins::halve_burst(PermitGrants& permits, std::optional<double> remembered, BootTime now) {
  const auto burst = permits.burst();
  if (burst <= 0 || burst_in_vain_) return false;
  auto conditions = permits.conditions();
  const bool varied_less = conditions.variation < defaults::arrival_jitter;
  measures_variation_ = false;
  conditions.variation = defaults::arrival_jitter;
  if (burst <= 1 && !varied_less) {
    // With all that it covers now calls are refused again: it was not the burst.
    burst_in_vain_ = refused_at_least_burst_++ > 0 && conditions.burst.has_value();
    if (!burst_in_vain_) return true;
    measures_variation_ = true;
    conditions.burst = remembered;
    permits.set_conditions(conditions, now);
    return false;
  }
  conditions.burst = std::max(1.0, burst / 2);
  permits.set_conditions(conditions, now);
  return true;
}

void SlotMargins::follow_ways(PermitGrants& permits, const Members& members, BootTime now) {
  if (!permits.needed()) return;
  BootTime variation{};
  BootTime needed{};
  for (const auto& [worker, member] : members) {
    if (member.account.most_places() == 0) continue;
    variation = std::max(variation, member.variation.value_or(defaults::arrival_jitter));
    needed = std::max(needed, clock_uncertainty(member.round_trip) + beyond_way(member.round_trip));
  }
  auto conditions = permits.conditions();
  if (measures_variation_ && !members.empty()) {
    conditions.variation =
        std::clamp<BootTime>(variation, defaults::least_arrival_variation, defaults::arrival_jitter);
  }
  conditions.shortest_lifetime =
      std::clamp<BootTime>(needed, defaults::permit_lifetime_min, defaults::permit_lifetime);
  const auto differs = [](BootTime one, BootTime other) {
    return std::chrono::abs(one - other) >= BootTime(1000);
  };
  if (differs(conditions.variation, permits.conditions().variation) ||
      differs(conditions.shortest_lifetime, permits.conditions().shortest_lifetime)) {
    permits.set_conditions(conditions, now);
  }
}

}  // namespace sluice
