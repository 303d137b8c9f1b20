#pragma once

#include "common/error.hpp"
#include "common/fleet/fleet_key.hpp"
#include "common/settings/settings.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/fwd.hpp>
#include <zmq.hpp>

namespace sluice {

class WorkerMetrics;

/// How a worker fares.
struct WorkerStatus {
  bool is_working = false;  ///< It has a run, and can do something for it.
  bool is_leaving = false;
  std::string text;  ///< In one line.
  friend bool operator==(const WorkerStatus&, const WorkerStatus&) = default;
};

/// Is told it each heartbeat, and when it changes what matters. Called on the worker's thread; must not
/// block.
using WatchWorker = std::function<void(const WorkerStatus&)>;

/// What the workers of a process keep answers in, and their settings.
struct WorkerCaches {
  const Settings& settings;         ///< Must outlive the workers' start.
  std::optional<std::string> name;  ///< Of the worker and its cache; unnamed ones take the first free cache.
  bool use_cache = true;            ///< False: no cache is opened at all.
  bool borrow_caches = false;   ///< Also read the caches of the home that nobody uses (a one-process run).
  bool misses_nothing = false;  ///< What other caches hold is renewed anyway, or the run looks for nothing.
};

/// A request for workers inside this process. They use the same wire as those of other processes.
struct LocalWorkers {
  caf::actor_system& system;
  zmq::context_t& context;
  std::string endpoint;  ///< inproc:// or tcp://
  std::uint32_t count = 1;
  bool stay = false;                 ///< Wait for the next run instead of ending after one.
  std::optional<FleetKey> key = {};  ///< By which it shows itself to the coordinator; without: no encryption.
  std::chrono::milliseconds coordinator_timeout{};
  std::shared_ptr<WorkerMetrics> metrics = {};  ///< Counts for Prometheus; may be null.
  std::optional<std::string> call_log = {};     ///< A file that gets a line for each call as it starts.
  WatchWorker watch = {};                       ///< May be empty.
  caf::actor listener;                          ///< Gets WorkerEnded once from each.
};

/// A worker is done: the run was drained, the coordinator never came, or something failed.
struct WorkerEnded {
  std::optional<Error> error;
};

/// To a worker: leave, and end. Calls under way are waited for first (--drain-timeout), unless `at_once` or
/// it was reported before.
struct StopWorker {
  std::string why;
  bool at_once = false;
};

/// Called once at most.
using StartWorkers = std::function<Result<std::vector<caf::actor>>(const LocalWorkers&)>;

/// Implemented by worker/embed.hpp; handed to the coordinator's side by the composition root.
using PrepareWorkers = std::function<StartWorkers(const WorkerCaches&)>;

}  // namespace sluice

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::WorkerEnded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::StopWorker)
