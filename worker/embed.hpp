#pragma once

#include "common/cache_tools.hpp"
#include "common/transport/local_workers.hpp"

#include <string>

/// The one entrance to this room, for `sluice` and for `sluice-worker` alike.
namespace sluice {

/// Begins to open the cache, which the workers of a process share, on a thread of its own: whoever prepares
/// them has time to do something else. What is returned starts the workers asked for, inside `sluice` or as
/// `sluice-worker`. Each ends by itself, with WorkerEnded to the listener. Errors: cache_in_use,
/// cache_failed, usage_invalid for an endpoint that cannot be parsed. If it is not called, its end waits for
/// the thread.
StartWorkers prepare_workers(const WorkerCaches& caches);
/// Of the machine and the process.
std::string default_worker_name();

/// The functions behind `sluice cache` (common/cache_tools.hpp says what each takes, gives and fails with).
CacheTools cache_tools();

}  // namespace sluice
