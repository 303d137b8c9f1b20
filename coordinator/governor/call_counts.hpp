#pragma once

#include "common/clock.hpp"

#include <array>
#include <cstdint>

namespace sluice {

/// Calls that started and were refused of late, as far back as `defaults::rate_search::bin_length` times 256.
/// Pure; not thread-safe.
class CallCounts {
 public:
  struct Count {
    double started = 0;
    double refused = 0;
    double refused_late = 0;  ///< Not for the rate at which calls start now.
  };

  void note(std::uint32_t started, std::uint32_t refused, std::uint32_t refused_late, BootTime now);
  Count since(BootTime since) const;
  /// Calls a second that were not refused.
  double accepted_since(BootTime since, BootTime now) const;
  /// When the first call was refused that `since` counts; `now` if none was.
  BootTime first_refusal_since(BootTime since, BootTime now) const;
  /// Until when at least `share` of all calls since then were refused; `since` if they never were.
  BootTime closed_until(BootTime since, BootTime now, double share) const;

 private:
  struct Bin {
    std::int64_t index = -1;
    std::uint32_t started = 0;
    std::uint32_t refused = 0;
    std::uint32_t refused_late = 0;
  };

  std::array<Bin, 256> bins_{};
};

}  // namespace sluice
