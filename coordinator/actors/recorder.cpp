#include "coordinator/actors/recorder.hpp"

#include "common/defaults.hpp"
#include "common/process/supervision.hpp"
#include "coordinator/actors/messages.hpp"
#include "coordinator/defaults.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <spdlog/spdlog.h>

namespace sluice {

namespace {

struct RecorderState {
  RecorderState() = default;
  static inline const char* name = "recorder";

  std::shared_ptr<Ledger> ledger;
  std::string run_id;
  bool move_pins = false;
  caf::actor coordinator;
  Observing observing;
  std::vector<WorkerId> workers;
  std::vector<ResultToCommit> waiting;
  std::vector<UnitSpend> spent;      ///< Not noted yet.
  std::vector<NotedLease> leased;    ///< Not noted yet.
  std::vector<EntryHolder> holders;  ///< Not noted yet.
  bool has_failed = false;           ///< The run ends: what comes is dropped, so that nothing counts twice.
  /// Since when another process has kept the ledger locked. What waits is bounded by the workers' windows.
  /// Notes are not tried meanwhile: each would wait for as long as a commit does, and commits behind them.
  std::optional<caf::actor_clock::time_point> locked_since;
};

using RecorderActor = caf::stateful_actor<RecorderState>;

ResultsRecorded::Item recorded(WorkerId worker, const ResultToCommit& item, const CommitOutcome& outcome) {
  const auto& result = item.result;
  ResultsRecorded::Item record{.worker = worker,
                               .unit = result.unit,
                               .key = result.key,
                               .outcome = outcome,
                               .error = result.error && result.scores.empty(),
                               .answered = !is_zero(result.answer),
                               .failed = {},
                               .spend = result.spend};
  for (const auto& score : result.scores) {
    if (has_failed(score)) record.failed.push_back(score.trial);
    if (is_undecided(score)) record.undecided.push_back(score.trial);
  }
  for (const TrialId trial : item.trials) {
    const bool takes_no_refusal = result.error && result.score_of(trial) == nullptr;
    if (takes_no_refusal && !record.error) record.undecided.push_back(trial);
  }
  return record;
}

std::size_t bytes_of(const ObservedAnswer* observed) {
  return defaults::observation_bytes + (observed != nullptr ? 2 * observed->text.size() : 0);
}

/// Hands the first results of their units to the observer, as long as it keeps pace.
void observe(RecorderActor* self, std::vector<ResultToCommit>& committed,
             std::vector<std::optional<ObservedAnswer>>& observed,
             const std::vector<CommitOutcome>& outcomes) {
  const auto& [observer, unsaved] = self->state.observing;
  if (!observer) return;
  ObserveUnits units;
  units.results.reserve(committed.size());
  for (std::size_t i = 0; i < committed.size(); ++i) {
    if (!outcomes[i].first) continue;
    const std::size_t bytes = bytes_of(observed[i] ? &*observed[i] : nullptr);
    if (!unsaved->add(bytes)) continue;
    units.bytes += bytes;
    units.results.push_back(std::move(committed[i].result));
    units.results.back().observed = std::move(observed[i]);
  }
  if (!units.results.empty()) self->send(observer, std::move(units));
}

ResultsDropped all_dropped(const std::vector<WorkerId>& workers, const std::vector<ResultToCommit>& results) {
  ResultsDropped dropped;
  for (std::size_t i = 0; i < results.size(); ++i)
    dropped.items.push_back(ResultsDropped::item_of(workers[i], results[i].result));
  return dropped;
}

/// Has what waits committed later, if it is not for the run to end: another process has the ledger locked,
/// and not for too long.
bool tries_again(RecorderActor* self) {
  auto& state = self->state;
  if (!state.ledger->was_locked_out()) return false;
  const auto now = self->clock().now();
  if (!state.locked_since) {
    state.locked_since = now;
    spdlog::warn("another process keeps the run ledger locked; results wait for it in memory");
  }
  if (now - *state.locked_since >= defaults::locked_ledger_patience) return false;
  self->delayed_send(self, defaults::locked_ledger_wait, CommitNow{});
  return true;
}

/// `is_last`: nothing is tried again.
void commit(RecorderActor* self, bool is_last = false) {
  auto& state = self->state;
  if (state.waiting.empty()) return;
  auto waiting = std::exchange(state.waiting, {});
  const auto workers = std::exchange(state.workers, {});
  if (state.has_failed) return self->send(state.coordinator, all_dropped(workers, waiting));
  std::vector<std::optional<ObservedAnswer>> observed(waiting.size());
  for (std::size_t i = 0; i < waiting.size(); ++i) observed[i].swap(waiting[i].result.observed);
  const auto outcomes = state.ledger->commit(state.run_id, waiting, state.move_pins);
  if (!outcomes && !is_last && tries_again(self)) {
    for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i].result.observed.swap(observed[i]);
    state.waiting = std::move(waiting);
    state.workers = workers;
    return;
  }
  state.locked_since.reset();
  if (!outcomes) {
    state.has_failed = true;
    self->send(state.coordinator, RecordingFailed{outcomes.error(), all_dropped(workers, waiting)});
    return;
  }
  ResultsRecorded done;
  done.items.reserve(waiting.size());
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    done.items.push_back(recorded(workers[i], waiting[i], (*outcomes)[i]));
  }
  // Before anybody learns that the run is over.
  observe(self, waiting, observed, *outcomes);
  self->send(state.coordinator, std::move(done));
}

void add(RecorderActor* self, RecordResult record) {
  auto& waiting = self->state.waiting;
  // CommitNow stands behind whatever is in the mailbox already: that all goes into one transaction. Where the
  // disk is waited for, whatever comes meanwhile goes along.
  if (waiting.empty()) {
    if (self->state.ledger->outlives() == Outlives::power) {
      self->delayed_send(self, defaults::sync_group_time, CommitNow{});
    } else {
      self->send(self, CommitNow{});
    }
  }
  self->state.workers.push_back(record.worker);
  waiting.push_back(std::move(record.item));
  // A ledger that is locked is tried from time to time alone: each time takes as long as it waits.
  if (waiting.size() >= defaults::results_per_transaction && !self->state.locked_since) commit(self);
}

/// Without what to do, which the run says when it ends for it.
std::string cause_of(const Error& error) {
  return error.message.substr(0, error.message.find("; "));
}

/// Who holds which entry saves requests and is no result: the run goes on without it.
void note_holders(RecorderState& state) {
  if (state.holders.empty()) return;
  const auto noted = state.ledger->note_holders(std::exchange(state.holders, {}));
  if (!noted) {
    spdlog::warn("the holders of embeddings and votes are not noted: {}", cause_of(noted.error()));
  }
}

void note(RecorderActor* self, NoteHolders& note) {
  std::ranges::move(note.holders, std::back_inserter(self->state.holders));
  if (!self->state.locked_since) note_holders(self->state);
}

/// The run's own results do not need it. What a full disk refuses stays, for the next time: whoever goes on
/// with the run would ask another worker for what its holder has.
Result<void> note_progress(RecorderState& state) {
  Result<void> noted;
  if (!state.spent.empty()) noted = state.ledger->note_spends(state.run_id, state.spent);
  if (noted) state.spent.clear();
  if (noted && !state.leased.empty()) noted = state.ledger->note_leases(state.run_id, state.leased);
  if (noted) state.leased.clear();
  return noted;
}

void note(RecorderActor* self, NoteProgress& progress) {
  auto& state = self->state;
  const bool was_refused = !state.spent.empty() || !state.leased.empty();
  std::ranges::move(progress.spent, std::back_inserter(state.spent));
  std::ranges::move(progress.leased, std::back_inserter(state.leased));
  if (state.locked_since) return;
  const auto noted = note_progress(state);
  if (!noted && !was_refused && !state.has_failed)
    spdlog::warn("what going on with the run would need is not noted yet: {}", cause_of(noted.error()));
}

void look_up(RecorderActor* self, const LookUpHolders& wanted) {
  auto& state = self->state;
  auto found = state.ledger->holders(wanted.keys);
  if (!found) {
    spdlog::warn("the holders of embeddings and votes are not looked up: {}", found.error().message);
  }
  HoldersLookedUp answer;
  for (std::size_t i = 0; i < wanted.keys.size(); ++i)
    answer.holders.push_back({wanted.keys[i], found ? std::move((*found)[i]) : std::string()});
  self->send(state.coordinator, std::move(answer));
}

caf::behavior recorder_behavior(RecorderActor* self, std::shared_ptr<Ledger> ledger, std::string run_id,
                                bool move_pins, caf::actor coordinator, Observing observing) {
  auto& state = self->state;
  state.ledger = std::move(ledger);
  state.run_id = std::move(run_id);
  state.move_pins = move_pins;
  state.coordinator = std::move(coordinator);
  state.observing = std::move(observing);
  end_on_exception(self);
  // What came before the end was paid for.
  self->set_exit_handler([self](const caf::exit_msg& exit) {
    if (exit.reason != caf::exit_reason::kill) {
      commit(self, true);
      note_holders(self->state);
      if (const auto noted = note_progress(self->state); !noted)
        spdlog::warn("what going on with the run would need is not noted: {}",
                     self->state.has_failed ? cause_of(noted.error()) : noted.error().message);
    }
    self->quit(exit.reason);
  });
  return {
      [self](RecordResults& more) {
        for (auto& record : more.results) add(self, std::move(record));
      },
      [self](CommitNow) { commit(self); },
      [self](NoteHolders& holders) { note(self, holders); },
      [self](NoteProgress& progress) { note(self, progress); },
      [self](const LookUpHolders& wanted) { look_up(self, wanted); },
  };
}

}  // namespace

caf::actor spawn_recorder(caf::actor_system& system, Ledger ledger, const std::string& run_id, bool move_pins,
                          const caf::actor& coordinator, Observing observing, bool own_thread) {
  auto owned = std::make_shared<Ledger>(std::move(ledger));
  if (!own_thread) {
    return system.spawn(recorder_behavior, std::move(owned), run_id, move_pins, coordinator,
                        std::move(observing));
  }
  return system.spawn<caf::detached>(recorder_behavior, std::move(owned), run_id, move_pins, coordinator,
                                     std::move(observing));
}

}  // namespace sluice
