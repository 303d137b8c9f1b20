#pragma once

#include "common/run_settings.hpp"
#include "worker/answer_store.hpp"
#include "worker/budget/late_grants.hpp"
#include "worker/calls/alarms.hpp"
#include "worker/calls/job.hpp"
#include "worker/embedder.hpp"
#include "worker/entry_exchange.hpp"
#include "worker/http/http_messages.hpp"
#include "worker/messages.hpp"
#include "worker/providers/provider.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sluice {

/// What the calls of one run need.
struct ModelCallsConfig {
  RunSettings settings;
  std::map<std::string, std::string> keys;  ///< API key by provider name; empty for a call without a key.
  KeyMask key_mask;                         ///< Finds this worker's keys in answers.
  std::shared_ptr<AnswerStore> store;
  std::uint64_t random_seed = 0;     ///< For the jitter of the back-off.
  std::uint32_t max_concurrent = 0;  ///< Units at a time, unless the coordinator's search says more.
  bool log_calls = false;            ///< Calls carry what the call log is to say of them.
};

/// What a turn has brought about.
struct CallTurn {
  std::vector<HttpCall> calls;
  std::vector<UnitId> started;
  std::vector<CompletedUnit> completed;
  std::vector<UnitId> returned;  ///< Dropped without having been paid for.
  std::optional<DemandTold> demand;
  std::vector<wire::ToCoordinator> entries;  ///< SEEK and STORED.
  std::vector<std::string> problems;         ///< For the log: one sentence each.
  std::optional<Error> unfit;                ///< This worker cannot work here, and should leave.
  std::optional<TimePoint> wake;             ///< When the next turn is due, if nothing happens before.
};

/// Gets the answers of one run's units: from the store, or by calls that the owner makes, under the budgets
/// that the coordinator grants, with retries. It alone decides whether to retry; when a call may start is the
/// coordinator's to say. What happens is told to it, and `turn` says what follows. Not thread-safe.
class ModelCalls {
 public:
  explicit ModelCalls(ModelCallsConfig config);
  ModelCalls(const ModelCalls&) = delete;
  ModelCalls& operator=(const ModelCalls&) = delete;

  void add(std::vector<SharedUnit> units);
  void take(const BudgetChanged& budget, const Moment& moment);
  /// What other workers' caches hold, or do not.
  void take(const EntriesFound& found, const Moment& moment);
  /// A call has ended; one that is not known any more is ignored.
  void done(const HttpDone& done, const Moment& moment);
  /// The next turn tells the demand, whether it has changed or not.
  void want_demand() { demand_wanted_ = true; }
  /// Drops those of the units that have no call under way, and no answer that waits for embeddings.
  void withdraw(const std::vector<UnitId>& units, const Moment& moment);
  /// Each turn from now on drops all such units: nothing begins, and nothing is tried again.
  void wind_down() { winding_down_ = true; }
  /// Does all that can be done now.
  CallTurn turn(const Moment& moment);
  /// Drops everything. Returns the calls in flight.
  std::vector<std::uint64_t> cancel();

 private:
  using Id = std::uint64_t;

  // model_calls.cpp: from the unit to the call.
  std::uint32_t slots() const;
  CalledProvider* provider(const std::string& name);
  void begin_units();
  void begin(SharedUnit unit);
  void start_batches();
  void make_ready(Id id);
  void start_ready(CalledProvider& provider);
  void try_start(CalledProvider& provider, Id id);
  void end_wait(Job& job) const;
  void end_back_off(Job& job) const;
  HttpCall http_call(Id id, Job& job, const std::optional<TakenPermit>& permit);
  const wire::CallSize& size_of(Job& job);
  RetryPolicy retries_until(TimePoint deadline) const;
  std::optional<Error> obstacle(const CalledProvider& provider) const;
  void end_oversized(CalledProvider& provider);
  void end_waiting(CalledProvider& provider, const Error& error);
  std::vector<wire::CallSize> sizes_of_ready(CalledProvider& provider);

  // withdrawn.cpp: what is dropped.
  template <class Wanted>
  void drop_uncalled(Wanted wanted);

  // turn.cpp: what follows of what has happened, and is to be told.
  BootTime longest_silence() const;
  bool is_heard() const;
  void ring_alarms();
  void drop_all_uncalled();
  void tell_demand(CallTurn& turn);
  std::optional<TimePoint> next_wake() const;

  // cached_answers.cpp: what the own cache or another's holds.
  std::optional<UnitOutcome> from_store(Job& job) const;
  void seek_answer(Id id);
  void take_answer(const Digest& key, std::string_view entry);

  // probes.cpp: calls during an outage.
  bool all_probes_failed() const;
  std::vector<Id> probe_order(const CalledProvider& provider) const;
  void extend_deadline(Job& job) const;
  bool is_own_fault(const Job& job) const;

  // call_ends.cpp: from the call to the result.
  void on_response(Id id, const HttpDone& done);
  void on_answer(Id id, Completion completion);
  bool all_are_refused(Job& job, const Failed& failed) const;
  void on_failure(Id id, const Failed& failed, bool unreachable);
  void end_failed(Id id, const Failed& failed, bool out_of_time, bool unreachable);
  void on_unsent(Id id, const HttpDone& done);
  void note_failure(Job& job, const Failed& failed, int status);
  void settle(Job& job, const Usage& usage);
  void settle_uncharged(Job& job);
  void embed(Id id, Completion answer);
  void await_embeddings(Id id);
  void extend_embedder();
  void take_embeddings(std::vector<EmbeddingOutcome> outcomes);
  void give_up(Id id, Error error, bool out_of_time = false);
  void finish(Id id, UnitOutcome outcome, EmbeddedTexts embedded = {});
  Job extract(Id id);
  void store_answers();

  ModelCallsConfig config_;
  Random random_;
  EntryExchange exchange_;
  std::map<Digest, Id> sought_answers_;  ///< Who seeks which.
  std::optional<Embedder> embedder_;
  std::map<std::string, CalledProvider> providers_;
  CalledProvider* embedding_provider_ = nullptr;  ///< Null if nothing is called for.
  Duration embedder_extended_{};                  ///< Up to what its outages came to.
  ClockBounds clock_;
  std::uint64_t heard_us_ = 0;
  BootTime heard_at_{};  ///< The coordinator has certainly heard what was said then, on the own clock.
  LateGrants late_grants_;
  bool connected_ = true;
  bool demand_wanted_ = false;
  bool winding_down_ = false;
  std::uint32_t told_slots_ = 0;

  std::deque<SharedUnit> queue_;  ///< Not begun yet.
  std::unordered_map<Id, Job> jobs_;
  std::uint32_t active_units_ = 0;
  std::uint64_t ended_jobs_ = 0;
  Alarms alarms_;  ///< Ends of back-offs, and deadlines of what waits.
  Id next_id_ = 1;

  // The turn under way.
  Moment at_;
  std::vector<Id> begun_;
  std::vector<Id> newly_ready_;
  std::vector<HttpCall> calls_;
  std::vector<CompletedUnit> completed_;
  std::vector<UnitId> returned_;
  std::vector<std::string> problems_;
  std::vector<std::size_t> unstored_;  ///< Those of `completed_` whose answers are new.
};

}  // namespace sluice
