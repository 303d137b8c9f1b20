#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/model/run_settings.hpp"
#include "coordinator/dispatch/dispatcher.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/run/earlier_part.hpp"
#include "coordinator/run/effects.hpp"
#include "coordinator/run/lease_numbers.hpp"
#include "coordinator/run/lending.hpp"
#include "coordinator/run/pending_results.hpp"
#include "coordinator/run/recording.hpp"
#include "coordinator/run/run_budget.hpp"
#include "coordinator/run/run_tally.hpp"
#include "coordinator/run/worker_roster.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// What a run takes of workers' results, and what these, and calls beside them, took: has results recorded,
/// answers them when they are, and counts each cost once. Pure: time is an argument. Not thread-safe; all
/// that it is given must outlive it.
class ResultIntake {
 public:
  /// What else knows of the run.
  struct Run {
    const Plan& plan;
    const RunSettings& settings;
    const std::vector<std::string>& models;  ///< As RunController::Config has them.
    LeaseNumbers& lease_numbers;
    Dispatcher& dispatcher;
    Lending& lending;
    RunBudget& budget;
    RunTally& tally;
    WorkerRoster& roster;
  };

  /// `earlier`: of a run that goes on, else null. What it took counts, and what it settled is settled.
  ResultIntake(const Run& run, std::shared_ptr<const EarlierPart> earlier);

  /// A worker's result: to be recorded, or refused, which goes into `refused`. An error that ends the run, or
  /// the worker's part in it, is returned; the unit is the worker's still.
  std::optional<Error> take(WorkerId worker, UnitResult result, wire::Ack& refused, Effects& effects);
  /// A worker leaves since it could not read all that it was leased (`why`): units that nobody is taken to
  /// read (Dispatcher::suspect_unread) are recorded as errors. To be called before the dispatcher hears that
  /// it leaves.
  void fail_unread(WorkerId worker, const std::string& why, Effects& effects);
  /// What a worker's calls took beside its results, and the units that it gives back.
  void take_back(WorkerId worker, const wire::Report& report, Effects& effects);
  /// The recorder has committed these. `withdraws`: their other holders are told.
  void on_recorded(const ResultsRecorded& recorded, bool withdraws, Effects& effects);

  /// These will not be recorded: what they took counts, and their workers need not wait for it.
  void on_dropped(const ResultsDropped& dropped, Effects& effects);

  /// Whether so many results wait for commands that no more units are to be leased (PendingResults). `most`:
  /// 0 where no command checks any.
  bool checks_lag(std::size_t most) const;

  /// What the cache of a worker lacked for this unit, if it is the first in order that was missed; else a
  /// miss without words.
  Error missing_for(UnitId unit) const;

 private:
  using WorkersUnit = std::pair<WorkerId, UnitId>;

  void hand_on(WorkerId worker, UnitResult result, Effects& effects);
  /// The result's error, where it ends the run.
  Error fatal_error(UnitResult result) const;
  bool refuses_parameters(const UnitResult& result);
  void take_baseline(ResultToCommit& item) const;
  void note_error(const ResultToCommit& item, Effects& effects) const;
  void count_unmetered(const std::vector<UnitSpend>& spends);
  void count(WorkerId worker, UnitId unit, const Spend& spend);
  void count_beside(const WorkersUnit& whose, const Spend& spend, Effects& effects);
  void count_apart(WorkerId worker, const UnitSpend& spent, bool is_returned, Effects& effects);
  bool is_resent(WorkerId worker, UnitId unit) const;

  Run run_;
  std::shared_ptr<const EarlierPart> earlier_;
  /// The first unit in order that a worker's cache had not all for, and what it lacked.
  std::optional<std::pair<UnitId, Error>> first_miss_;
  PendingResults pending_;
  std::set<WorkersUnit> counted_;  ///< Whose results are counted, and are not those that were committed.
  std::vector<WorkerId> winners_;  ///< By unit: whose result is committed. Names are not unique.
  std::vector<std::uint32_t>
      refused_in_row_;  ///< By arm: units refused for a parameter since its last answer.
};

}  // namespace sluice
