#pragma once

#include "common/metrics_server/metric.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace sluice {

/// Where one thread leaves the newest numbers for another that is asked for them. Thread-safe.
class MetricsBoard {
 public:
  void publish(std::vector<MetricFamily> families) {
    const std::lock_guard lock(mutex_);
    families_ = std::move(families);
  }
  std::vector<MetricFamily> read() const {
    const std::lock_guard lock(mutex_);
    return families_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<MetricFamily> families_;
};

}  // namespace sluice
