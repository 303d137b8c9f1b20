#pragma once

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace sluice {

/// Starts the actor around Governor: answers DemandHeard with GRANT through the router, and tells all workers
/// of a new pause at once.
caf::actor spawn_governor(caf::actor_system& system, const caf::actor& router);

}  // namespace sluice
