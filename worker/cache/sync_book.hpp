#pragma once

#include "common/error.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

namespace sluice {

/// What of a cache is on the disk for good: writes are noted, and a sync is made once for all that had ended
/// when it began. What earlier processes wrote counts as one write. Pure; thread-safe.
class SyncBook {
 public:
  /// An entry can be read before its write has ended: both ends are noted, that of a failed one too.
  void write_begins() { ++begun_; }
  void write_ended() { ++ended_; }

  /// Whether a write began that no sync has seen.
  bool has_unsynced() const { return synced_ < begun_; }

  /// Returns once all writes that have ended are synced, together with those of other threads. `sync_earlier`
  /// is called with the first sync alone, before it, and `sync_now` with each; not at all where nothing is
  /// unsynced. A failure of either stays: what a disk has refused once may be gone, though it takes the rest.
  template <class SyncEarlier, class SyncNow>
  Result<void> sync(const SyncEarlier& sync_earlier, const SyncNow& sync_now) {
    const std::lock_guard one_at_a_time(one_sync_);
    if (!has_unsynced()) return {};
    const std::uint64_t wanted = ended_;
    if (!outcome_) outcome_ = sync_earlier();
    if (*outcome_) *outcome_ = sync_now();
    if (*outcome_) synced_ = wanted;
    return *outcome_;
  }

 private:
  std::atomic<std::uint64_t> begun_ = 1;
  std::atomic<std::uint64_t> ended_ = 1;
  std::atomic<std::uint64_t> synced_ = 0;  ///< So many of those that had ended.
  std::mutex one_sync_;
  std::optional<Result<void>> outcome_;  ///< Of all until now; nothing: there was none yet.
};

}  // namespace sluice
