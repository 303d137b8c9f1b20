#pragma once

#include "common/clock.hpp"
#include "common/transport/envelopes.hpp"
#include "coordinator/facts/run_facts.hpp"
#include "coordinator/facts/worker_id.hpp"
#include "coordinator/run/effects.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sluice {

/// The workers of a run: who is connected at which peer, and who has ever been. Pure: time is an argument.
/// Not thread-safe.
class WorkerRoster {
 public:
  struct Worker {
    Peer peer;
    wire::Hello hello;
    std::optional<Error> problem;  ///< It cannot call the run's providers, and gets no work.
    TimePoint last_message_at;     ///< Counts while it takes no work; the dispatcher watches the others.
    bool ready = false;            ///< Its READY has come.
  };

  /// `units`: how many the run has. One worker counts as leased no more than each of them once.
  explicit WorkerRoster(std::size_t units) : units_(units) {}

  /// Whether there is room for the worker.
  bool has_room_for(const wire::Hello& hello) const;
  /// A HELLO has come, and has_room_for it. True if the worker was connected already and begins anew, perhaps
  /// at another peer. Another one at this peer must have been removed.
  bool admit(const Peer& peer, const wire::Hello& hello, TimePoint now);
  /// A warning if another process' worker of another name is connected with the same cache id: only one
  /// process has a folder, so that one of the two is a copy. Once while that one is connected. Of one of the
  /// same name `on_message` says it: that one may just have ended. To ask before `admit`.
  std::optional<LogNote> take_copied_cache(const wire::Hello& hello, TimePoint now);
  /// It leaves, or is let go, before `remove`: for the log, and for who asks later why nobody is there.
  LogNote take_farewell(WorkerId worker, const std::string& why);
  /// Who left last and why; empty: nobody has.
  const std::string& last_farewell() const { return last_farewell_; }
  /// Forgets whoever was never leased anything.
  void remove(WorkerId worker);
  /// It was leased so many units, or has shown that it was: a result may come after it has left.
  void mark_leased(WorkerId worker, std::size_t units = 1);

  // --- of those that are connected; of others these do nothing ---
  void set_ready(WorkerId worker);
  void set_problem(WorkerId worker, const Error& problem);
  /// A warning if one of its name came long ago with the same cache id, and has thus not taken its place.
  std::optional<LogNote> on_message(WorkerId worker, TimePoint now);
  std::optional<WorkerId> at(const Peer& peer) const;
  bool is_connected(WorkerId worker) const { return connected_.contains(worker); }
  /// The worker must be connected.
  const Worker& connected(WorkerId worker) const { return connected_.at(worker); }
  const std::map<WorkerId, Worker>& connected() const { return connected_; }
  std::uint32_t ready_count() const { return ready_; }
  /// How many of these caches no worker that is READY has.
  std::size_t missing_caches(std::set<std::string> caches) const;
  /// Who said nothing since then.
  std::vector<WorkerId> silent_since(TimePoint then) const;
  /// Who cannot work.
  std::size_t problem_count() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        connected_, [](const auto& entry) { return entry.second.problem.has_value(); }));
  }
  /// The problem of one that is connected but cannot work, with its name; nothing if there is none.
  std::optional<Error> problem() const;
  /// What the governor needs to know of those of the workers that are connected, each once.
  std::vector<GovernedPeer> peers(const std::vector<WorkerId>& workers) const;

  // --- of all that were ever leased anything: a result may come after its worker has left ---
  bool knows(WorkerId worker) const { return known_.contains(worker); }
  const std::string& name_of(WorkerId worker) const { return known_.at(worker).facts.name; }
  /// The id of its cache; empty if it has none.
  const std::string& cache_of(WorkerId worker) const { return known_.at(worker).cache_id; }
  /// Whether the ledger takes one more note of what this worker says beside its results, which is bounded by
  /// what it was leased. Counts as noted.
  bool may_note(WorkerId worker);
  void count_unit(WorkerId worker) { ++known_.at(worker).facts.units; }
  void mark_lost(WorkerId worker) { known_.at(worker).facts.lost = true; }
  /// By name; without those that said no more than HELLO.
  std::vector<WorkerFacts> facts() const;

 private:
  struct Known {
    WorkerFacts facts;
    std::string cache_id;
    std::size_t leases = 0;  ///< Up to the number of the run's units.
    std::size_t notes = 0;
  };

  /// The first that is connected with a cache.
  struct CacheOwner {
    WorkerId worker = 0;
    bool is_told = false;
  };

  void set_ready(Worker& worker, bool ready);
  void forget_cache(WorkerId worker, const std::string& cache_id);

  std::size_t units_;
  std::map<Peer, WorkerId> by_peer_;
  std::map<WorkerId, Worker> connected_;
  std::map<WorkerId, Known> known_;
  std::map<std::string, CacheOwner> by_cache_;
  std::map<WorkerId, TimePoint> namesakes_;  ///< When one of an owner's name came first with its cache id.
  std::uint32_t ready_ = 0;                  ///< Of those that are connected.
  std::string last_farewell_;
};

}  // namespace sluice
