#pragma once

#include "common/error.hpp"
#include "common/transport/curve.hpp"

#include <optional>
#include <string>
#include <vector>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>
#include <zmq.hpp>

namespace sluice {

/// A ROUTER socket that is bound, and not yet owned by a thread. Between the two, the caller may tell the
/// user the endpoint.
struct BoundRouter {
  zmq::socket_t connections;  ///< Tells who comes and goes; empty if nobody can but from this process. Closed
                              ///< after the socket.
  zmq::socket_t socket;
  zmq::socket_t zap;  ///< Asked who may come in; empty without `security`.
  std::optional<FleetSecurity> security;
  std::string endpoint;  ///< With the port that was picked, e.g. "tcp://127.0.0.1:40123".
};

/// Binds one socket to each `tcp://HOST:PORT` (port 0 picks one) or `inproc://NAME`; the last one's bound
/// form is kept. With `security` TCP connections are encrypted, and only listed keys come in. Errors:
/// listen_failed.
Result<BoundRouter> bind_router(zmq::context_t& context, const std::vector<std::string>& endpoints,
                                std::optional<FleetSecurity> security = {});

/// Starts the actor that owns the socket: decodes what workers send (answering malformed frames itself) and
/// forwards it to `coordinator` as FromWorkers; encodes and sends ToPeer. A worker that came in by a key is
/// called by the key's name; one whose key is taken off the list is gone by the next DrainSocket. A
/// connection for which too much waits in memory is cut. Ends on CloseSocket.
caf::actor spawn_router(caf::actor_system& system, BoundRouter router, const caf::actor& coordinator);

}  // namespace sluice
