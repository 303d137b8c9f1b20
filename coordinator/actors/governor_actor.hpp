#pragma once

#include "common/clock.hpp"
#include "coordinator/governor/governor.hpp"
#include "coordinator/shared_budget/shared_budgets.hpp"

#include <functional>
#include <memory>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace sluice {

/// Starts the actor around Governor: takes workers and their demand (PeersChanged, HeartbeatReceived), and
/// sends each worker GRANTS through the router, as an answer and whenever there is something to grant.
/// BudgetRequest is answered to `coordinator`. `shared`: what other runs with these keys are to know; null:
/// none is. Where that fails there is a warning, and the run goes on by itself.
caf::actor spawn_governor(caf::actor_system& system, const GovernorConfig& config, const caf::actor& router,
                          const caf::actor& coordinator, std::shared_ptr<SharedBudgets> shared = nullptr,
                          std::function<BootTime()> clock = boot_clock_now);

}  // namespace sluice
