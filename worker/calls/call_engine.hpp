#pragma once

#include "common/checks/redactor.hpp"
#include "common/model/run_settings.hpp"
#include "worker/calls/alarms.hpp"
#include "worker/calls/call.hpp"
#include "worker/calls/call_values.hpp"
#include "worker/calls/coordinator_link.hpp"
#include "worker/calls/demand_reports.hpp"
#include "worker/calls/entry_exchange.hpp"
#include "worker/calls/failed_tries.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// What the calls of one run need, beside the run's settings.
struct CallEngineConfig {
  std::map<std::string, Credentials> credentials;  ///< By provider name.
  std::uint64_t random_seed = 0;                   ///< For the jitter of the back-off.
  bool log_calls = false;                          ///< Calls carry what the call log is to hold of them.
  bool has_cache = false;                          ///< Entries of other workers' caches can be kept here.
  std::uint32_t concurrency = 0;                   ///< As the coordinator knows it (Backlog).
  Redactor redactor = {};                          ///< For what errors quote of responses.
};

/// Makes the calls of one run, whatever they are for, under the budgets that the coordinator grants: when a
/// call may start the coordinator decides, whether one is tried again is decided here alone. Each request
/// that is submitted ends once, in `take_ended`, unless it is cancelled. Pure; not thread-safe.
class CallEngine {
 public:
  /// Owner of the entries that the engine itself seeks: nobody else has this number.
  static constexpr std::uint32_t owner = 0;

  /// The settings must outlive it.
  CallEngine(const RunSettings& settings, CallEngineConfig config);
  CallEngine(const CallEngine&) = delete;
  CallEngine& operator=(const CallEngine&) = delete;

  // --- For those who want something called ---

  /// Calls until an answer has come, no call is left, or the deadline is over, which outages extend. The
  /// request must stay where it is until its end. `held`: the entry of another worker's cache that is asked
  /// for first, if this worker seeks entries at all. Returns the call's number.
  CallId submit(CallRequest& request, const CallContext& context, TimePoint deadline, const Moment& moment,
                const std::optional<EntryKey>& held = std::nullopt);
  /// Drops the call, for which no end comes then. What its tries came to; nothing, and nothing is done, if a
  /// try of it is under way or it has ended.
  std::optional<Spend> withdraw(CallId id);
  /// Ends every call that waits to be tried again, with the error of its last try.
  void end_retries();
  /// What has ended since the last time, in this order.
  std::vector<CallEnded> take_ended();
  /// For how long outages have held the provider's calls, in all time up to now.
  Duration outages(const std::string& provider, TimePoint now) const;
  /// What this worker seeks in other caches.
  EntryExchange& entries() { return entries_; }
  /// The run's.
  const Redactor& redactor() const { return redactor_; }
  /// For the log, with the next turn.
  void report_unusable_entry(const Error& problem) {
    problems_.push_back({problem.message + "; it is paid for instead"});
  }

  // --- What happens ---

  void on_budget(const BudgetChanged& budget, const Moment& moment);
  /// What another worker's cache holds, or does not. Returns who else sought it.
  std::vector<CallContext> on_entry(const wire::LentEntry& entry, const Moment& moment);
  /// A call has ended; one that is not known any more is ignored. `arrived`: when, for people.
  void on_done(const HttpDone& done, const Moment& moment, std::chrono::system_clock::time_point arrived);
  /// Ends back-offs, and calls whose time is over.
  void on_time(const Moment& moment);
  /// The next turn reports the demand, whether it has changed or not.
  void want_demand() { demand_.want(); }

  // --- What follows ---

  /// Starts every call that may start.
  void start(const Moment& moment);
  /// What is to be done now. Ends the turn: before it, whoever takes `take_ended` has submitted what follows.
  EngineTurn turn(const Moment& moment, const Backlog& backlog);

  /// The most calls in flight at a provider here for which nobody set a number; 0: somebody did.
  std::uint32_t searched_places() const;
  /// As FailingCalls::leave_places, at all providers.
  std::size_t calls_that_leave_places() const;
  /// See waiting_calls.hpp.
  bool all_probes_failed() const;
  /// Drops every call. Returns those in flight.
  std::vector<CallId> cancel();

 private:
  CalledProvider* provider(const std::string& name);
  void make_ready(CallId id);
  void on_sought(CallId id, const wire::LentEntry& entry);
  void end_back_offs(CalledProvider& provider);
  void end_oversized(CalledProvider& provider);
  void end_waiting(CalledProvider& provider, const Error& error);
  void start_ready(CalledProvider& provider);
  void try_start(CallId id);
  HttpCall http_call(CallId id, Call& call, const std::optional<TakenPermit>& permit) const;
  std::optional<Failed> read(Call& call, const HttpDone& done, std::chrono::system_clock::time_point arrived);
  void follow(CallId id, NextStep next);
  void end(CallId id, CallEnded ended);
  Call extract(CallId id);
  void report_demand(EngineTurn& turn, const Backlog& backlog);
  std::optional<TimePoint> next_wake() const;

  const RunSettings& settings_;
  bool log_calls_;
  Random random_;
  Redactor redactor_;
  EntryExchange entries_;
  bool has_cache_;
  CalledProviders providers_;
  CoordinatorLink link_;
  DemandReports demand_;

  CallTable calls_;
  Alarms alarms_;  ///< Ends of back-offs, and deadlines of what waits.
  CallId next_id_ = 1;

  // Of the turn under way.
  Moment at_;
  std::vector<CallId> newly_ready_;
  std::vector<HttpCall> to_make_;
  std::vector<CallEnded> ended_;
  std::vector<CallProblem> problems_;
};

}  // namespace sluice
