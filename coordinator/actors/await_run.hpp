#pragma once

#include "coordinator/actors/messages.hpp"

#include <string>
#include <vector>

#include <caf/actor.hpp>
#include <caf/scoped_actor.hpp>

namespace sluice {

/// Waits for the end of the run that this coordinator conducts, and hands it the errors of the workers of
/// this process. `self` is the listener of all of them. Should the coordinator itself die, the run has ended
/// with internal_error, and what is committed stands in the ledger.
RunEnded await_run(caf::scoped_actor& self, const caf::actor& coordinator,
                   const std::vector<caf::actor>& workers, const std::string& run_id);

}  // namespace sluice
