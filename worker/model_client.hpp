#pragma once

#include "worker/http/call_log.hpp"
#include "worker/units/unit_flow.hpp"

#include <functional>
#include <memory>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace sluice {

/// What a model client needs for one run.
struct ModelClientConfig {
  UnitFlowConfig flow;
  caf::actor http;
  std::shared_ptr<CallLog> call_log{};  ///< Of calls that programs answer; null: they are not logged.
  caf::actor worker;  ///< Gets DemandChanged, and UnitsScored for what has begun without anything being done.
  caf::actor scorer;  ///< Gets UnitsCompleted.
  std::function<BootTime()> boot_clock = boot_clock_now;
};

/// Starts the actor around UnitFlow, for one run. Each unit of CompleteUnits comes to the scorer in one
/// UnitsCompleted, except after CancelCalls; what one message brought about goes on together.
caf::actor spawn_model_client(caf::actor_system& system, ModelClientConfig config);

}  // namespace sluice
