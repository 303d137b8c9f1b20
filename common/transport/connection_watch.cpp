#include "common/transport/connection_watch.hpp"

#include "common/transport/defaults.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice {

namespace {

/// Nothing where the connection has gone, or the system does not count.
std::optional<ConnectionLoads::Counts> counts_of(int connection) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(connection, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  if (size < offsetof(tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received) return std::nullopt;
  return ConnectionLoads::Counts{info.tcpi_bytes_received, info.tcpi_bytes_acked};
}

/// The message's connection; -1 where it came from this process.
int connection_of(zmq::message_t& frame) {
  return zmq_msg_get(frame.handle(), ZMQ_SRCFD);
}

/// Of this process; 0 where the system does not say.
std::uint64_t resident_bytes() {
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::string in_words(ConnectionLoads::Fault fault) {
  switch (fault) {
    case ConnectionLoads::Fault::sends_too_much:
      return "a connection was cut: what it sent is more than the largest message, and ends none, or is more "
             "than can be read";
    case ConnectionLoads::Fault::does_not_read:
      return "a connection was cut: its peer does not read what it is sent";
    case ConnectionLoads::Fault::fills_memory:
      return "a connection was cut: what it sent ends no message and takes far more memory than it has bytes";
    case ConnectionLoads::Fault::has_most_of_total:
      return "a connection was cut: too many bytes wait in memory, most of them there";
  }
  return {};
}

}  // namespace

void ConnectionWatch::on_read(const Peer& peer, std::vector<zmq::message_t>& frames) {
  if (!watches()) return;
  const int connection = connection_of(frames.back());
  if (connection < 0) return;
  if (const auto known = connection_of_.find(peer);
      known == connection_of_.end() || known->second != connection) {
    // That it came was told before its first message, and forgets who had its number before.
    take_events();
    connection_of_.insert_or_assign(peer, connection);
    peer_at_.insert_or_assign(connection, peer);
  }
  std::size_t bytes = 0;
  for (const auto& frame : frames) bytes += frame.size() + defaults::frame_overhead_bytes;
  loads_.on_read(connection, bytes);
}

void ConnectionWatch::on_sent(const Peer& peer, std::size_t bytes) {
  if (const auto found = connection_of_.find(peer); found != connection_of_.end())
    loads_.on_sent(found->second, bytes);
}

bool ConnectionWatch::is_overdue() const {
  return loads_.sent_since_check() > defaults::max_untaken_bytes_of_one;
}

void ConnectionWatch::forget(int connection) {
  const auto peer = peer_at_.find(connection);
  if (peer == peer_at_.end()) return;
  const auto now_at = connection_of_.find(peer->second);
  if (now_at != connection_of_.end() && now_at->second == connection) connection_of_.erase(now_at);
  peer_at_.erase(peer);
}

/// An event is its number, a connection (or what was wrong with one), and the address that it came to.
void ConnectionWatch::take_events() {
  zmq::message_t event;
  while (events_.recv(event, zmq::recv_flags::dontwait)) {
    std::uint16_t number = 0;
    std::int32_t connection = -1;
    if (event.size() == sizeof number + sizeof connection) {
      std::memcpy(&number, event.data(), sizeof number);
      std::memcpy(&connection, event.data<char>() + sizeof number, sizeof connection);
    }
    while (event.more() && events_.recv(event)) {
    }
    if (number == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL) {
      failed_handshakes_.push_back(static_cast<std::uint32_t>(connection));
      continue;
    }
    if (connection < 0) continue;
    forget(connection);
    number == ZMQ_EVENT_ACCEPTED ? loads_.open(connection) : loads_.close(connection);
  }
}

std::vector<std::string> ConnectionWatch::check(TimePoint now) {
  std::vector<std::string> sentences;
  if (!watches()) return sentences;
  take_events();
  std::map<int, ConnectionLoads::Counts> counts;
  for (const int connection : loads_.connections()) {
    if (const auto counted = counts_of(connection)) counts.emplace(connection, *counted);
  }
  for (const auto& [connection, fault] : loads_.check(counts, resident_bytes(), now)) {
    // ZeroMQ notices that it has ended, and frees what waits. By a number that has gone to another
    // connection meanwhile somebody has to connect again.
    ::shutdown(connection, SHUT_RDWR);
    sentences.push_back(in_words(fault));
  }
  return sentences;
}

zmq::socket_t watch_connections(zmq::context_t& context, zmq::socket_t& socket) {
  static std::atomic<std::uint64_t> count{0};
  const std::string address = "inproc://connections-" + std::to_string(++count);
  constexpr int watched = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL;
  if (zmq_socket_monitor(socket.handle(), address.c_str(), watched) != 0) throw zmq::error_t();
  zmq::socket_t events(context, zmq::socket_type::pair);
  events.set(zmq::sockopt::linger, 0);
  events.set(zmq::sockopt::rcvhwm, 0);  // ZeroMQ's thread would wait for whoever reads them.
  events.connect(address);
  return events;
}

}  // namespace sluice
