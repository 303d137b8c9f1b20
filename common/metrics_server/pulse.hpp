#pragma once

#include "common/clock.hpp"
#include "common/metrics_server/metric.hpp"

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace sluice {

/// The beats of a process's loop, told by one thread and asked for by others. Thread-safe.
class Pulse {
 public:
  /// Loops beat each heartbeat; one that has not for so long is stuck.
  static constexpr std::chrono::seconds longest_pause{15};

  void beat(bool is_ready, std::string status, TimePoint now) {
    const std::lock_guard lock(mutex_);
    last_ = now;
    health_ = {true, is_ready, std::move(status)};
  }
  Health health(TimePoint now) const {
    const std::lock_guard lock(mutex_);
    if (!last_) return {true, false, "starting"};
    auto health = health_;
    const auto pause = std::chrono::duration_cast<std::chrono::seconds>(now - *last_);
    if (pause <= longest_pause) return health;
    return {false, false, "stuck for " + std::to_string(pause.count()) + " s; before: " + health.status};
  }

 private:
  mutable std::mutex mutex_;
  std::optional<TimePoint> last_;
  Health health_;
};

}  // namespace sluice
