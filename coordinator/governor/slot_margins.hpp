#pragma once

#include "common/clock.hpp"
#include "coordinator/governor/member.hpp"
#include "coordinator/governor/permit_grants.hpp"

#include <cstdint>
#include <optional>

namespace sluice {

/// What the slots of a known rate leave room for, as refusals and the workers' ways show it
/// (docs/budgets.md, "How it works"). Pure; not thread-safe.
class SlotMargins {
 public:
  /// A refusal at a known rate says first that the burst is smaller, or that calls vary more on their way.
  /// `remembered`: the burst that an earlier run learnt. False if there is nothing left of either.
  bool halve_burst(PermitGrants& permits, std::optional<double> remembered, BootTime now);
  /// The slots go by what the workers' ways are: the slowest worker must be able to use a permit, and calls
  /// vary on their way to the provider as much as they do at the worst of them.
  void follow_ways(PermitGrants& permits, const Members& members, BootTime now);

 private:
  bool measures_variation_ = true;  ///< Until a call is refused at a known rate.
  bool burst_in_vain_ = false;      ///< Calls are refused whatever the burst.
  std::uint32_t refused_at_least_burst_ = 0;
};

}  // namespace sluice
