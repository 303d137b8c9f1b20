#pragma once

#include "worker/messages.hpp"
#include "worker/providers/key_mask.hpp"
#include "worker/scoring/score.hpp"

#include <chrono>
#include <memory>
#include <utility>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace sluice {

/// What the answers of a run are assessed by.
struct RunChecks {
  explicit RunChecks(Ontology of_run, KeyMask of_worker = {})
      : ontology(std::move(of_run)), keys(std::move(of_worker)) {}

  Ontology ontology;
  TextChecker text_checker;
  KeyMask keys;  ///< Finds this worker's keys in answers.
};

/// Starts the actor that scores what the model client completes (UnitsCompleted) and hands it to the worker
/// (UnitsScored), in the order of arrival: patterns over megabytes of text take seconds, and whoever keeps
/// the coordinator informed must not wait for them.
caf::actor spawn_scorer(caf::actor_system& system, std::shared_ptr<const RunChecks> checks,
                        const caf::actor& worker);

}  // namespace sluice
