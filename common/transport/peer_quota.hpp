#pragma once

#include "common/clock.hpp"
#include "common/transport/defaults.hpp"
#include "common/transport/envelopes.hpp"

#include <algorithm>
#include <chrono>
#include <unordered_map>

namespace sluice {

/// How many messages of a kind may be answered: so many at once of one peer and of all, and then so many a
/// second. A peer that knows the protocol needs few; what waits for one that floods and never reads is
/// bounded. Pure; not thread-safe.
class PeerQuota {
 public:
  struct Rate {
    double at_once = 0;
    double per_second = 0;
  };

  PeerQuota(Rate of_one, Rate of_all) : one_(of_one), rate_(of_all), all_{of_all.at_once, {}} {}

  /// True if one of this peer may be answered now.
  bool take(const Peer& peer, TimePoint now) {
    refill(all_, rate_, now);
    if (all_.left < 1) return false;
    // Who is forgotten begins anew, within what all may have.
    if (by_peer_.size() >= defaults::max_counted_peers) by_peer_.clear();
    auto& one = by_peer_.try_emplace(peer, Bucket{one_.at_once, now}).first->second;
    refill(one, one_, now);
    if (one.left < 1) return false;
    --one.left;
    --all_.left;
    return true;
  }

 private:
  struct Bucket {
    double left = 0;
    TimePoint since{};
  };

  static void refill(Bucket& bucket, const Rate& rate, TimePoint now) {
    const auto passed = std::chrono::duration<double>(now - bucket.since).count();
    bucket.left = std::min(rate.at_once, bucket.left + std::max(passed, 0.0) * rate.per_second);
    bucket.since = now;
  }

  Rate one_;
  Rate rate_;
  Bucket all_;
  std::unordered_map<Peer, Bucket> by_peer_;
};

}  // namespace sluice
