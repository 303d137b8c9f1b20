#pragma once

#include "worker/scoring/score.hpp"
#include "worker/units/disclosure.hpp"

#include <memory>
#include <utility>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace sluice {

/// What the answers of a run are assessed by.
struct RunChecks {
  explicit RunChecks(Ontology of_run, Disclosure what_leaves = {}, bool run_grades = false)
      : ontology(std::move(of_run)), disclosure(std::move(what_leaves)), grades(run_grades) {}

  Ontology ontology;
  TextChecker text_checker;
  Disclosure disclosure;
  bool grades;  ///< What is scored has a grade.
};

/// Starts the actor that scores what the model client completes (UnitsCompleted) and hands it to the worker
/// (UnitsScored), in the order of arrival: patterns over megabytes of text take seconds, and whoever keeps
/// the coordinator informed must not wait for them.
caf::actor spawn_scorer(caf::actor_system& system, std::shared_ptr<const RunChecks> checks,
                        const caf::actor& worker);

}  // namespace sluice
