#pragma once

#include "common/clock.hpp"
#include "tests/properties/event_queue.hpp"

#include <cstdint>

namespace sluice::testing {

/// A machine's clock: it shows some time at the beginning, and runs fast or slow from there. What it shows
/// is cut to microseconds, as what programs read is.
class SimulatedClock {
 public:
  /// `fast_ppb`: by how many billionths it is fast.
  SimulatedClock(BootTime at_beginning, std::int64_t fast_ppb)
      : at_beginning_(at_beginning), fast_ppb_(fast_ppb) {}

  BootTime at(BootTime time) const {
    constexpr std::int64_t billion = 1'000'000'000;
    const auto gone = (time - EventQueue::beginning).count();
    const auto ahead = gone * fast_ppb_;
    return at_beginning_ + BootTime(gone + (ahead - ((ahead % billion) + billion) % billion) / billion);
  }
  /// The first time at which it shows `own` or more.
  BootTime time_of(BootTime own) const {
    auto time = EventQueue::beginning + (own - at_beginning_);
    time -= at(time) - own;
    while (at(time) >= own) time -= BootTime(1);
    while (at(time) < own) time += BootTime(1);
    return time;
  }

 private:
  BootTime at_beginning_;
  std::int64_t fast_ppb_;
};

}  // namespace sluice::testing
