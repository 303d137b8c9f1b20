#pragma once

#include "common/transport/defaults.hpp"

#include <chrono>
#include <string_view>

#include <zmq.hpp>

namespace sluice {

/// What both ends of the wire have in common.
inline void set_common_options(zmq::socket_t& socket) {
  const auto in_ms = [](std::chrono::milliseconds time) { return static_cast<int>(time.count()); };
  socket.set(zmq::sockopt::linger, in_ms(defaults::socket_linger));
  // Queues are bounded by the protocol: a worker holds no more than its window, and every other message
  // answers one of the peer's. A coordinator bounds its own to each worker, and says so when it is reached
  // (router.cpp); the one on receiving makes a flood wait in the network instead of in our memory.
  socket.set(zmq::sockopt::sndhwm, 0);
  socket.set(zmq::sockopt::rcvhwm, defaults::max_waiting_frames);
  // ZeroMQ itself can only hang up; a little beyond the limit there is room for a REJECT that says why.
  socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(defaults::max_unread_bytes_of_one));
  socket.set(zmq::sockopt::handshake_ivl, in_ms(defaults::greeting_time));
  // Half-open connections (a machine that vanished) are found and re-made by ZeroMQ itself.
  socket.set(zmq::sockopt::heartbeat_ivl, in_ms(defaults::socket_heartbeat_interval));
  socket.set(zmq::sockopt::heartbeat_timeout, in_ms(defaults::socket_heartbeat_timeout));
  socket.set(zmq::sockopt::reconnect_ivl, in_ms(defaults::reconnect_interval));
  socket.set(zmq::sockopt::reconnect_ivl_max, in_ms(defaults::max_reconnect_interval));
}

/// IPv6 for an endpoint that is written as such, `tcp://[...]:PORT`. Everywhere else it would turn 127.0.0.1
/// into
/// [::ffff:127.0.0.1], and a name with both kinds of address into the one where nobody may be listening.
inline void set_ip_version(zmq::socket_t& socket, std::string_view endpoint) {
  socket.set(zmq::sockopt::ipv6, endpoint.starts_with("tcp://["));
}

}  // namespace sluice
