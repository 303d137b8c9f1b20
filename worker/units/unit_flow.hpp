#pragma once

#include "common/checks/key_mask.hpp"
#include "common/checks/redactor.hpp"
#include "common/model/run_settings.hpp"
#include "worker/answer_store.hpp"
#include "worker/calls/call_engine.hpp"
#include "worker/calls/model_call.hpp"
#include "worker/held_units.hpp"
#include "worker/units/completed_unit.hpp"
#include "worker/units/enricher.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace sluice {

/// What the units of one run need.
struct UnitFlowConfig {
  RunSettings settings;
  std::map<std::string, Credentials> credentials;  ///< By provider name.
  KeyMask key_mask;                                ///< Finds this worker's keys in answers.
  Redactor redactor;                               ///< Of the run: for what its errors say.
  std::shared_ptr<AnswerStore> store;
  std::uint64_t random_seed = 0;     ///< For the jitter of the back-off.
  std::uint32_t max_concurrent = 0;  ///< Units at a time, unless the coordinator's search says more.
  bool log_calls = false;            ///< Calls carry what the call log is to hold of them.
};

/// Makes one kind of enricher. Settings, engine and keys outlive it; `keys` finds this worker's in what it
/// gets beside the answer.
using MakeEnricher = std::unique_ptr<Enricher> (*)(const RunSettings& settings,
                                                   std::shared_ptr<AnswerStore> store, CallEngine& engine,
                                                   std::uint32_t owner, const KeyMask& keys);

/// All kinds that there are.
std::vector<MakeEnricher> every_enricher();

/// What a turn has brought about.
struct FlowTurn {
  EngineTurn engine;  ///< Its `wake` is that of the units, too.
  std::vector<UnitId> started;
  std::vector<CompletedUnit> completed;
  std::vector<UnitId> returned;  ///< Dropped.
  std::vector<UnitSpend> spent;  ///< What these, or completed ones since, took.
};

/// The call for a unit's answer. The unit must outlive it.
class AnswerCall final : public ModelCall {
 public:
  AnswerCall(const WorkUnit& unit, AnswerStore& store);
  std::string log_member() const override { return R"("unit":)" + std::to_string(unit_); }

 private:
  UnitId unit_;
};

/// Takes the units of one run from their request to what they are scored by: the answer out of a cache, lent,
/// or called for; then what the enrichers get for it. What happens is handed in, and `turn` returns what
/// follows. Not thread-safe.
class UnitFlow {
 public:
  explicit UnitFlow(UnitFlowConfig config, const std::vector<MakeEnricher>& kinds = every_enricher());
  UnitFlow(const UnitFlow&) = delete;
  UnitFlow& operator=(const UnitFlow&) = delete;

  void add(std::vector<SharedUnit> units);
  void on_budget(const BudgetChanged& budget, const Moment& moment) { engine_.on_budget(budget, moment); }
  /// What other workers' caches hold, or do not.
  void on_entries(const std::vector<wire::LentEntry>& entries, const Moment& moment);
  /// A call has ended; `arrived`: when, for people.
  void on_done(const HttpDone& done, const Moment& moment, std::chrono::system_clock::time_point arrived) {
    engine_.on_done(done, moment, arrived);
  }
  /// The next turn reports the demand, whether it has changed or not.
  void want_demand() { engine_.want_demand(); }
  /// Drops those of the units that have no call under way, and no answer that waits for its enrichers: those
  /// whose call fails once it fails.
  void withdraw(const std::vector<UnitId>& units, const Moment& moment);
  /// Each turn from now on drops all such units: nothing begins, and nothing is tried again, but for the
  /// first calls of enrichers for answers that are there. Units whose enrichers' calls would be tried again
  /// are dropped with what was paid for them: others may do better, or whoever goes on with the run.
  /// `finish_by`: the run is over, and so are units whose enrichers' calls are not back by then.
  void wind_down(std::optional<TimePoint> finish_by = std::nullopt);
  /// Does all that can be done now.
  FlowTurn turn(const Moment& moment);
  /// Drops everything. Returns the calls in flight.
  std::vector<CallId> cancel();

 private:
  using Id = std::uint64_t;

  /// Owners of calls: the engine's own number, then the answers', then the enrichers' in their order.
  static constexpr std::uint32_t answers = CallEngine::owner + 1;
  static constexpr std::uint32_t first_enricher = answers + 1;

  /// A unit on its way.
  struct UnderWay {
    UnderWay(SharedUnit of_run, AnswerStore& store, TimePoint end)
        : unit(std::move(of_run)), assessed(unit), call(*unit, store), deadline(end) {}

    SharedUnit unit;
    SharedUnit assessed;  ///< With those of its tasks alone that assess the answer.
    AnswerCall call;
    CallId call_id = 0;  ///< The engine's; 0 if nothing was submitted.
    TimePoint deadline;
    Spend spend;
    ReadAnswer read;
    std::optional<Completion> answer;  ///< While it waits for its enrichers.
    /// The answer is new, and replaces another one in the cache once the unit is complete.
    bool replaces = false;
    Evidence evidence;
    std::uint32_t waits_for = 0;  ///< A bit for each enricher that has not come back.
  };

  std::uint32_t concurrency() const;
  std::uint32_t most_units() const;
  void begin_units();
  void begin(SharedUnit of_run);
  void take_ended();
  void on_answer_call(CallEnded& ended);
  static void read(UnderWay& unit, Completion& answer);
  void on_answer(Id id, Completion answer, bool is_new);
  std::optional<Error> enrich(Id id, UnderWay& unit, const Completion& answer);
  void take_enriched(std::size_t enricher);
  void stop_waiting(Id id, UnderWay& unit);
  void await_enrichers(Id id);
  void finish(Id id, UnitOutcome outcome);
  void give_back(Id id);
  template <class Wanted>
  void drop_uncalled(Wanted wanted);
  void end_waiting();
  void store_answers();

  UnitFlowConfig config_;
  CallEngine engine_;
  std::vector<std::unique_ptr<Enricher>> enrichers_;

  std::deque<SharedUnit> queue_;  ///< Not begun yet.
  std::unordered_map<Id, UnderWay> units_;
  std::uint32_t waiting_ = 0;  ///< Units that wait for an enricher.
  Alarms alarms_;              ///< Ends of their time.
  Id next_id_ = 1;
  std::set<UnitId> withdrawn_;  ///< Of the units under way.
  bool winding_down_ = false;
  std::optional<TimePoint> finish_by_;

  // Of the turn under way.
  Moment at_;
  std::uint64_t ends_ = 0;  ///< Of units and calls, in all time.
  std::vector<Id> begun_;
  std::vector<Enriched> enriched_;
  std::vector<CompletedUnit> completed_;
  std::vector<UnitId> returned_;
  std::vector<UnitSpend> spent_;
  std::vector<std::size_t> unstored_;            ///< Those of `completed_` whose answers are new.
  std::vector<std::size_t> unstored_baselines_;  ///< Those with a baseline's answer that is to be stored.
};

}  // namespace sluice
