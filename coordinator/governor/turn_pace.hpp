#pragma once

#include "common/clock.hpp"
#include "coordinator/governor/defaults.hpp"

#include <algorithm>
#include <cstddef>

namespace sluice {

/// When a governor may take its next turn. A turn looks at every worker: where there are many, the messages
/// of some milliseconds share one, so that what a message costs does not grow with their number. Pure; not
/// thread-safe.
class TurnPace {
 public:
  void on_turn(std::size_t workers, BootTime now) {
    next_ = now;
    if (workers <= defaults::workers_without_gathering) return;
    const auto gathering = static_cast<BootTime::rep>(workers) * defaults::turn_gathering;
    next_ += std::min(gathering, defaults::longest_turn_gathering);
  }
  /// Not before `now`.
  BootTime due(BootTime now) const { return std::max(now, next_); }

 private:
  BootTime next_{};
};

}  // namespace sluice
