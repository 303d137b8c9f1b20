#include "worker/units/scorer.hpp"

#include "common/process/supervision.hpp"
#include "worker/defaults.hpp"
#include "worker/messages.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

namespace sluice {

namespace {

struct ScorerState {
  ScorerState() = default;
  static inline const char* name = "scorer";

  std::shared_ptr<const RunChecks> checks;
  caf::actor worker;
  std::deque<UnitsCompleted> batches;
  std::size_t scored = 0;               ///< Units of the first batch that are done with.
  bool goes_on = false;                 ///< A ScoreMore is in the mailbox.
  std::optional<WoundDown> wound_down;  ///< For the worker, behind the batches.
};

using Scorer = caf::stateful_actor<ScorerState>;

UnitResult scored_or_error(CompletedUnit completed, const RunChecks& run) {
  auto& [unit, outcome, spend, evidence, read, answer] = completed;
  const Checks checks{run.ontology, run.text_checker};
  auto* const error = std::get_if<Error>(&outcome);
  if (!error || !answer) {
    return unit_result(*unit, checks, std::move(outcome), evidence, spend, std::move(read), run.disclosure);
  }
  const auto part = run.grades ? std::nullopt : part_beside_error(*unit, *error, *answer);
  return part
             ? refused_result(*part, checks, std::move(*error), std::move(*answer), spend, run.disclosure)
             : unassessed_result(*unit, checks, std::move(*error), std::move(*answer), spend, run.disclosure);
}

UnitResult result_of(CompletedUnit completed, const RunChecks& run) {
  const auto& baseline = completed.evidence.baseline;
  const Digest stored_baseline = baseline ? baseline->digest : Digest{};
  UnitResult result = scored_or_error(std::move(completed), run);
  result.stored_baseline = stored_baseline;
  return result;
}

/// Scores for a slice of time, or until nothing is left.
void score(Scorer* self) {
  auto& state = self->state;
  // Real time, not the actors' clock: this is about a thread.
  const auto end = std::chrono::steady_clock::now() + defaults::scoring_slice;
  while (!state.batches.empty()) {
    auto& batch = state.batches.front();
    UnitsScored scored{batch.run_id, std::exchange(batch.started, {}), {}};
    scored.results.reserve(batch.units.size() - state.scored);
    bool out_of_time = false;
    while (state.scored < batch.units.size() && !out_of_time) {
      scored.results.push_back(result_of(std::move(batch.units[state.scored++]), *state.checks));
      out_of_time = std::chrono::steady_clock::now() >= end;
    }
    self->send(state.worker, std::move(scored));
    if (state.scored == batch.units.size()) {
      state.batches.pop_front();
      state.scored = 0;
    }
    if (out_of_time && !state.batches.empty()) {
      state.goes_on = true;
      return self->send(self, ScoreMore{});
    }
  }
  if (auto done = std::exchange(state.wound_down, std::nullopt)) self->send(state.worker, std::move(*done));
}

caf::behavior scorer_behavior(Scorer* self, std::shared_ptr<const RunChecks> checks,
                              const caf::actor& worker) {
  self->state.checks = std::move(checks);
  self->state.worker = worker;
  end_on_exception(self);
  return {
      [self](UnitsCompleted& completed) {
        self->state.batches.push_back(std::move(completed));
        if (!self->state.goes_on) score(self);
      },
      [self](WoundDown& done) {
        self->state.wound_down = std::move(done);
        if (!self->state.goes_on) score(self);
      },
      [self](ScoreMore) {
        self->state.goes_on = false;
        score(self);
      },
  };
}

}  // namespace

caf::actor spawn_scorer(caf::actor_system& system, std::shared_ptr<const RunChecks> checks,
                        const caf::actor& worker) {
  return system.spawn(scorer_behavior, std::move(checks), worker);
}

}  // namespace sluice
