#pragma once

#include "common/clock.hpp"

#include <cstdint>
#include <utility>

namespace sluice {

/// What its provider's outages mean for one call: their time is not the call's, unless the outage is its own
/// doing. `out` is for how long outages have held calls in all time. Pure; not thread-safe.
class OutageClock {
 public:
  /// After more failed probes than `most_failures`, what fails is rather the call than its provider.
  OutageClock(Duration out, std::uint32_t most_failures) : out_before_(out), most_failures_(most_failures) {}

  /// A call that was to find out whether the outage is over has reached the provider, and failed.
  void probe_failed() { ++failed_probes_; }
  std::uint32_t failed_probes() const { return failed_probes_; }
  bool is_own_fault() const { return failed_probes_ > most_failures_; }

  /// By how much the call's time lasts longer since it was asked last.
  Duration extension(Duration out) {
    const auto more = out - std::exchange(out_before_, out);
    if (is_own_fault()) return {};
    extended_ += more;
    return more;
  }
  /// All extensions so far.
  Duration extended() const { return extended_; }

 private:
  Duration out_before_;
  std::uint32_t most_failures_;
  std::uint32_t failed_probes_ = 0;
  Duration extended_{};
};

}  // namespace sluice
