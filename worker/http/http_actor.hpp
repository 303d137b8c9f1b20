#pragma once

#include <caf/fwd.hpp>

namespace sluice {

/// Starts the actor that owns curl and a thread of its own. It takes HttpCalls and HttpCancel
/// (http_messages.hpp) from any actor and answers the sender, with one message for all of its calls that
/// ended in one turn. It caps nothing: the number of calls in flight is the callers' affair. It lives until
/// it gets an exit message, which cancels all calls and ends the thread; dropping the handle does not end it.
caf::actor spawn_http(caf::actor_system& system);

}  // namespace sluice
