#pragma once

#include <string>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>
#include <zmq.hpp>

#include "common/error.hpp"

namespace sluice {

/// Makes a DEALER socket that connects to the coordinator's endpoint, now or whenever it is there. Errors:
/// usage_invalid for an endpoint that ZeroMQ cannot parse.
Result<zmq::socket_t> connect_dealer(zmq::context_t& context, const std::string& endpoint);

/// Starts the actor that owns the socket: decodes what the coordinator sends and forwards it to `worker` as
/// FromCoordinator; encodes and sends ToCoordinatorNow. Ends on CloseSocket.
caf::actor spawn_dealer(caf::actor_system& system, zmq::socket_t socket, const caf::actor& worker);

}  // namespace sluice
