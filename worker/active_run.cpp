#include "worker/active_run.hpp"

#include "worker/model_client.hpp"
#include "worker/units/scorer.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace sluice {

namespace {

/// A worker that beats without a pause, or never gives up, serves nobody.
Result<void> check_times(const RunSettings& settings) {
  using std::chrono::milliseconds;
  const auto is_within = [](milliseconds time, milliseconds least, milliseconds most) {
    return time >= least && time <= most;
  };
  constexpr milliseconds least(1);  // 0 would be no time-out, and no pause before a retry.
  constexpr milliseconds longest =
      std::chrono::hours(24 * 7);  // As settings allow (setting_definitions.cpp).
  const char* wrong = nullptr;
  if (!is_within(settings.heartbeat_interval, milliseconds(10), milliseconds(60'000)))
    wrong = "heartbeat_interval";
  if (!is_within(settings.connect_timeout, least, longest)) wrong = "connect_timeout";
  if (!is_within(settings.request_timeout, least, longest)) wrong = "request_timeout";
  if (!is_within(settings.case_timeout, least, longest)) wrong = "case_timeout";
  if (!is_within(settings.backoff_initial, least, longest)) wrong = "backoff_initial";
  if (wrong == nullptr) return {};
  return fail(Reason::protocol_mismatch,
              std::string("the run's ") + wrong + " is none that a coordinator of sluice names");
}

}  // namespace

Result<ActiveRun> start_run(caf::actor_system& system, const WorkerConfig& config, RunSettings settings,
                            const caf::actor& worker, const caf::actor& http) {
  if (auto checked = check_times(settings); !checked) return fail(std::move(checked.error()));
  auto ontology = Ontology::parse(settings.ontology, "the run's ontology");
  if (!ontology) return fail(ontology.error());
  auto redactor = Redactor::make(settings.redaction);
  if (!redactor) return fail(redactor.error());
  ActiveRun run;
  run.keys = UnitKeys(settings.providers);
  run.concurrency = config.max_concurrent;
  const KeyMask keys(config.keys->all_keys());
  run.scorer = config.start_scorer(
      system,
      std::make_shared<const RunChecks>(
          std::move(*ontology), Disclosure{keys, *redactor, settings.observe, settings.returns_embeddings},
          settings.grading.has_value()),
      worker);
  ModelClientConfig client;
  client.flow.settings = settings;
  client.flow.credentials = config.keys->credentials_of(settings, run.problems);
  client.flow.key_mask = keys;
  client.flow.redactor = std::move(*redactor);
  client.flow.store = config.store;
  client.flow.random_seed = config.random_seed;
  client.flow.max_concurrent = config.max_concurrent;
  client.flow.log_calls = config.log_calls;
  client.http = http;
  client.call_log = config.call_log;
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
