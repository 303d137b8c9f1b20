#pragma once

#include "common/transport/connection_loads.hpp"
#include "common/transport/envelopes.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <zmq.hpp>

namespace sluice {

/// Keeps what waits for the TCP connections of a ROUTER bounded: asks the system what each has received and
/// sent, and cuts those that ConnectionLoads names. Where the system does not say (it is no Linux), nothing
/// is cut. For the thread that owns the socket.
class ConnectionWatch {
 public:
  /// `events` as `watch_connections` gave it; an empty one watches nothing.
  explicit ConnectionWatch(zmq::socket_t events) : events_(std::move(events)) {}

  bool watches() const { return static_cast<bool>(events_); }
  /// A message of a peer was read.
  void on_read(const Peer& peer, std::vector<zmq::message_t>& frames);
  void on_sent(const Peer& peer, std::size_t bytes);
  /// Many bytes were sent since the last look.
  bool is_overdue() const;
  /// Cuts what is to be cut. A sentence for each.
  std::vector<std::string> check(TimePoint now);
  /// Of the connections that ended in their handshake since the last call: ZeroMQ's number of what was wrong.
  /// It does not say whose they were.
  std::vector<std::uint32_t> take_failed_handshakes() { return std::exchange(failed_handshakes_, {}); }
  /// Before ZeroMQ's context ends, and after the watched socket was closed.
  void close() { events_.close(); }

 private:
  void take_events();
  void forget(int connection);

  zmq::socket_t events_;
  ConnectionLoads loads_;
  std::unordered_map<Peer, int> connection_of_;
  std::unordered_map<int, Peer> peer_at_;
  std::vector<std::uint32_t> failed_handshakes_;
};

/// What tells of the connections that come and go at the socket; before it is bound.
zmq::socket_t watch_connections(zmq::context_t& context, zmq::socket_t& socket);

}  // namespace sluice
