#pragma once

#include "common/defaults.hpp"

#include <string_view>

#include <zmq.hpp>

namespace sluice {

/// What both ends of the wire have in common.
inline void set_common_options(zmq::socket_t& socket) {
  // A process that ends gives its last words (GOODBYE, ACK) a moment, and never hangs on them.
  socket.set(zmq::sockopt::linger, 500);
  // Queues are bounded by the protocol: a worker holds no more than its window, and every other message
  // answers one of the peer's. A high-water mark on sending would drop messages silently; the one on
  // receiving makes a flood wait in the network instead of in our memory.
  socket.set(zmq::sockopt::sndhwm, 0);
  socket.set(zmq::sockopt::rcvhwm, 10000);
  // ZeroMQ itself can only hang up; up to twice the limit there is room for a REJECT that says why.
  socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(2 * defaults::max_frame_bytes));
  // Half-open connections (a machine that vanished) are found and re-made by ZeroMQ itself.
  socket.set(zmq::sockopt::heartbeat_ivl, 2000);
  socket.set(zmq::sockopt::heartbeat_timeout, 10000);
  socket.set(zmq::sockopt::reconnect_ivl, 100);
  // Workers that were there before their coordinator come within a second of each other: those whose caches
  // hold answers are waited for no longer than defaults::holder_wait.
  socket.set(zmq::sockopt::reconnect_ivl_max, 1000);
}

/// IPv6 for an endpoint that is written as such, `tcp://[...]:PORT`. Everywhere else it would turn 127.0.0.1
/// into
/// [::ffff:127.0.0.1], and a name with both kinds of address into the one where nobody may be listening.
inline void set_ip_version(zmq::socket_t& socket, std::string_view endpoint) {
  socket.set(zmq::sockopt::ipv6, endpoint.starts_with("tcp://["));
}

}  // namespace sluice
