#pragma once

#include "common/model/trial.hpp"
#include "coordinator/dispatch/cell_order.hpp"
#include "coordinator/facts/worker_id.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace sluice {

/// What decides where a unit would rather run.
struct UnitAffinity {
  std::uint64_t key_hash = 0;  ///< Leading bytes of the cache key: rendezvous hashing.
  /// 1 + index into the known cache ids of the one that holds the answer; 0: nobody.
  std::uint32_t holder = 0;
};

/// The units that wait for a worker, each in the queue of the worker that suits it best: the one whose cache
/// holds its answer, else the one that rendezvous hashing names. A worker whose own queue is empty takes from
/// the longest other one (to an eighth of its length), and of that what is late. What a worker has missed
/// (its cache lacks the answer) never waits for it again. Units of one holder whose keys hash alike are a
/// cell, which is dealt whole: a worker that comes or goes moves cells, of which there are no more than
/// `defaults::dispatch_cells` (and one a holder) however many units there are. A unit is put in, taken and
/// found without a walk over units or workers, unless some have missed it. Pure; not thread-safe.
class WorkQueue {
 public:
  /// All units wait at first. `holders` are the cache ids that UnitAffinity::holder counts.
  WorkQueue(const std::vector<UnitAffinity>& units, std::vector<std::string> holders);
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// A worker that could take units from now on; it gets the cells that suit it best. REQUIRES: it is new, or
  /// was removed.
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
  std::size_t waiting_for_holders() const { return absent_; }

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
  bool has_missed(WorkerId worker, UnitId unit) const;

  /// Id of the cache that holds the unit's answer; empty if none is known to.
  const std::string& cache_of(UnitId unit) const;

  std::size_t size() const { return size_; }
  /// How many units `pop` has looked at so far: its cost.
  std::uint64_t looked_at() const { return looked_at_; }

 private:
  static constexpr UnitId none = std::numeric_limits<UnitId>::max();
  static constexpr CellId no_cell = std::numeric_limits<CellId>::max();

  struct Queue;
  /// Linked through the nodes of its units.
  struct List {
    UnitId first = none;
    UnitId last = none;
    std::size_t size = 0;
    Queue* queue = nullptr;  ///< Whose units these are; null: nobody's.
    CellId cell = no_cell;   ///< The cell that it is the list of, if it is one's.
  };
  struct Node {
    List* list = nullptr;  ///< Where the unit waits; null: it does not.
    UnitId before = none;
    UnitId after = none;
  };
  /// How well a worker suits a cell: it holds the answers, else by hash. Workers of one process share a cache
  /// and so a hash: the instance id decides, spread by the key.
  struct Rank {
    bool holds = false;
    std::uint64_t by_cache = 0;
    std::uint64_t by_worker = 0;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };
  struct Cell {
    List units;              ///< In plan order, which is that of unit numbers.
    std::uint64_t hash = 0;  ///< Stands for the keys of its units.
    Rank rank;               ///< Of the worker that it was dealt to.
    bool awaits_holder = false;
  };
  struct Queue {
    WorkerId worker = 0;
    std::string cache_id;
    std::uint64_t cache_hash = 0;
    std::uint32_t holder = 0;  ///< As UnitAffinity::holder counts; 0: its cache held no answer.
    /// Those of its cells that have units, by the first: together they are in plan order.
    CellOrder cells;
    List missed{};                  ///< Missed by others.
    List returned{};                ///< Pushed back, and missed by nobody.
    std::size_t size = 0;           ///< Of all these, ...
    std::size_t size_in_short = 0;  ///< ... to an eighth.
  };
  struct IsLonger {
    bool operator()(const Queue* a, const Queue* b) const;
  };

  Rank rank_of(CellId cell, const Queue& queue) const;

  void deal(CellId cell);
  void hand_over(CellId cell, Queue* queue, const Rank& rank);
  void set_awaits_holder(CellId cell, bool awaits);
  std::uint32_t holder_number(const std::string& cache_id) const;
  void deal_what_waits_for_holders();
  void place(UnitId unit);
  Queue* best_queue_for_missed(UnitId unit);
  std::optional<UnitId> pop_from(WorkerId worker, Queue& other);

  void insert(List& list, UnitId unit, bool in_front);
  UnitId take(UnitId unit);
  void on_change(List& list, UnitId first_before, std::ptrdiff_t more);
  void set_size(Queue& queue, std::size_t size);

  std::vector<std::string> holders_;
  std::unordered_map<std::string, std::uint32_t> holder_numbers_;  ///< As UnitAffinity::holder counts.
  std::uint32_t cells_a_holder_ = 1;
  std::vector<Cell> cells_;  ///< Those without a holder first, then each holder's.
  std::vector<CellId> cell_of_;
  CellOrder::Places places_;
  std::vector<Node> nodes_;
  /// Lists and `longest_` point into it: its elements stay where they are.
  std::unordered_map<WorkerId, Queue> queues_;
  std::set<Queue*, IsLonger> longest_;
  std::unordered_map<UnitId, std::set<WorkerId>> misses_;
  bool wait_for_holders_ = false;
  std::vector<bool> holder_seen_;  ///< By holder: its cache is or was there.
  std::size_t absent_ = 0;
  std::size_t size_ = 0;
  std::uint64_t looked_at_ = 0;
};

}  // namespace sluice
