#pragma once

#include "common/clock.hpp"

#include <optional>

namespace sluice {

/// How long something has been the case. Pure; not thread-safe.
class StopWatch {
 public:
  void run(bool runs, BootTime now) {
    if (since_) total_ += now - *since_;
    since_ = runs ? std::optional(now) : std::nullopt;
  }
  BootTime time(BootTime now) const { return total_ + (since_ ? now - *since_ : BootTime::zero()); }

 private:
  BootTime total_{};
  std::optional<BootTime> since_;
};

}  // namespace sluice
