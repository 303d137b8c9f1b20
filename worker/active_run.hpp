#pragma once

#include "common/error.hpp"
#include "worker/credit.hpp"
#include "worker/heartbeats.hpp"
#include "worker/leased_units.hpp"
#include "worker/report_schedule.hpp"
#include "worker/unit_keys.hpp"
#include "worker/worker_actor.hpp"

#include <cstdint>
#include <vector>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace sluice {

/// A worker's part in one run: what is gone when the run is over.
struct ActiveRun {
  RunSettings settings;
  caf::actor scorer;
  caf::actor model_client;
  std::vector<Error> problems;  ///< Why it gets no work: providers that cannot be called from here.
  UnitKeys keys;                ///< Those of leased units.
  LeasedUnits units;
  ReportSchedule schedule;  ///< When what is new of them is reported.
  Credit credit;
  Heartbeats heartbeats;
  std::uint32_t concurrency = 0;  ///< Units that the model client works on at a time.
};

/// Starts the actors of a run, which answer to `worker`. An error: the run's times are such as no sluice
/// names, or its ontology or redaction cannot be read.
Result<ActiveRun> start_run(caf::actor_system& system, const WorkerConfig& config, RunSettings settings,
                            const caf::actor& worker, const caf::actor& http);

wire::Hello hello_message(const WorkerConfig& config);
/// READY with all that is held.
wire::Ready ready_message(const ActiveRun& run, std::uint32_t window);

}  // namespace sluice
