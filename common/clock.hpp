#pragma once

#include <chrono>
#include <cstdint>

namespace sluice {

/// Monotonic time. Decisions take it as an argument, so that tests run on a simulated clock.
using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

/// Unix time in milliseconds: for what people read, never for a decision.
inline std::int64_t unix_now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace sluice
