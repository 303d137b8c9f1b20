#pragma once

#include "common/metrics_server/metrics_board.hpp"
#include "common/metrics_server/pulse.hpp"
#include "common/transport/router.hpp"
#include "coordinator/actors/observer.hpp"
#include "coordinator/governor/governor.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/run/command_checks.hpp"
#include "coordinator/run/run_controller.hpp"
#include "coordinator/shared_budget/shared_budgets.hpp"

#include <chrono>
#include <functional>
#include <memory>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace sluice {

/// What a coordinator needs to conduct one run.
struct CoordinatorConfig {
  std::shared_ptr<const Plan> plan;
  RunController::Config controller;
  GovernorConfig governor;                        ///< The shared budgets of the run's providers.
  std::shared_ptr<SharedBudgets> other_runs{};    ///< Those that use the same keys; null: none is looked for.
  bool move_pins = true;                          ///< This run's answers become the pinned ones (ADR 2).
  std::chrono::milliseconds progress_interval{};  ///< 0: no progress is shown.
  caf::actor progress;                            ///< Gets ShowProgress; may be null.
  bool over_live_line = false;                    ///< The progress is a line of a terminal, drawn anew.
  std::shared_ptr<MetricsBoard> metrics;          ///< Gets the run's metrics each heartbeat; may be null.
  std::shared_ptr<Pulse> pulse;                   ///< Beats with them.
  caf::actor listener;                            ///< Gets RunEnded once.
  RunPrice price;
  std::shared_ptr<const CommandRules> commands{};  ///< Of a run whose answers commands check; else null.
  Observing observing{};  ///< Gets the committed results of a run that saves observations.
};

/// Starts the actor that conducts a run: a thin shell around RunController, with the router, governor and
/// recorder that it starts and ends. Accepts StopRun.
caf::actor spawn_coordinator(caf::actor_system& system, CoordinatorConfig config, BoundRouter router,
                             Ledger ledger);

/// Start the actors that carry a coordinator's messages to its workers and its results into the ledger.
using StartRouter = std::function<caf::actor(const caf::actor& coordinator)>;
using StartRecorder = std::function<caf::actor(const caf::actor& coordinator)>;

/// The same with a router and a recorder of the caller's choice, which the coordinator ends with itself.
caf::actor spawn_coordinator(caf::actor_system& system, CoordinatorConfig config, StartRouter start_router,
                             StartRecorder start_recorder);

}  // namespace sluice
