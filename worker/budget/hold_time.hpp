#pragma once

#include "common/clock.hpp"

#include <algorithm>

namespace sluice {

/// Adds up for how long something was on hold: spans whose ends are known ahead and may be moved. Pure; not
/// thread-safe.
class HoldTime {
 public:
  /// On hold from now until then, whatever was set before; a time that is past ends the hold.
  void hold_until(TimePoint until, TimePoint now) {
    past_ = total(now);
    from_ = now;
    until_ = std::max(until, now);
  }
  /// Of all time up to now.
  Duration total(TimePoint now) const {
    return past_ + std::max(Duration::zero(), std::min(now, until_) - from_);
  }

 private:
  Duration past_{};
  TimePoint from_;
  TimePoint until_;
};

}  // namespace sluice
