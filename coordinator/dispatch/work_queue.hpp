#pragma once

#include "common/model/trial.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace sluice {

/// A worker process: the random instance id of its HELLO.
using WorkerId = std::uint64_t;

/// What decides where a unit would rather run.
struct UnitAffinity {
  std::uint64_t key_hash = 0;  ///< Leading bytes of the cache key: rendezvous hashing.
  std::uint32_t holder =
      0;  ///< 1 + index into the known cache ids of the one that holds the answer; 0: nobody.
};

/// The units that wait for a worker, each in the queue of the worker that suits it best: the one whose cache
/// holds its answer, else the one that rendezvous hashing names. A worker whose own queue is empty takes from
/// the longest other one. What a worker has missed (its cache lacks the answer) never waits for it again.
/// Each unit is put in, taken and found without a walk over the others. Pure; not thread-safe.
class WorkQueue {
 public:
  /// All units wait at first. `holders` are the cache ids that UnitAffinity::holder counts.
  WorkQueue(std::vector<UnitAffinity> units, std::vector<std::string> holders);
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// A worker that could take units from now on; units are dealt anew.
  void add_worker(WorkerId worker, const std::string& cache_id);
  /// It takes no more, and what it has missed is forgotten. What waited for it waits for others; returned are
  /// the units, ascending, that all the others have missed: they wait no more.
  std::vector<UnitId> remove_worker(WorkerId worker);

  /// Units whose answer is in a cache that has never been there wait for it, until `end_wait_for_holders`.
  void wait_for_holders();
  /// A cache is there, with a worker that takes no units: it can lend them.
  void add_lender(const std::string& cache_id);
  void end_wait_for_holders();
  /// The number of units that wait for the holder of their answers.
  std::size_t waiting_for_holders() const { return absent_.size; }

  /// Puts a unit (back) into the queue of its best worker, at the front, since it has waited before. False,
  /// and it does not wait, if every worker that is there has missed it.
  bool push(UnitId unit);
  /// The next unit for this worker, its own first.
  std::optional<UnitId> pop(WorkerId worker);
  /// Takes one unit out wherever it waits; false if it does not wait.
  bool remove(UnitId unit);

  /// The worker must not get this unit again. One that waits is to be removed and pushed anew.
  void add_miss(WorkerId worker, UnitId unit) { misses_[unit].insert(worker); }
  void forget_misses(UnitId unit) { misses_.erase(unit); }

  /// Id of the cache that holds the unit's answer; empty if none is known to.
  const std::string& cache_of(UnitId unit) const;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// How many units `pop` has looked at so far: its cost.
  std::uint64_t looked_at() const { return looked_at_; }

 private:
  static constexpr UnitId none = std::numeric_limits<UnitId>::max();

  /// Linked through the nodes of its units.
  struct List {
    UnitId first = none;
    UnitId last = none;
    std::size_t size = 0;
  };
  struct Node {
    List* list = nullptr;  ///< Where the unit waits; null: it does not.
    UnitId before = none;
    UnitId after = none;
  };
  struct Queue {
    std::string cache_id;
    std::uint64_t cache_hash = 0;
    List fresh;   ///< Missed by nobody.
    List missed;  ///< Missed by others.
    std::size_t size() const { return fresh.size + missed.size; }
  };

  bool has_missed(WorkerId worker, UnitId unit) const;
  bool awaits_holder(UnitId unit) const;
  Queue* best_queue(UnitId unit);
  std::optional<UnitId> pop_from(WorkerId worker, Queue& other);
  std::vector<UnitId> take_all();
  std::vector<UnitId> deal(const std::vector<UnitId>& units);
  bool put(UnitId unit, bool in_front);
  void insert(List& list, UnitId unit, bool in_front);
  UnitId take(UnitId unit);

  std::vector<UnitAffinity> affinities_;
  std::vector<std::string> holders_;
  std::vector<Node> nodes_;
  std::unordered_map<WorkerId, Queue> queues_;  ///< Nodes point into it: its elements stay where they are.
  std::unordered_map<UnitId, std::set<WorkerId>> misses_;
  List homeless_;  ///< Waiting while there is no worker at all.
  List absent_;    ///< Waiting for the holder of their answers.
  bool wait_for_holders_ = false;
  std::set<std::string> caches_seen_;
  std::size_t size_ = 0;
  std::uint64_t looked_at_ = 0;
};

}  // namespace sluice
