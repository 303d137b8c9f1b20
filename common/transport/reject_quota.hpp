#pragma once

#include "common/clock.hpp"
#include "common/defaults.hpp"
#include "common/transport/envelopes.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <unordered_map>

namespace sluice {

/// How many REJECTs may be sent: so many at once to one peer and to all, and then so many a second. A peer
/// that knows the protocol needs one; what waits for one that floods and never reads is bounded. Pure; not
/// thread-safe.
class RejectQuota {
 public:
  /// True if one may go to this peer now.
  bool take(const Peer& peer, TimePoint now) {
    refill(all_, defaults::max_rejects, defaults::rejects_per_second, now);
    if (all_.left < 1) return false;
    // Who is forgotten begins anew, within what all may have.
    if (by_peer_.size() >= defaults::max_rejected_peers) by_peer_.clear();
    auto& one = by_peer_.try_emplace(peer, Bucket{defaults::max_rejects_to_one, now}).first->second;
    refill(one, defaults::max_rejects_to_one, defaults::rejects_to_one_per_second, now);
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

  static void refill(Bucket& bucket, double most, double per_second, TimePoint now) {
    const auto passed = std::chrono::duration<double>(now - bucket.since).count();
    bucket.left = std::min(most, bucket.left + std::max(passed, 0.0) * per_second);
    bucket.since = now;
  }

  Bucket all_{defaults::max_rejects, {}};
  std::unordered_map<Peer, Bucket> by_peer_;
};

}  // namespace sluice
