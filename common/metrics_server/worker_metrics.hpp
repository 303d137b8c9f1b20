#pragma once

#include "common/metrics_server/metric.hpp"
#include "common/model/result.hpp"
#include "common/model/run_settings.hpp"
#include "common/wire/messages.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace sluice {

class MetricFamilies;

/// Counts what a worker sends to the coordinator and receives from it, for Prometheus (docs/commands.md).
/// Thread-safe.
class WorkerMetrics {
 public:
  /// Only providers of runs that began are counted, of all runs defaults::max_counted_providers at most: a
  /// coordinator names them.
  void run_began(const std::vector<ProviderSettings>& providers);
  void sent(const wire::Heartbeat& heartbeat);
  void received(const wire::Grants& grants);
  void completed(const UnitResult& result);
  /// Nothing waits, flies or is held any more.
  void run_ended();

  std::vector<MetricFamily> read() const;

 private:
  struct Provider {
    std::uint64_t answered = 0;
    std::uint64_t rate_limited = 0;
    std::uint64_t failed = 0;
    std::uint64_t permits_granted = 0;
    std::uint64_t permits_used = 0;
    std::uint64_t permits_unused = 0;
    std::uint32_t ready_calls = 0;
    std::uint32_t in_flight = 0;
    std::uint32_t backing_off = 0;
    wire::HoldReason hold = wire::HoldReason::none;
  };

  void add_units(MetricFamilies& metrics) const;
  void add_calls(MetricFamilies& metrics) const;
  void add_holds(MetricFamilies& metrics) const;

  mutable std::mutex mutex_;
  std::map<std::string, Provider> providers_;
  std::uint64_t answered_units_ = 0;
  std::uint64_t failed_units_ = 0;
  std::uint64_t cache_hits_ = 0;
  std::uint64_t retries_ = 0;
  PaidTokens paid_;
  std::chrono::milliseconds waited_permit_{};
  std::chrono::milliseconds waited_pause_{};
  std::chrono::milliseconds waited_retry_{};
};

}  // namespace sluice
