#include "worker/trial_runner.hpp"

#include "worker/messages.hpp"
#include "worker/scoring/score.hpp"

#include <utility>

#include <caf/event_based_actor.hpp>

namespace sluice {

namespace {

UnitResult result_of(const WorkUnit& unit, const Ontology& ontology, UnitCompleted& done) {
  UnitResult result;
  result.unit = unit.unit;
  result.key = unit.key;
  result.spend = done.spend;
  if (auto* error = std::get_if<Error>(&done.outcome)) {
    result.error = std::move(*error);
  } else {
    score_answer(std::get<Completion>(done.outcome), ontology, unit, result);
  }
  return result;
}

caf::behavior trial_runner(caf::event_based_actor* self, std::shared_ptr<const RunContext> run,
                           SharedUnit unit, const caf::actor& model_client, caf::actor worker) {
  self->send(model_client, CompleteUnit{unit});
  return {
      [self, run = std::move(run), unit = std::move(unit), worker = std::move(worker)](UnitCompleted& done) {
        self->send(worker, UnitFinished{run->run_id, result_of(*unit, run->ontology, done)});
        self->quit();
      },
  };
}

}  // namespace

void spawn_trial_runner(caf::actor_system& system, std::shared_ptr<const RunContext> run, SharedUnit unit,
                        const caf::actor& model_client, const caf::actor& worker) {
  system.spawn(trial_runner, std::move(run), std::move(unit), model_client, worker);
}

}  // namespace sluice
