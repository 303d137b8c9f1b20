#pragma once

#include "common/clock.hpp"
#include "common/model/run_settings.hpp"
#include "coordinator/dispatch/dispatcher.hpp"
#include "coordinator/facts/cache_holders.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/run/lease_numbers.hpp"
#include "coordinator/run/lending.hpp"
#include "coordinator/run/run_budget.hpp"
#include "coordinator/run/run_tally.hpp"
#include "coordinator/run/worker_roster.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// Hands out what the dispatcher leases: renders units into WORK messages, as far as the run's budget allows.
/// Pure: time is an argument. Not thread-safe.
class WorkLeases {
 public:
  /// What is referred to must outlive it. `pinned_answers` are by unit, zero where none is; empty: nobody's.
  WorkLeases(const Plan& plan, const RunSettings& run, const std::vector<Digest>& pinned_answers,
             LeaseNumbers& lease_numbers, Dispatcher& dispatcher, Lending& lending, RunBudget& budget)
      : plan_(plan),
        run_(run),
        pinned_answers_(pinned_answers),
        lease_numbers_(lease_numbers),
        dispatcher_(dispatcher),
        lending_(lending),
        budget_(budget) {}

  /// Before each round: what was reserved for leases that ended before their worker had begun is free again.
  void release_returned();
  /// Leases to every worker as many units as it has room for, and appends the messages. Why the run must
  /// stop, if so: the budget is spent, or a case cannot be read any more. `noted` gets the units with their
  /// workers' caches; may be null.
  std::optional<Error> hand_out(WorkerRoster& roster, TimePoint now, RunTally& tally,
                                std::vector<ToPeer>& messages, std::vector<NotedLease>* noted = nullptr);
  /// What a worker that comes back still works on is paid for as well; what else it was given it never began,
  /// or has reported.
  void reserve_held(WorkerId worker, const std::vector<UnitId>& held);

  /// In the last round there was something to lease that calls under way had reserved the budget of.
  bool waits_for_budget() const { return waits_for_budget_; }

 private:
  bool may_be_freed(const WorkerRoster& roster) const;
  /// A unit that the budget has no room for.
  struct TooMuch {
    UnitId unit = 0;
    PaidTokens most;
  };
  /// Whom units are leased to.
  struct Holder {
    WorkerId worker = 0;
    const Peer& peer;
    const std::string& cache;  ///< Its id; empty: it has none.
  };
  Result<std::optional<TooMuch>> send(const Holder& holder, const std::vector<UnitId>& units,
                                      std::vector<ToPeer>& messages);
  bool reserve(const Holder& holder, UnitId id, const WorkUnit& unit, const PaidTokens& most);

  const Plan& plan_;
  const RunSettings& run_;
  const std::vector<Digest>& pinned_answers_;
  LeaseNumbers& lease_numbers_;
  Dispatcher& dispatcher_;
  Lending& lending_;
  RunBudget& budget_;
  bool waits_for_budget_ = false;
};

}  // namespace sluice
