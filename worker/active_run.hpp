#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "worker/held_units.hpp"
#include "worker/report_schedule.hpp"
#include "worker/worker_actor.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace sluice {

/// A worker's part in one run: what is gone when the run is over.
struct ActiveRun {
  RunSettings settings;
  caf::actor scorer;
  caf::actor model_client;
  std::vector<Error> problems;  ///< Providers that cannot be called from here.
  HeldUnits held;
  std::vector<UnitId> started;       ///< Not reported yet.
  std::vector<UnitResult> finished;  ///< Not reported yet.
  std::vector<UnitId> returned;      ///< Not reported yet.
  ReportSchedule schedule;           ///< When that goes out.
  std::uint32_t slots = 0;           ///< Units that the model client works on at a time.
  bool demand_awaited = false;       ///< A TellDemand has not been answered yet.
  std::uint64_t heard_us = 0;        ///< As the model client told last.
  std::uint64_t finished_since_beat = 0;
  double finished_per_second = 0.0;
};

/// Starts the actors of a run, which answer to `worker`. An error: the run's ontology cannot be read.
Result<ActiveRun> start_run(caf::actor_system& system, const WorkerConfig& config, RunSettings settings,
                            const caf::actor& worker, const caf::actor& http);

ReportSchedule::Load load_of(const ActiveRun& run);

/// The credit to offer to the coordinator, `since_beat` after the last beat (docs/delivery.md, "Credit").
std::uint32_t window_of(const ActiveRun& run, Duration since_beat);

}  // namespace sluice
