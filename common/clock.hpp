#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace sluice {

/// Monotonic time. Decisions take it as an argument, so that tests run on a simulated clock.
using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

/// Unix time in milliseconds: for what people read, never for a decision.
inline std::int64_t unix_now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

/// Time of the machine's boot clock, which goes on while it sleeps: permits are windows of it
/// (docs/budgets.md), and a machine that slept must not take them for open. Means nothing across machines.
using BootTime = std::chrono::microseconds;

inline BootTime boot_clock_now() {
  std::timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);  // Cannot fail: the clock exists since Linux 2.6.39.
  return std::chrono::seconds(now.tv_sec) +
         std::chrono::duration_cast<BootTime>(std::chrono::nanoseconds(now.tv_nsec));
}

}  // namespace sluice
