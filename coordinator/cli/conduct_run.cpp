#include "coordinator/cli/conduct_run.hpp"

#include "common/clock.hpp"
#include "common/defaults.hpp"
#include "common/fleet/private_file.hpp"
#include "common/metrics_server/metrics_board.hpp"
#include "common/metrics_server/metrics_server.hpp"
#include "common/metrics_server/pulse.hpp"
#include "common/process/actor_system.hpp"
#include "common/process/host_name.hpp"
#include "common/text/stderr_line.hpp"
#include "common/transport/router.hpp"
#include "coordinator/actors/await_run.hpp"
#include "coordinator/actors/coordinator_actor.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/session/provider_limits.hpp"
#include "coordinator/session/run_commands.hpp"
#include "coordinator/session/run_plan.hpp"

#include <filesystem>
#include <string>
#include <utility>

#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

namespace sluice {
namespace {

constexpr const char* keys_folder = "keys";  // In the home.
constexpr const char* inner_endpoint = "inproc://coordinator";

/// The endpoint as a worker on another machine can use it: a wildcard address is everybody's own.
std::string reachable_form(const std::string& endpoint) {
  const auto port = endpoint.substr(endpoint.rfind(':'));
  if (endpoint != "tcp://0.0.0.0" + port && endpoint != "tcp://[::]" + port) return endpoint;
  return "tcp://" + host_name().value_or("THIS_HOST") + port;
}

Result<MetricsServer> serve_metrics(const std::string& endpoint, const std::shared_ptr<MetricsBoard>& board,
                                    const std::shared_ptr<Pulse>& pulse) {
  auto server = MetricsServer::start(
      endpoint, [board] { return board->read(); },
      [pulse] { return pulse->health(std::chrono::steady_clock::now()); });
  if (server) say("metrics at " + server->url());
  return server;
}

/// What this run and others of its home tell each other of the keys that they use.
std::shared_ptr<SharedBudgets> shared_budgets(const Settings& settings, const RunSettings& run) {
  if (run.mode != Mode::live) return nullptr;
  std::vector<SharedBudgets::Provider> providers;
  for (const ProviderSettings& one : run.providers) providers.push_back({one.name, key_identity(one)});
  auto opened = SharedBudgets::open(std::filesystem::path(settings.home.value) / keys_folder, providers,
                                    settings.request_timeout.value + 3 * run.heartbeat_interval);
  if (opened) return std::make_shared<SharedBudgets>(std::move(*opened));
  report_warning("the limits are not shared with other runs on this machine: " + opened.error().message);
  return nullptr;
}

/// Of a fleet the next coordinator of this home knows the numbers too: workers that outlive this one hand it
/// what they have.
Digest lease_secret(const RunOptions& options) {
  if (!options.listen) return new_secret();
  auto secret = shared_secret(lease_secret_file(options.settings.home.value));
  if (secret) return *secret;
  report_warning("another coordinator cannot go on with this run's leases: " + secret.error().message);
  return new_secret();
}

}  // namespace

Result<EndedRun> conduct(ConductedRun conducted, const Surroundings& around) {
  const RunOptions& options = conducted.options;
  RunController::Config& controller = conducted.controller;
  zmq::context_t network;
  ActorSystem actors;
  caf::scoped_actor self(actors.system);
  std::vector<std::string> endpoints{inner_endpoint};
  if (options.listen) endpoints.push_back(*options.listen);
  auto router = bind_router(network, endpoints, std::move(conducted.fleet));
  if (!router) return fail(router.error());
  const auto endpoint = router->endpoint;
  controller.workers_may_join = options.listen.has_value();
  controller.lease_secret = lease_secret(options);
  controller.how_to_start_a_worker = options.listen ? "start one with `sluice-worker --connect " +
                                                          reachable_form(endpoint) +
                                                          (options.fleet ? " --fleet-key FILE`" : "`")
                                                    : "the worker inside this process did not start";
  CoordinatorConfig config;
  config.plan = std::move(conducted.plan);
  // Mock answers are nobody's, and answers that no cache keeps cannot be replayed.
  config.move_pins = controller.settings.mode == Mode::live && controller.settings.write_cache;
  config.governor = governor_config(options.settings, controller.settings);
  config.governor.learned = std::move(conducted.learned);
  config.other_runs = shared_budgets(options.settings, controller.settings);
  const auto run_id = controller.settings.run_id;
  config.controller = std::move(controller);
  if (options.listen) {
    if (auto noted = conducted.ledger.note_endpoint(run_id, endpoint); !noted)
      return fail(std::move(noted.error()));
  }
  std::optional<MetricsServer> metrics_server;
  if (options.metrics_listen) {
    config.metrics = std::make_shared<MetricsBoard>();
    config.pulse = std::make_shared<Pulse>();
    auto server = serve_metrics(*options.metrics_listen, config.metrics, config.pulse);
    if (!server) return fail(std::move(server.error()));
    metrics_server = std::move(*server);
  }
  if (options.progress) {
    config.progress = spawn_progress(actors.system, around.style);
    config.progress_interval = around.style.interval();
    config.over_live_line = around.style.live;
  }
  config.listener = caf::actor_cast<caf::actor>(self);
  config.price = price_of(options, conducted.inputs);
  config.commands = command_rules(options, conducted.inputs);
  if (conducted.observer) config.observing = spawn_observer(actors.system, std::move(*conducted.observer));
  const auto observing = config.observing;
  const auto progress = config.progress;
  EndedRun run;
  run.endpoint = endpoint;
  run.started_at_ms = unix_now_ms();
  const auto coordinator =
      spawn_coordinator(actors.system, std::move(config), std::move(*router), std::move(conducted.ledger));
  around.signals.handle_with([&coordinator](const char* signal) {
    caf::anon_send(coordinator, StopRun{{Reason::interrupted, std::string("interrupted by ") + signal}});
  });
  // Announced once the run can be interrupted: until then a signal ends the process without a report.
  if (options.listen) say("listening on " + endpoint);
  std::optional<Error> no_start;
  std::vector<caf::actor> workers;
  if (conducted.start_workers) {
    LocalWorkers request{.system = actors.system,
                         .context = network,
                         .endpoint = inner_endpoint,
                         .count = options.workers,
                         .coordinator_timeout = defaults::peer_timeout,
                         .call_log = options.call_log,
                         .listener = caf::actor_cast<caf::actor>(self)};
    if (auto started = conducted.start_workers(request)) {
      workers = std::move(*started);
    } else {
      no_start = started.error();
      self->send(coordinator, StopRun{*no_start});
    }
  }
  run.ended = await_run(self, coordinator, workers, run_id);
  run.completed_at_ms = unix_now_ms();
  // One that the run's end did not reach (stopped before it had sent HELLO) would go on waiting for a
  // coordinator.
  for (const auto& worker : workers) self->send(worker, StopWorker{"the process ends", true});
  if (progress) self->send_exit(progress, caf::exit_reason::user_shutdown);
  // The end of the actors' life waits for it.
  if (observing.observer) self->send(observing.observer, FinishObserving{});
  around.signals.handle_with({});
  if (no_start) return fail(*no_start);
  return run;
}

}  // namespace sluice
