#pragma once

#include "common/error.hpp"
#include "common/fleet/fleet_security.hpp"
#include "common/process/signals.hpp"
#include "common/transport/local_workers.hpp"
#include "coordinator/actors/messages.hpp"
#include "coordinator/actors/observer.hpp"
#include "coordinator/actors/progress_actor.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/run/run_controller.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// The process around a run.
struct Surroundings {
  const PrepareWorkers& prepare_workers;
  SignalWatch& signals;
  ProgressStyle style;
};

/// A run that can begin: the ledger has it, and everything that it is made of was checked.
struct ConductedRun {
  const RunOptions& options;
  const RunInputs& inputs;
  std::shared_ptr<const Plan> plan;
  RunController::Config controller;
  std::optional<FleetSecurity> fleet;
  std::vector<LearnedLimits> learned;
  Ledger ledger;
  std::optional<ObserverConfig> observer;
  StartWorkers start_workers;  ///< Empty where the run has none of its own.
  /// Called once, when all is set up that can fail for what the user said, and before any result comes.
  std::function<Result<void>(Ledger&)> open_again;
};

/// What a run leaves behind when it has ended.
struct EndedRun {
  RunEnded ended;
  std::string endpoint;  ///< Where workers could join.
  std::int64_t completed_at_ms = 0;
};

/// From the first actor to the last: they live and die in here. Errors: listen_failed and others of the
/// set-up.
Result<EndedRun> conduct(ConductedRun conducted, const Surroundings& around);

}  // namespace sluice
