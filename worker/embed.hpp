#pragma once

#include "common/cache_tools.hpp"
#include "common/transport/local_workers.hpp"

#include <vector>

/// The one entrance to this room, for `sluice` and for `sluice-worker` alike.
namespace sluice {

/// Starts the workers asked for, inside `sluice` or as `sluice-worker`. The workers of a process share its
/// cache. Each ends by itself, with WorkerEnded to the listener. Errors: cache_in_use, cache_failed,
/// usage_invalid for an endpoint that cannot be parsed.
Result<std::vector<caf::actor>> start_workers(const LocalWorkers& options);

/// The functions behind `sluice cache` (common/cache_tools.hpp says what each takes, gives and fails with).
CacheTools cache_tools();

}  // namespace sluice
