#pragma once

#include "common/clock.hpp"
#include "coordinator/run/run_end.hpp"

#include <chrono>
#include <cstdint>

namespace sluice {

/// Whether a run waits for a provider that names a pause which no case can wait for: only if the run's
/// deadline says that it has the time. Pure: time is an argument. Not thread-safe.
class LongPause {
 public:
  enum class Step : std::uint8_t {
    none,  ///< Cases can wait for it, or the run does so already.
    stop,  ///< The run ends.
    wait,  ///< The run waits from now on.
  };

  explicit LongPause(std::chrono::milliseconds case_timeout) : case_timeout_(case_timeout) {}

  /// A provider names a pause of `delay`; 0: none.
  Step on_delay(std::chrono::milliseconds delay, const RunEnd& end, TimePoint now);

 private:
  std::chrono::milliseconds case_timeout_;
  TimePoint waits_until_;
};

}  // namespace sluice
