#pragma once

#include "common/error.hpp"
#include "common/fleet/fleet_key.hpp"

#include <cstddef>
#include <optional>
#include <string>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>
#include <zmq.hpp>

namespace sluice {

/// A DEALER socket on its way to the coordinator, and what is needed to make it anew. The context must
/// outlive it.
struct ConnectedDealer {
  zmq::socket_t socket;
  zmq::socket_t monitor;  ///< Says why a connection did not come about.
  zmq::context_t& context;
  std::string endpoint;
  std::optional<FleetKey> key;
  std::size_t connections =
      1;  ///< Names the next of the coordinator's keys, to be tried if this one's is refused.
};

/// Makes a DEALER socket that connects to the coordinator's endpoint, now or whenever it is there; with a
/// key, to one of the key's coordinators alone. Errors: usage_invalid for an endpoint that ZeroMQ cannot
/// parse.
Result<ConnectedDealer> connect_dealer(zmq::context_t& context, const std::string& endpoint,
                                       const std::optional<FleetKey>& key = {}, std::size_t connections = 0);

/// Starts the actor that owns the socket: decodes what the coordinator sends and forwards it to `worker` as
/// FromCoordinator; encodes and sends ToCoordinatorNow; makes a new connection on ReopenSocket. Ends on
/// CloseSocket.
caf::actor spawn_dealer(caf::actor_system& system, ConnectedDealer dealer, const caf::actor& worker);

}  // namespace sluice
