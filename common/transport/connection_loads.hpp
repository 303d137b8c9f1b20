#pragma once

#include "common/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace sluice {

/// What waits in this process's memory for each connection of a socket: bytes that came and are in no message
/// that was read, and bytes of messages for the peer that have not left. Says which connections are to be
/// cut. Pure: time and the system's counts are arguments; not thread-safe.
class ConnectionLoads {
 public:
  /// Of the system, in bytes since the connection's beginning.
  struct Counts {
    std::uint64_t received = 0;
    std::uint64_t acknowledged = 0;  ///< By the peer's system, of what was sent to it.
  };
  enum class Fault : std::uint8_t {
    sends_too_much,     ///< And no message of it ends, or more than can be read.
    does_not_read,      ///< What it is sent.
    fills_memory,       ///< Its unread bytes take many times their number, as parts of nothing do.
    has_most_of_total,  ///< All connections together have too much.
  };
  struct Cut {
    int connection = 0;
    Fault fault{};
  };

  /// A connection came, perhaps under the number of one that has gone.
  void open(int connection) { loads_.insert_or_assign(connection, Load()); }
  void close(int connection) { loads_.erase(connection); }
  /// A whole message was read that took so many bytes on the wire, or rather fewer than that.
  void on_read(int connection, std::size_t bytes);
  /// A message was handed to ZeroMQ.
  void on_sent(int connection, std::size_t bytes);
  /// Handed over since the last `check`, of all.
  std::size_t sent_since_check() const { return sent_since_check_; }

  std::vector<int> connections() const;
  /// The system's counts of each connection that is there; others have gone. `memory`: what the process
  /// takes, in bytes. What is cut counts no more.
  std::vector<Cut> check(const std::map<int, Counts>& counts, std::uint64_t memory, TimePoint now);

 private:
  struct Load {
    std::uint64_t read = 0;
    std::uint64_t sent = 0;
    std::uint64_t unread = 0;  ///< As last counted, like `untaken`.
    std::uint64_t untaken = 0;
    std::uint64_t taken_before = 0;  ///< Acknowledged when the second began in which it is to take something.
    TimePoint since{};
    std::uint64_t waiting() const { return unread + untaken; }
  };

  static void count(Load& load, const Counts& counts, TimePoint now);
  void cut_largest(std::vector<Cut>& cuts);
  void cut_who_fills(std::uint64_t memory, std::vector<Cut>& cuts);

  std::map<int, Load> loads_;
  std::uint64_t quiet_memory_ = 0;  ///< When the connections had not much unread; 0: not known.
  std::uint64_t last_memory_ = 0;
  std::uint64_t most_waiting_ = 0;  ///< Since then: an allocator keeps what is freed.
  std::size_t sent_since_check_ = 0;
};

}  // namespace sluice
