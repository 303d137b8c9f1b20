#pragma once

#include "common/clock.hpp"
#include "common/model/run_settings.hpp"
#include "common/transport/envelopes.hpp"
#include "common/wire/versions.hpp"
#include "coordinator/dispatch/dispatcher.hpp"
#include "coordinator/facts/run_facts.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/run/earlier_part.hpp"
#include "coordinator/run/effects.hpp"
#include "coordinator/run/lease_numbers.hpp"
#include "coordinator/run/lending.hpp"
#include "coordinator/run/long_pause.hpp"
#include "coordinator/run/result_intake.hpp"
#include "coordinator/run/run_budget.hpp"
#include "coordinator/run/run_end.hpp"
#include "coordinator/run/run_start.hpp"
#include "coordinator/run/run_tally.hpp"
#include "coordinator/run/work_leases.hpp"
#include "coordinator/run/worker_roster.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sluice {

/// A run from the first HELLO to the last GOODBYE: takes the messages of workers, decides by Dispatcher, and
/// names what is to be sent and recorded (docs/protocol.md). Pure: time is an argument, no socket, no actor.
/// Not thread-safe. The plan must outlive it.
class RunController {
 public:
  struct Config {
    RunSettings settings;
    wire::LaterParts later_parts;  ///< What its units hold.
    Dispatcher::Config dispatch;
    std::chrono::milliseconds worker_timeout{};         ///< A run without any worker ends after this.
    bool workers_may_join = false;                      ///< A worker with the key may come yet: wait for it.
    std::uint32_t expected_workers = 0;                 ///< Nothing is leased before so many are there, or
                                                        ///< `worker_timeout` is over.
    std::chrono::milliseconds drain_timeout{};          ///< For calls under way when the run is stopped.
    std::string how_to_start_a_worker;                  ///< For the message when it does.
    std::vector<UnitAffinity> affinities;               ///< By unit.
    std::vector<std::string> holders;                   ///< What UnitAffinity::holder counts.
    std::vector<Digest> pinned_answers;                 ///< By unit, zero where none is; empty: nobody's.
    std::optional<std::chrono::milliseconds> deadline;  ///< From the controller's beginning.
    RunBudget::Limits budget;
    RunPrice price;  ///< Needed only if the cost is limited.
    /// Of a run before this one, which its deadline and its budgets count.
    std::chrono::milliseconds elapsed_before{};
    PaidByArm paid_before;
    bool another_follows = false;  ///< Another run of this process comes next: workers wait for it.
    /// Known to nobody else: leases carry numbers that are made from it.
    Digest lease_secret{};
    /// The run goes on where its earlier parts stopped; null: it begins.
    std::shared_ptr<const EarlierPart> earlier{};
    /// Of the workers that had units in these parts. One of them may hold a lease that was never noted: until
    /// all are back, or were waited for long enough, nobody is given a unit.
    std::set<std::string> earlier_caches{};
    /// Leases are noted in the ledger: whoever goes on with the run knows which cache may have got the
    /// answer.
    bool notes_leases = false;
    /// Where commands check answers: so many results may wait for them (PendingResults); 0: any number.
    std::size_t most_to_check = 0;
    /// By arm: its model, and the place that names it. For messages; empty: not known.
    std::vector<std::string> models{};
    /// The time of day, for messages alone.
    std::function<std::chrono::system_clock::time_point()> time_of_day = std::chrono::system_clock::now;
  };

  RunController(const Plan& plan, Config config, TimePoint now);

  void on_messages(FromWorkers& messages, TimePoint now, Effects& effects);
  void on_recorded(const ResultsRecorded& recorded, TimePoint now, Effects& effects);
  /// Results that were to be recorded and will not be: the run ends without them, and what they took counts.
  void on_dropped(const ResultsDropped& dropped, Effects& effects) { results_.on_dropped(dropped, effects); }
  /// The ledger's answer to Effects::to_look_up.
  void on_looked_up(const std::vector<EntryHolder>& holders, TimePoint now, Effects& effects);
  /// Once a heartbeat, after the socket has been drained.
  void on_tick(TimePoint now, Effects& effects);
  /// Ends the run if its deadline is reached. on_tick does the same, up to a heartbeat later.
  void check_deadline(TimePoint now, Effects& effects);
  /// Of the units that workers have begun, how many wait for a permit, a pause or another try: no call of
  /// theirs is under way.
  void set_held_up(std::size_t units) { held_up_ = units; }
  /// Results that wait for commands which check their answers.
  void set_in_check(std::size_t results) { in_check_ = results; }
  std::size_t in_check() const { return in_check_; }
  /// Ends the run with what it has. The first reason stays.
  void stop(Error why, TimePoint now, Effects& effects);
  /// A worker of this process has ended with an error. The others go on, unless it was the last of a run that
  /// nobody else can join, or the error is a defect of sluice.
  void on_local_worker_failed(const Error& error, TimePoint now, Effects& effects);

  /// Nothing more will be leased: the plan is done, or the run was stopped.
  bool over() const { return end_.over(); }
  /// Over, and every worker has sent GOODBYE or is lost.
  bool all_gone() const { return over() && roster_.connected().empty(); }
  const std::optional<Error>& stopped() const { return end_.stopped(); }
  /// How long a run that is over goes on waiting for calls under way.
  std::chrono::milliseconds time_to_finish(TimePoint now) const { return end_.time_to_finish(now); }

  const RunSettings& settings() const { return config_.settings; }
  /// Those of the workers that are connected, whether they get work or not.
  std::vector<GovernedPeer> peers(const std::vector<WorkerId>& workers) const {
    return roster_.peers(workers);
  }
  const TrialCounts& counts() const { return tally_.trials(); }
  /// As RunTally.
  std::chrono::milliseconds time_until(TimePoint last_result) const { return tally_.time_until(last_result); }
  std::size_t started_count() const { return dispatcher_.started_count(); }
  std::size_t waiting_count() const { return dispatcher_.waiting_count(); }
  /// What waits would be leased if calls under way had not reserved the rest of the run's budget.
  bool waits_for_budget() const { return !over() && leases_.waits_for_budget(); }
  /// Who takes work.
  std::size_t worker_count() const { return dispatcher_.worker_count(); }
  /// Of these: who has none.
  std::size_t idle_count() const { return dispatcher_.idle_count(); }
  /// Who is connected beside these and gets no work: its key is missing or refused, or the like.
  std::size_t unfit_count() const { return roster_.problem_count(); }
  /// How many workers it waits for before it begins; 0: for no number of them.
  std::uint32_t awaited_workers() const { return start_.begun() ? 0 : config_.expected_workers; }
  std::vector<UnitId> lost_units() const { return dispatcher_.lost_units(); }
  /// Units without a result that a worker has begun with.
  std::vector<UnitId> begun_units() const { return dispatcher_.begun_units(); }
  /// Counters so far; run id, duration, and cut_short are set, times of day are not.
  RunFacts facts() const;

 private:
  void on_message(const Peer& peer, wire::Hello& hello, TimePoint now, Effects& effects);
  void on_message(const Peer& peer, wire::Ready& ready, TimePoint now, Effects& effects);
  void on_message(const Peer& peer, wire::Heartbeat& heartbeat, TimePoint now, Effects& effects);
  void on_message(const Peer& peer, wire::Report& report, TimePoint now, Effects& effects);
  void on_message(const Peer& peer, wire::Goodbye& goodbye, TimePoint now, Effects& effects);
  void on_removed(const Peer& peer, TimePoint now, Effects& effects);
  void let_go(const Peer& peer, const std::string& why, bool lost, TimePoint now, Effects& effects);
  void on_message(const Peer& peer, wire::Seek& seek, TimePoint now, Effects& effects);
  void on_message(const Peer& peer, wire::Lent& lent, TimePoint now, Effects& effects);
  void on_message(const Peer& peer, wire::Stored& stored, TimePoint now, Effects& effects);

  std::optional<WorkerId> sender(const Peer& peer, const std::string& run_id, TimePoint now,
                                 Effects& effects);
  static void reject_unknown(const Peer& peer, Effects& effects);
  void set_window(WorkerId worker, std::uint32_t window);
  std::uint32_t window_of(std::uint32_t wanted) const;
  void set_problem(WorkerId worker, const Error& error, Effects& effects);
  void forget(WorkerId worker, bool lost, TimePoint now, Effects& effects);
  void forget_silent_idlers(TimePoint now, Effects& effects);
  void check_named_delay(WorkerId worker, const wire::Demand& demand, TimePoint now, Effects& effects);
  void take_fatal_error(WorkerId worker, UnitId unit, const Error& error, TimePoint now, Effects& effects);
  bool may_lease(TimePoint now, Effects& effects);
  void lease_work(TimePoint now, Effects& effects);
  void stop_if_last_worker_failed(TimePoint now, Effects& effects);
  void finish_if_done(TimePoint now, Effects& effects);
  bool somebody_is_joining() const;
  void drain(const std::string& reason, TimePoint now, Effects& effects);
  void send_drain(const Peer& peer, const std::string& reason, TimePoint now, Effects& effects) const;

  const Plan& plan_;
  Config config_;
  Dispatcher dispatcher_;
  Lending lending_;
  RunBudget budget_;
  LeaseNumbers lease_numbers_;
  WorkLeases leases_;
  RunStart start_;
  RunEnd end_;
  LongPause long_pause_;
  RunTally tally_;
  WorkerRoster roster_;
  ResultIntake results_;
  std::optional<Error> local_failure_;  ///< Of a worker of this process that has ended.
  TimePoint last_had_worker_;
  std::uint64_t connections_refused_ = 0;
  std::size_t held_up_ = 0;
  std::size_t in_check_ = 0;
};

}  // namespace sluice
