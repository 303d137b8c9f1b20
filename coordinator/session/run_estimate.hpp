#pragma once

#include "common/error.hpp"
#include "coordinator/facts/run_estimate.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"

#include <vector>

namespace sluice {

/// What the plan's run would take, with the embedding run before it. `held` says for each unit whether a
/// cache has its answer. Votes and embeddings are counted as if no cache had any: which ones are needed
/// depends on answers. Fails as Plan::render.
Result<RunEstimate> estimate_run(const RunOptions& options, const RunInputs& inputs, const Plan& plan,
                                 const std::vector<bool>& held);

}  // namespace sluice
