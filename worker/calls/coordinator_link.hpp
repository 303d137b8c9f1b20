#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "worker/budget/clock_bounds.hpp"
#include "worker/budget/late_grants.hpp"
#include "worker/calls/call_values.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace sluice {

/// How fresh what the coordinator allows is: nothing starts on what was allowed long ago, since a process
/// that was stopped may wake up with a budget that others have by now. Pure; not thread-safe.
class CoordinatorLink {
 public:
  explicit CoordinatorLink(std::chrono::milliseconds heartbeat_interval);

  /// True if the coordinator knows nothing of what was sent before: it is to be sent again.
  bool on_budget(const BudgetChanged& budget);

  bool connected() const { return connected_; }
  bool is_fresh(BootTime now) const { return connected_ && now - confirmed_at_ <= longest_silence_; }
  /// `now_us` of the newest GRANTS; 0 if there were none.
  std::uint64_t newest_grants_us() const { return newest_us_; }
  /// Where the coordinator's clock can stand.
  const ClockBounds& clock() const { return clock_; }
  /// Why calls that are there to start never will: GRANTS are always too old when they come.
  std::optional<Error> problem() const { return late_grants_.problem(); }

 private:
  BootTime longest_silence_;
  bool connected_ = true;
  std::uint64_t newest_us_ = 0;
  BootTime confirmed_at_{};  ///< The coordinator has certainly received what was sent then, on the own clock.
  LateGrants late_grants_;
  ClockBounds clock_;
};

}  // namespace sluice
