#pragma once

#include "worker/http/call_log.hpp"

#include <memory>

#include <caf/fwd.hpp>

namespace sluice {

/// Starts the actor that owns curl and a thread of its own. It takes HttpCalls and HttpCancel
/// (http_messages.hpp) from any actor and answers the sender, with one message for all of its calls that
/// ended in one turn. It caps nothing: the number of calls in flight is the callers' affair. It lives until
/// it gets an exit message, which cancels all calls and ends the thread; dropping the handle does not end it.
/// A call that missed its start window while it connected is answered when a connection to its host has been
/// made ready with a HEAD of the bare host, without a key. `log` may be null. `calls_come`: curl is loaded on
/// its thread at once, and else with the first call.
caf::actor spawn_http(caf::actor_system& system, std::shared_ptr<CallLog> log = nullptr,
                      bool calls_come = true);

}  // namespace sluice
