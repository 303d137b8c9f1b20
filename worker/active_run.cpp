#include "worker/active_run.hpp"

#include "common/defaults.hpp"
#include "worker/model_client.hpp"
#include "worker/units/scorer.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace sluice {

namespace {

/// Nothing is paid for but in live mode, and each unit takes microseconds: begins with a deep window.
constexpr double units_per_second_unpaid = 10'000;

}  // namespace

Result<ActiveRun> start_run(caf::actor_system& system, const WorkerConfig& config, RunSettings settings,
                            const caf::actor& worker, const caf::actor& http) {
  auto ontology = Ontology::parse(settings.ontology, "the run's ontology");
  if (!ontology) return fail(ontology.error());
  ActiveRun run;
  run.slots = config.max_concurrent;
  const KeyMask keys(config.keys->all_keys());
  run.scorer = spawn_scorer(system, std::make_shared<const RunChecks>(std::move(*ontology), keys), worker);
  ModelClientConfig client;
  client.flow.settings = settings;
  client.flow.keys = config.keys->keys_for(settings, run.problems);
  client.flow.key_mask = keys;
  client.flow.store = config.store;
  client.flow.random_seed = config.random_seed;
  client.flow.max_concurrent = config.max_concurrent;
  client.flow.log_calls = config.log_calls;
  client.http = http;
  client.worker = worker;
  client.scorer = run.scorer;
  client.boot_clock = config.boot_clock;
  run.model_client = spawn_model_client(system, std::move(client));
  if (settings.mode != Mode::live) run.finished_per_second = units_per_second_unpaid;
  run.settings = std::move(settings);
  return run;
}

ReportSchedule::Load load_of(const ActiveRun& run) {
  return {run.held.waiting(), run.slots, run.held.done() > run.finished.size()};
}

std::uint32_t window_of(const ActiveRun& run, Duration since_beat) {
  // A fast run shows itself before the next beat; what is finished in less than 100 ms says little.
  const double seconds = std::max(std::chrono::duration<double>(since_beat).count(), 0.1);
  const double lately = static_cast<double>(run.finished_since_beat) / seconds;
  return credit_window(run.slots, std::max(run.finished_per_second, lately));
}

}  // namespace sluice
