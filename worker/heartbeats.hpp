#pragma once

#include "common/clock.hpp"
#include "worker/calls/call_values.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// What goes into a worker's HEARTBEATs. Its model client reports what the calls need; but one that is held
/// up (by a slow disk, for example) must not make the worker look lost. Pure; not thread-safe.
class Heartbeats {
 public:
  /// A HEARTBEAT is due. True if the model client is to be asked for its demand first; false if the HEARTBEAT
  /// goes out without one: the coordinator is not there, or the client has not answered yet.
  bool ask_for_demand(bool connected) { return connected && !std::exchange(demand_awaited_, true); }
  void on_demand(const DemandChanged& demand) {
    demand_awaited_ = false;
    newest_grants_us_ = demand.received_us;
  }
  wire::Heartbeat compose(const std::string& run_id, BootTime now, std::uint32_t window,
                          std::vector<wire::Demand> demands) const {
    return {run_id, static_cast<std::uint64_t>(now.count()), window, std::move(demands), newest_grants_us_};
  }

 private:
  bool demand_awaited_ = false;
  std::uint64_t newest_grants_us_ = 0;
};

}  // namespace sluice
