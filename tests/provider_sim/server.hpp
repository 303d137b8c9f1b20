#pragma once

#include "common/error.hpp"
#include "tests/provider_sim/file_descriptor.hpp"
#include "tests/provider_sim/http_parser.hpp"
#include "tests/provider_sim/reply.hpp"
#include "tests/provider_sim/timer_queue.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace sluice::sim {

/// A single-threaded HTTP/1.1 server on epoll (edge-triggered), on loopback. Requests of one connection are
/// answered one after the other, pipelined ones included.
class Server {
 public:
  /// `service` must outlive the server; `keep_alive_max` requests close a connection (0: no limit).
  Server(Service& service, std::uint64_t keep_alive_max);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Binds 127.0.0.1; port 0 picks one. The port that is bound.
  Result<std::uint16_t> listen(std::uint16_t port);
  /// Serves until SIGTERM or SIGINT, which the caller must have blocked (block_signals).
  Result<void> run();

 private:
  enum class Phase : std::uint8_t {
    reading,   ///< Waits for a request.
    waiting,   ///< Has a reply that is not due, or never will be.
    sending,   ///< Has a reply that did not fit into the socket's buffer.
    lingering  ///< Has sent its last byte; reads and drops what still comes, so that no reset overtakes it.
  };
  struct Connection {
    FileDescriptor socket;
    std::uint32_t index = 0;
    std::uint64_t number = 0;      ///< Counts accepted connections from 1.
    std::uint64_t generation = 0;  ///< Distinguishes late timers from current ones.
    std::uint64_t requests = 0;
    Phase phase = Phase::reading;
    bool readable = false;  ///< There may be more to read than was read.
    bool peer_closed = false;
    std::size_t sent = 0;
    HttpParser parser;
    Reply reply;
  };

  Result<void> watch(int fd, std::uint64_t tag, std::uint32_t events);
  void accept_all();
  void on_event(std::uint32_t index, std::uint32_t events);
  void advance(Connection& connection);
  bool read_request(Connection& connection);
  bool read_some(Connection& connection);
  bool serve(Connection& connection);
  bool give_reply(Connection& connection);
  bool send_reply(Connection& connection);
  bool after_reply(Connection& connection);
  void linger(Connection& connection);
  void drain(Connection& connection);
  void close(Connection& connection, bool gone);
  void fire_timers();
  void tick(std::int64_t now_us);
  void become_unreachable();
  void arm_timer();

  Service& service_;
  std::uint64_t keep_alive_max_;
  std::uint16_t port_ = 0;
  FileDescriptor listener_;
  FileDescriptor epoll_;
  FileDescriptor timer_;
  FileDescriptor signals_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<std::uint32_t> free_indices_;
  std::uint64_t accepted_ = 0;
  std::uint64_t generations_ = 0;
  TimerQueue timers_;
  std::int64_t armed_for_us_ = 0;
};

/// Blocks SIGTERM and SIGINT for `Server::run` and ignores SIGPIPE.
void block_signals();
/// CLOCK_MONOTONIC in microseconds.
std::int64_t monotonic_us();

}  // namespace sluice::sim
