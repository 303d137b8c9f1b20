#pragma once

#include "worker/http/call_log.hpp"

#include <memory>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace sluice {

/// Starts the actor that makes calls to providers of kind `exec`: it takes and answers what the HTTP actor
/// does (http_messages.hpp), and runs a program for each call on threads of its own, so many at a time. A
/// permit is checked when a program is about to start. Whoever it was started for may end it at any time: its
/// programs are killed. `log` may be null.
caf::actor spawn_programs(caf::actor_system& system, std::shared_ptr<CallLog> log);

}  // namespace sluice
