#pragma once

#include "coordinator/plan/plan.hpp"
#include "coordinator/run/command_checks.hpp"

#include <cstddef>
#include <memory>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace sluice {

/// Results that keep the commands busy: more of them would only wait for theirs, each with its answer.
std::size_t most_to_check();

/// Starts the actor that has commands check the answers of results on their way to the recorder: it takes
/// RecordResults, runs what they ask for on threads of its own, so many at a time, and hands each on when its
/// commands have ended; another result of the same unit waits for the first, and is not checked. On
/// DropChecks all that need a command are dropped, also those to come: ResultsDropped names them. A failure
/// is RecordingFailed. ChecksUnderWay says how many wait for commands whenever that changes.
caf::actor spawn_checker(caf::actor_system& system, std::shared_ptr<const Plan> plan,
                         std::shared_ptr<const CommandRules> rules, const caf::actor& coordinator,
                         const caf::actor& recorder);

}  // namespace sluice
