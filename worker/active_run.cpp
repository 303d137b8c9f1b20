#include "worker/active_run.hpp"

#include "worker/model_client.hpp"
#include "worker/units/scorer.hpp"

#include <memory>
#include <utility>

namespace sluice {

Result<ActiveRun> start_run(caf::actor_system& system, const WorkerConfig& config, RunSettings settings,
                            const caf::actor& worker, const caf::actor& http) {
  auto ontology = Ontology::parse(settings.ontology, "the run's ontology");
  if (!ontology) return fail(ontology.error());
  auto redactor = Redactor::make(settings.redaction);
  if (!redactor) return fail(redactor.error());
  ActiveRun run;
  run.concurrency = config.max_concurrent;
  const KeyMask keys(config.keys->all_keys());
  run.scorer = config.start_scorer(
      system,
      std::make_shared<const RunChecks>(
          std::move(*ontology), Disclosure{keys, *redactor, settings.observe, settings.returns_embeddings}),
      worker);
  ModelClientConfig client;
  client.flow.settings = settings;
  client.flow.keys = config.keys->keys_for(settings, run.problems);
  client.flow.key_mask = keys;
  client.flow.redactor = std::move(*redactor);
  client.flow.store = config.store;
  client.flow.random_seed = config.random_seed;
  client.flow.max_concurrent = config.max_concurrent;
  client.flow.log_calls = config.log_calls;
  client.http = http;
  client.worker = worker;
  client.scorer = run.scorer;
  client.boot_clock = config.boot_clock;
  run.model_client = spawn_model_client(system, std::move(client));
  run.credit = Credit(settings.mode == Mode::live && !settings.returns_embeddings);
  run.settings = std::move(settings);
  return run;
}

wire::Hello hello_message(const WorkerConfig& config) {
  return {config.instance, config.name,           config.store->id(),
          SLUICE_VERSION,  config.max_concurrent, config.max_concurrent_named};
}

wire::Ready ready_message(const ActiveRun& run, std::uint32_t window) {
  return {run.settings.run_id, run.problems, window, run.units.held().all()};
}

}  // namespace sluice
