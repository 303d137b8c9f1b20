#include "common/transport/connection_loads.hpp"

#include "common/transport/defaults.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

using namespace std::chrono_literals;

void ConnectionLoads::on_read(int connection, std::size_t bytes) {
  if (const auto found = loads_.find(connection); found != loads_.end()) found->second.read += bytes;
}

void ConnectionLoads::on_sent(int connection, std::size_t bytes) {
  const auto found = loads_.find(connection);
  if (found == loads_.end()) return;
  found->second.sent += bytes;
  sent_since_check_ += bytes;
}

std::vector<int> ConnectionLoads::connections() const {
  std::vector<int> all;
  for (const auto& [connection, load] : loads_) all.push_back(connection);
  return all;
}

/// What the wire adds to messages is known about only: nothing is ever owed for it.
void ConnectionLoads::count(Load& load, const Counts& counts, TimePoint now) {
  load.read = std::min(load.read, counts.received);
  load.sent = std::max(load.sent, counts.acknowledged);
  load.unread = counts.received - load.read;
  load.untaken = load.sent - counts.acknowledged;
  const bool takes = counts.acknowledged - load.taken_before >= defaults::least_taken_bytes;
  if (takes || load.untaken <= defaults::max_untaken_bytes_of_one || load.since == TimePoint()) {
    load.taken_before = counts.acknowledged;
    load.since = now;
  }
}

std::vector<ConnectionLoads::Cut> ConnectionLoads::check(const std::map<int, Counts>& counts,
                                                         std::uint64_t memory, TimePoint now) {
  sent_since_check_ = 0;
  std::erase_if(loads_, [&](const auto& entry) { return !counts.contains(entry.first); });
  std::vector<Cut> cuts;
  for (auto& [connection, load] : loads_) {
    count(load, counts.at(connection), now);
    if (load.unread > defaults::max_unread_bytes_of_one) {
      cuts.push_back({connection, Fault::sends_too_much});
    } else if (load.untaken > defaults::max_untaken_bytes_of_one && now - load.since >= 1s) {
      cuts.push_back({connection, Fault::does_not_read});
    }
  }
  for (const auto& cut : cuts) loads_.erase(cut.connection);
  cut_largest(cuts);
  cut_who_fills(memory, cuts);
  return cuts;
}

/// Bytes on the wire say little of a message of many parts: each takes what a part takes, be it empty. What
/// the process grew by beyond the bytes that wait is put down to whoever has most unread; and at each look to
/// the next, as long as it grows: ZeroMQ may be long in freeing what the first had.
void ConnectionLoads::cut_who_fills(std::uint64_t memory, std::vector<Cut>& cuts) {
  std::uint64_t unread = 0;
  std::uint64_t waiting = 0;
  for (const auto& [connection, load] : loads_) {
    unread += load.unread;
    waiting += load.waiting();
  }
  const bool grows = memory > std::exchange(last_memory_, memory);
  most_waiting_ = std::max(most_waiting_, waiting);
  if (unread < defaults::much_unread_bytes || quiet_memory_ == 0) {
    quiet_memory_ = memory;
    most_waiting_ = waiting;
    return;
  }
  if (!grows || memory <= quiet_memory_ + 2 * most_waiting_ + defaults::max_unexplained_bytes) return;
  const auto fullest =
      std::ranges::max_element(loads_, {}, [](const auto& entry) { return entry.second.unread; });
  cuts.push_back({fullest->first, Fault::fills_memory});
  loads_.erase(fullest);
}

void ConnectionLoads::cut_largest(std::vector<Cut>& cuts) {
  std::uint64_t total = 0;
  for (const auto& [connection, load] : loads_) total += load.waiting();
  while (total > defaults::max_waiting_bytes) {
    const auto largest =
        std::ranges::max_element(loads_, {}, [](const auto& entry) { return entry.second.waiting(); });
    total -= largest->second.waiting();
    cuts.push_back({largest->first, Fault::has_most_of_total});
    loads_.erase(largest);
  }
}

}  // namespace sluice
