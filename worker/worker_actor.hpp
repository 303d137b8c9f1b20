#pragma once

#include "common/clock.hpp"
#include "common/defaults.hpp"
#include "common/metrics_server/worker_metrics.hpp"
#include "common/transport/local_workers.hpp"
#include "worker/answer_store.hpp"
#include "worker/http/call_log.hpp"
#include "worker/key_ring.hpp"
#include "worker/units/scorer.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace sluice {

/// One worker: a name, a cache, keys, and a number of calls in flight.
struct WorkerConfig {
  std::string name;
  std::uint64_t instance = 0;  ///< Random: this worker, whatever its sockets.
  std::uint32_t max_concurrent = defaults::max_concurrent;
  bool max_concurrent_named = false;  ///< Somebody set it: no search goes beyond it.
  std::shared_ptr<AnswerStore> store;
  std::shared_ptr<const KeyRing> keys;
  bool stay = false;  ///< Waits for the next run instead of ending after one.
  std::chrono::milliseconds
      coordinator_timeout{};                  ///< Ends after this long without a coordinator (unless `stay`).
  std::chrono::milliseconds drain_timeout{};  ///< For the calls under way when it leaves; 0: given up.
  std::uint64_t random_seed = 0;
  std::shared_ptr<CallLog> call_log;       ///< Null: calls are not logged.
  std::shared_ptr<WorkerMetrics> metrics;  ///< Null: nothing is counted.
  WatchWorker watch;                       ///< Empty: nobody watches.
  bool in_coordinator = false;  ///< Of the coordinator's process, which itself says what it cannot do.
  bool log_calls = false;       ///< Set from `call_log`, or by who brings an HTTP actor that logs.
  std::function<BootTime()> boot_clock = boot_clock_now;
  std::function<caf::actor(caf::actor_system&, std::shared_ptr<const RunChecks>, const caf::actor& worker)>
      start_scorer = spawn_scorer;
  caf::actor listener;  ///< Gets WorkerEnded.
};

/// Starts the actor that carries a worker's messages to the coordinator and back
/// (common/transport/dealer.hpp).
using StartDealer = std::function<caf::actor(const caf::actor& worker)>;

/// Starts the actor that exchanges messages with the coordinator (docs/protocol.md): takes leases, has as
/// many units completed at a time as its concurrency allows, scores their answers, reports results until they
/// are acknowledged, and stops calling when it is cut off. It starts and ends the actors it needs, and ends
/// with internal_error when one of them ends unexpectedly. The dealer and the HTTP actor end with it. Accepts
/// StopWorker.
caf::actor spawn_worker(caf::actor_system& system, WorkerConfig config, StartDealer start_dealer,
                        caf::actor http);

}  // namespace sluice
