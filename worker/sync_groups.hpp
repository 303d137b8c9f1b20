#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/model/result.hpp"
#include "common/wire/messages.hpp"
#include "worker/units/completed_unit.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace sluice {

/// What a turn has brought about that tells others of stored entries, or of what they cost.
struct StoredNews {
  std::vector<CompletedUnit> completed;
  std::vector<UnitId> returned;
  std::vector<UnitSpend> spent;
  std::vector<wire::ToCoordinator> entries;  ///< SEEK and STORED.

  bool empty() const;
  void append(StoredNews more);
};

/// Has nobody learn of an entry that a loss of power could still take (docs/durability.md, "Power loss"):
/// news waits until all that was stored before it is on the disk. A sync takes some 10 ms however much it
/// takes along, so there is one for a group: what came within `defaults::sync_group_time`, or
/// `defaults::sync_group_units`, and one at a time. Where nothing is unsynced, nothing waits. Pure: time is
/// an argument. Not thread-safe.
class SyncGroups {
 public:
  /// `unsynced`: the store holds something that is not known to be on the disk.
  void add(StoredNews news, bool unsynced, TimePoint now);
  /// A sync is to begin now, whose end comes to `on_synced`.
  bool begin_sync(TimePoint now);
  /// Of a failed one nothing that it was for is said to be stored: units end with the error, and keys that
  /// were left to this worker are given up.
  void on_synced(const Result<void>& synced);
  /// What may be said now.
  StoredNews take() { return std::exchange(ready_, {}); }
  /// Nothing waits for a sync.
  bool empty() const { return !syncing_ && !closes_; }
  /// When the open group closes; nothing while none is open, or another one is being synced.
  std::optional<TimePoint> wake() const { return syncing_ ? std::nullopt : closes_; }
  /// The run is over: nothing is said any more.
  void clear();

 private:
  StoredNews ready_, syncing_news_, open_;
  std::optional<TimePoint> closes_;  ///< The open group; nothing: none is.
  bool syncing_ = false;
  bool refused_ = false;  ///< By the disk, which is for good.
};

}  // namespace sluice
