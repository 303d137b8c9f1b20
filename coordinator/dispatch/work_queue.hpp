#pragma once

#include "common/trial.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace sluice {

/// A worker process: the random instance id of its HELLO.
using WorkerId = std::uint64_t;

/// What decides where a unit would rather run (delivery.md, "The cache in a fleet").
struct UnitAffinity {
  std::uint64_t key_hash = 0;  ///< Leading bytes of the cache key: rendezvous hashing.
  std::uint32_t holder =
      0;  ///< 1 + index into the known cache ids of the one that holds the answer; 0: nobody.
};

/// The units that wait for a worker, each in the queue of the worker that suits it best: the one whose cache
/// holds its answer, else the one that rendezvous hashing names. A worker whose own queue is empty takes from
/// the longest other one. Pure; not thread-safe.
class WorkQueue {
 public:
  /// All units wait at first. `holders` are the cache ids that UnitAffinity::holder counts.
  WorkQueue(std::vector<UnitAffinity> units, std::vector<std::string> holders);

  /// A worker that could take units from now on; units are dealt anew.
  void add_worker(WorkerId worker, const std::string& cache_id);
  /// It takes no more; what waited for it waits for others.
  void remove_worker(WorkerId worker);

  /// Puts a unit (back) into the queue of its best worker for which `allowed` holds; at the front, since it
  /// has waited before. False if no worker is allowed.
  bool push(UnitId unit, const std::function<bool(WorkerId)>& allowed);
  /// The next unit for this worker, its own first, for which `allowed` holds.
  std::optional<UnitId> pop(WorkerId worker, const std::function<bool(UnitId)>& allowed);

  /// Takes one unit out wherever it waits; false if it does not wait. Costs a walk over what waits.
  bool remove(UnitId unit);

  /// Id of the cache that holds the unit's answer; empty if none is known to.
  const std::string& cache_of(UnitId unit) const;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  struct Queue {
    std::string cache_id;
    std::uint64_t cache_hash = 0;
    std::deque<UnitId> units;
  };

  Queue* best_queue(UnitId unit, const std::function<bool(WorkerId)>& allowed);
  void deal(std::vector<UnitId> units);
  std::vector<UnitId> take_all();

  std::vector<UnitAffinity> affinities_;
  std::vector<std::string> holders_;
  std::unordered_map<WorkerId, Queue> queues_;
  std::deque<UnitId> homeless_;  ///< Waiting while there is no worker at all.
  std::size_t size_ = 0;
};

}  // namespace sluice
