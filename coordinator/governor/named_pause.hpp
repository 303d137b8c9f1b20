#pragma once

#include "common/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace sluice {

/// The pause that a provider named, lengthened and never shortened. Pure; not thread-safe.
class NamedPause {
 public:
  /// A worker is to wait for so many milliseconds; 0: it is not. It repeats what is left of its pause:
  /// rounding and the way here may add a little each time, which costs a message and no more.
  void extend(std::uint32_t pause_ms, BootTime now) {
    if (pause_ms > 0) extend_to(now + std::chrono::milliseconds(pause_ms), now);
  }
  void extend_to(BootTime until, BootTime now) {
    if (until <= std::max(now, until_)) return;
    total_ += until - std::max(now, until_);
    until_ = until;
  }
  BootTime until() const { return until_; }
  bool is_on(BootTime now) const { return until_ > now; }
  BootTime left(BootTime now) const { return std::max(until_ - now, BootTime::zero()); }
  /// Of all pauses up to now.
  BootTime time(BootTime now) const { return total_ - left(now); }

 private:
  BootTime until_{};
  BootTime total_{};
};

}  // namespace sluice
