#pragma once

#include "common/ontology.hpp"
#include "worker/held_units.hpp"

#include <memory>
#include <string>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace sluice {

/// What all trials of a run share at a worker. Immutable.
struct RunContext {
  std::string run_id;
  Ontology ontology;
};

/// Starts the actor that takes one unit from its request to its result: the model client's answer, scored,
/// goes to `worker` as UnitFinished; then the actor ends.
void spawn_trial_runner(caf::actor_system& system, std::shared_ptr<const RunContext> run, SharedUnit unit,
                        const caf::actor& model_client, const caf::actor& worker);

}  // namespace sluice
