#pragma once

#include "common/cache_tools.hpp"
#include "coordinator/facts/run_estimate.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"

namespace sluice {

/// What the run would take, with what the home's caches hold. Warns on stderr of caches that another process
/// has open. Fails as make_plan, and as CacheTools::find.
Result<RunEstimate> estimate(const RunOptions& options, const RunInputs& inputs, const CacheTools& caches);

}  // namespace sluice
