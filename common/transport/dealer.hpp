#pragma once

#include "common/error.hpp"

#include <string>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>
#include <zmq.hpp>

namespace sluice {

/// A DEALER socket on its way to the coordinator, and what is needed to make it anew. The context must
/// outlive it.
struct ConnectedDealer {
  zmq::socket_t socket;
  zmq::context_t& context;
  std::string endpoint;
};

/// Makes a DEALER socket that connects to the coordinator's endpoint, now or whenever it is there. Errors:
/// usage_invalid for an endpoint that ZeroMQ cannot parse.
Result<ConnectedDealer> connect_dealer(zmq::context_t& context, const std::string& endpoint);

/// Starts the actor that owns the socket: decodes what the coordinator sends and forwards it to `worker` as
/// FromCoordinator; encodes and sends ToCoordinatorNow; makes a new connection on ReopenSocket. Ends on
/// CloseSocket.
caf::actor spawn_dealer(caf::actor_system& system, ConnectedDealer dealer, const caf::actor& worker);

}  // namespace sluice
