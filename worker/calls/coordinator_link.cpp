#include "worker/calls/coordinator_link.hpp"

#include "common/defaults.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

CoordinatorLink::CoordinatorLink(std::chrono::milliseconds heartbeat_interval)
    : longest_silence_(defaults::liveness * heartbeat_interval) {}

bool CoordinatorLink::on_budget(const BudgetChanged& budget) {
  const bool was_connected = std::exchange(connected_, budget.connected);
  // It may be another process, on a machine that was started meanwhile.
  if (budget.begins_anew) newest_us_ = 0;
  const auto& grants = budget.grants;
  if (grants.now_us > 0) {
    newest_us_ = std::max(newest_us_, grants.now_us);
    const auto echo = grants.echo_us > 0 ? std::optional(boot_time(grants.echo_us)) : std::nullopt;
    // What was in the socket while the process was stopped is as old as what it answers.
    const auto sent_at = std::min(echo.value_or(budget.received_at), budget.received_at);
    confirmed_at_ = std::max(confirmed_at_, sent_at);
    late_grants_.on_grants(budget.received_at - sent_at, longest_silence_, budget.received_at);
    clock_.on_grants(boot_time(grants.now_us), echo, budget.received_at);
  }
  return budget.begins_anew || (connected_ && !was_connected);
}

}  // namespace sluice
