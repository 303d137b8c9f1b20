#pragma once

#include "common/transport/local_workers.hpp"

#include <vector>

namespace sluice {

/// Starts the workers asked for: the one entrance to this room, for `sluice` (workers inside it) and for
/// `sluice-worker` alike. The workers of a process share its cache. Each ends by itself, with WorkerEnded to
/// the listener. Errors: cache_in_use, cache_failed, usage_invalid for an endpoint that cannot be parsed.
Result<std::vector<caf::actor>> start_workers(const LocalWorkers& wish);

}  // namespace sluice
