#pragma once

#include "common/clock.hpp"
#include "common/model/result.hpp"
#include "worker/calls/call_values.hpp"

namespace sluice {

/// For how long one call has waited, and for what. `paused` is for how long its provider's pauses and outages
/// have held calls in all time. Pure; not thread-safe.
class WaitClock {
 public:
  explicit WaitClock(TimePoint now) : since_(now) {}

  /// From now on it waits.
  void begin(TimePoint now, Duration paused = {}) {
    since_ = now;
    paused_before_ = paused;
  }
  /// It was ready, and waits no longer: for a permit or a place, but for the time that nobody may call.
  void end_ready(TimePoint now, Duration paused) {
    const auto held = paused - paused_before_;
    pause_ += held;
    permit_ += now - since_ - held;
  }
  /// Its time to be tried again has come.
  void end_back_off(TimePoint now) { retry_ += now - since_; }

  void add_to(Spend& spend) const {
    spend.waited_permit_ms += in_ms(permit_);
    spend.waited_pause_ms += in_ms(pause_);
    spend.waited_retry_ms += in_ms(retry_);
  }

 private:
  TimePoint since_;
  Duration paused_before_{};
  Duration permit_{};
  Duration pause_{};
  Duration retry_{};
};

}  // namespace sluice
