#pragma once

#include "coordinator/facts/worker_id.hpp"
#include "coordinator/governor/worker_account.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace sluice {

/// Times that all budgets of a run go by.
struct BudgetTimes {
  BootTime request_timeout{};     ///< After it a call of a lost worker has certainly ended.
  BootTime heartbeat_interval{};  ///< Two of them without a report, and an expired permit is lost.
  BootTime outage_timeout{};      ///< An outage that lasts longer is given up.
};

/// What a worker was sent last, permits aside.
struct BudgetState {
  bool unlimited = false;
  std::uint32_t places = 0;
  bool searched = false;
  wire::HoldReason hold = wire::HoldReason::none;
  BootTime paused_until{};
  wire::CallCeiling ceiling;
  friend bool operator==(const BudgetState&, const BudgetState&) = default;
};

/// A worker as one provider's budget knows it.
struct Member {
  WorkerAccount account;
  std::optional<BudgetState> sent;
  std::vector<wire::Permit> new_permits;  ///< Not sent yet.
  BootTime last_heartbeat{};
  BootTime round_trip{};                ///< Of its messages, which bounds the clock; 0: not known.
  std::optional<BootTime> variation{};  ///< Of the way to the provider, as the worker measures it.
  bool calls_freely = false;  ///< A limit was announced, and no call of it was on a permit of that yet.
};

using Members = std::map<WorkerId, Member>;

}  // namespace sluice
