#pragma once

#include "common/clock.hpp"
#include "coordinator/dispatch/work_queue.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace sluice {

/// The rules of delivery (docs/protocol.md) as one state machine: who is there, who holds which unit, what is
/// lost, what is settled. Takes time as an argument; knows neither sockets nor actors. Not thread-safe.
///
/// A unit is pending, leased or settled. It may be settled at any time by whoever has its result committed
/// first: a lease says who is expected to work, not who may. From the moment in which a result is handed to
/// the recorder nobody else gets its unit.
class Dispatcher {
 public:
  struct Config {
    std::chrono::milliseconds heartbeat_interval{};
    std::uint32_t liveness = 3;              ///< Silent heartbeats until a worker counts as lost.
    std::uint32_t max_losses = 3;            ///< Then a unit is provisionally lost.
    std::chrono::milliseconds lease_time{};  ///< How long a unit may take at a live worker.
  };

  Dispatcher(Config config, const std::vector<UnitAffinity>& units, std::vector<std::string> holders);

  // --- the roster ---
  /// A worker is there (READY). `held` are the units that it still works on: those that are not
  /// settled and not leased to another are its leases (again). Any other lease it had is over, without a
  /// loss.
  void join(WorkerId worker, const std::string& cache_id, const std::vector<UnitId>& held, TimePoint now);
  /// It sent GOODBYE: its leases are free at once.
  void leave(WorkerId worker);
  /// To be said before it leaves: it could not read all that it was leased. What it has not begun is
  /// suspected until somebody begins with it, and while anything is, each worker is leased one unit at a
  /// time: so the next one that leaves like this tells which unit it was. The worker may join again: it gets
  /// none of what it suspects while somebody else may read it. Returned are the units that now
  /// `defaults::max_unread` workers could not read, or the only one that is there so many times: they are to
  /// be failed.
  std::vector<UnitId> suspect_unread(WorkerId worker);
  bool knows(WorkerId worker) const { return workers_.contains(worker); }
  std::size_t worker_count() const { return workers_.size(); }
  /// Of these: who holds no unit.
  std::size_t idle_count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(workers_, [](const auto& entry) { return entry.second.held.empty(); }));
  }
  /// Any message of a worker is a sign of life.
  void on_message(WorkerId worker, TimePoint now);

  // --- leases ---
  /// How many units the worker wants to hold, those whose results are not acknowledged included.
  /// Beyond defaults::max_window it counts as that.
  void set_window(WorkerId worker, std::uint32_t window);
  /// The workers whose windows have room, ascending.
  const std::set<WorkerId>& with_room() const { return with_room_; }
  /// Leases up to `limit` units to the worker, as far as its window has room.
  std::vector<UnitId> lease(WorkerId worker, std::size_t limit, TimePoint now);
  /// The worker began with the unit: from now on its loss counts, and its time runs anew.
  void started(WorkerId worker, UnitId unit, TimePoint now);
  /// The unit has a result that is on its way into the ledger: it is leased to nobody until it is settled.
  /// False if it had one before.
  bool begin_recording(UnitId unit);
  /// The unit's result is committed. False if it was settled before.
  bool settle(UnitId unit);
  /// The worker answered this unit (settled, duplicate or a miss), and no longer holds it.
  void release(WorkerId worker, UnitId unit);
  /// The worker gives back this unit, for which it has paid nothing.
  void give_back(WorkerId worker, UnitId unit);
  /// The worker's cache does not hold the unit's answer (cached mode): offered to the others, and final when
  /// every connected worker has missed it.
  void missed(WorkerId worker, UnitId unit);

  /// The worker waits for the coordinator (a permit, a pause, an outage), so that its units cannot get on:
  /// their time runs anew.
  void excuse(WorkerId worker, TimePoint now);
  /// Id of the cache that holds the unit's answer; empty if none is known to.
  const std::string& cache_of(UnitId unit) const { return queue_.cache_of(unit); }
  /// Who has the unit's lease.
  std::optional<WorkerId> holder_of(UnitId unit) const;
  struct ReturnedLease {
    WorkerId worker = 0;
    UnitId unit = 0;
  };
  /// The leases since the last call that ended before their worker had begun with the unit.
  std::vector<ReturnedLease> take_returned();

  /// Units whose answers a cache holds that is not there wait for it: see WorkQueue.
  void wait_for_holders() { queue_.wait_for_holders(); }
  void add_lender(const std::string& cache_id) { queue_.add_lender(cache_id); }
  void end_wait_for_holders() { queue_.end_wait_for_holders(); }
  std::size_t waiting_for_holders() const { return queue_.waiting_for_holders(); }

  // --- time ---
  struct Tick {
    std::vector<WorkerId> lost;   ///< Silent for too long.
    std::vector<UnitId> expired;  ///< Held too long by a live worker.
    std::size_t leases_lost =
        0;  ///< By silence or expiry, begun or not, without those whose results have come.
    bool clocks_restarted = false;  ///< This tick came late: the coordinator itself was away.
  };
  /// Once a heartbeat interval, and only after the socket has been drained.
  Tick tick(TimePoint now);

  // --- what is left ---
  /// True when every unit is settled, provisionally lost or finally missed.
  bool finished() const;
  /// The same, but for results that are on their way into the ledger: no worker is needed any more.
  bool all_answered() const;
  std::size_t settled_count() const { return settled_; }
  std::size_t pending_count() const { return queue_.size(); }
  std::size_t leased_count() const { return leases_.size(); }
  /// Of the leased units: which a worker has begun with, and which it has not. One whose result is on its way
  /// into the ledger is neither.
  std::size_t started_count() const { return started_; }
  std::size_t waiting_count() const { return leases_.size() - started_ - recording_leases_; }
  /// Units whose results are on their way into the ledger.
  std::size_t recording_count() const { return recording_; }
  bool is_settled(UnitId unit) const { return units_[unit].settled; }
  /// How many units were looked at for leases so far: their cost.
  std::uint64_t looked_at() const { return queue_.looked_at(); }
  /// Units that no connected worker could answer from its cache, ascending.
  std::vector<UnitId> missed_units() const;
  /// Units without a result that a worker has begun with, though it may be gone meanwhile; ascending.
  std::vector<UnitId> begun_units() const;
  /// Some unit without a result was under way at a worker that left or was lost before it said what came of
  /// it, or still is.
  bool has_cut_off() const { return started_ > 0 || !cut_off_.empty(); }
  /// Units given up after too many losses, ascending.
  std::vector<UnitId> lost_units() const { return {lost_units_.begin(), lost_units_.end()}; }

 private:
  static constexpr std::uint32_t no_lease = std::numeric_limits<std::uint32_t>::max();
  struct Unit {
    bool settled = false;
    bool recording = false;
    bool begun = false;
    std::uint8_t losses = 0;
    std::uint32_t lease = no_lease;  ///< Where its lease stands.
  };
  struct Lease {
    UnitId unit = 0;
    WorkerId worker = 0;
    bool started = false;
    TimePoint deadline;
  };
  struct Worker {
    TimePoint last_message_at;
    std::uint32_t window = 0;
    std::set<UnitId> held;  ///< Leased, or answered and not yet released.
    TimePoint excused;      ///< When all its leases were extended last,
    TimePoint began;        ///< and those that wait behind a unit that it began with.
  };

  enum class Ending : std::uint8_t { given_back, worker_lost, expired };
  void end_lease(UnitId unit, Ending ending);
  void requeue(UnitId unit);
  enum class Extended : std::uint8_t { all, not_started };
  /// Gives leases of the worker their whole time again; not oftener than once a heartbeat interval.
  void extend(WorkerId worker, TimePoint Worker::*last, Extended which, TimePoint now);
  bool is_answered(UnitId unit) const { return units_[unit].settled || units_[unit].recording; }
  /// The number of leases that ended with it, without those whose results have come.
  std::size_t drop_worker(WorkerId worker, Ending ending);
  void add_lease(WorkerId worker, UnitId unit, TimePoint now);
  /// `no_lease` of a unit that nobody has, or that is none of the run's.
  std::uint32_t place_of_lease(UnitId unit) const;
  /// The unit's lease, if this worker has it; else null.
  Lease* lease_of(UnitId unit, WorkerId worker);
  /// It has this lease, and has not said that it began.
  bool is_unbegun(WorkerId worker, UnitId unit);
  /// False if there is none.
  bool erase_lease(UnitId unit);
  /// Somebody is there who may bring the result of a suspected unit, and has not failed to read it.
  bool others_may_read(UnitId unit) const;
  /// One that the worker could not read, perhaps, and others may.
  bool is_for_others(WorkerId worker, UnitId unit) const;
  void note_room(WorkerId worker, const Worker& state);
  std::vector<UnitId> overdue(TimePoint now);

  Config config_;
  std::vector<Unit> units_;
  WorkQueue queue_;
  std::vector<Lease> leases_;  ///< In any order.
  std::unordered_map<WorkerId, Worker> workers_;
  std::set<WorkerId> with_room_;
  std::optional<TimePoint> first_deadline_;  ///< No lease ends before it: they only get more time.
  std::set<UnitId> finally_missed_;
  std::set<UnitId> lost_units_;
  std::set<UnitId> cut_off_;  ///< Begun at workers that are gone, and without a result yet.
  std::map<UnitId, std::set<WorkerId>> unread_;  ///< Those suspected, with who could not read them.
  std::vector<ReturnedLease> returned_;
  std::size_t settled_ = 0;
  std::size_t recording_ = 0;
  // Of the leases:
  std::size_t started_ = 0;  ///< Without those of units that are being recorded.
  std::size_t recording_leases_ = 0;
  std::optional<TimePoint> last_tick_;
};

}  // namespace sluice
