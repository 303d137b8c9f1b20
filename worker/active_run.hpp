#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "worker/held_units.hpp"
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
  std::vector<UnitId> started;               ///< Not reported yet.
  std::vector<UnitResult> finished;          ///< Not reported yet.
  std::vector<UnitId> returned;              ///< Not reported yet.
  bool flush_pending = false;                ///< A FlushReports is in the mailbox.
  std::optional<TimePoint> timer_at;         ///< When one will come because its time is up.
  std::optional<TimePoint> gathering_since;  ///< Since when there is something that is not reported.
  std::uint32_t slots = 0;                   ///< Units that the model client works on at a time.
  bool demand_awaited = false;               ///< A TellDemand has not been answered yet.
  std::uint64_t heard_us = 0;                ///< As the model client told last.
  std::uint64_t finished_since_beat = 0;
  double finished_per_second = 0.0;
};

/// Starts the actors of a run, which answer to `worker`. An error: the run's ontology cannot be read.
Result<ActiveRun> start_run(caf::actor_system& system, const WorkerConfig& config, RunSettings settings,
                            const caf::actor& worker, const caf::actor& http);

/// How long what is not reported may wait for more: for as long as there is enough to do, or for a while if
/// there is something to do and a REPORT on its way that is answered with more. Zero: a worker that runs
/// short needs its next units now.
Duration gathering_time(const ActiveRun& run);

/// The credit to offer to the coordinator, `since_beat` after the last beat (delivery.md, "Credit").
std::uint32_t window_of(const ActiveRun& run, Duration since_beat);

}  // namespace sluice
