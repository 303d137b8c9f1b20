#pragma once

#include "common/clock.hpp"
#include "coordinator/governor/governor.hpp"

#include <functional>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace sluice {

/// Starts the actor around Governor: takes workers and their demand (PeersChanged, HeartbeatReceived), and
/// sends each worker GRANTS through the router, as an answer and whenever there is something to grant.
/// BudgetRequest is answered to `coordinator`.
caf::actor spawn_governor(caf::actor_system& system, const GovernorConfig& config, const caf::actor& router,
                          const caf::actor& coordinator, std::function<BootTime()> clock = boot_clock_now);

}  // namespace sluice
