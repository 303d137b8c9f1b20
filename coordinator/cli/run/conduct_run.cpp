#include "coordinator/cli/run/conduct_run.hpp"

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

/// Nothing where nobody asked for metrics.
Result<std::optional<MetricsServer>> serve_metrics(const std::optional<std::string>& endpoint,
                                                   CoordinatorConfig& config) {
  if (!endpoint) return std::nullopt;
  config.metrics = std::make_shared<MetricsBoard>();
  config.pulse = std::make_shared<Pulse>();
  auto server = MetricsServer::start(
      *endpoint, [board = config.metrics] { return board->read(); },
      [pulse = config.pulse] { return pulse->health(std::chrono::steady_clock::now()); });
  if (!server) return fail(std::move(server.error()));
  say("metrics at " + server->url());
  return std::move(*server);
}

/// What this run and others of its home tell each other of the keys that they use.
std::shared_ptr<SharedBudgets> shared_budgets(const Settings& settings, const RunSettings& run) {
  if (run.mode != Mode::live) return nullptr;
  std::vector<SharedBudgets::Provider> providers;
  for (const ProviderSettings& one : run.providers) {
    // Connections are closed with their process; programs end after it, and what they have started may go on.
    providers.push_back({one.name, key_identity(one), one.kind != ProviderKind::exec});
  }
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

std::string how_to_start_a_worker(const RunOptions& options, const std::string& endpoint) {
  if (!options.listen) return "the worker inside this process did not start";
  return "start one with `sluice-worker --connect " + reachable_form(endpoint) +
         (options.fleet ? " --fleet-key FILE`" : "`");
}

/// All that the run was given for its coordinator; nobody watches it yet.
CoordinatorConfig coordinator_config(ConductedRun& conducted, const std::string& endpoint) {
  const RunOptions& options = conducted.options;
  RunController::Config& controller = conducted.controller;
  controller.workers_may_join = options.listen.has_value();
  controller.lease_secret = lease_secret(options);
  controller.how_to_start_a_worker = how_to_start_a_worker(options, endpoint);
  CoordinatorConfig config;
  config.plan = std::move(conducted.plan);
  // Mock answers are nobody's, and answers that no cache keeps cannot be replayed.
  config.move_pins = controller.settings.mode == Mode::live && controller.settings.write_cache;
  config.governor = governor_config(options.settings, controller.settings);
  config.governor.learned = std::move(conducted.learned);
  config.other_runs = shared_budgets(options.settings, controller.settings);
  config.price = price_of(options, conducted.inputs);
  config.commands = command_rules(options, conducted.inputs);
  config.controller = std::move(controller);
  return config;
}

/// Those inside this process; none where the run has none of its own.
Result<std::vector<caf::actor>> start_own_workers(const ConductedRun& conducted, ActorSystem& actors,
                                                  zmq::context_t& network, const caf::actor& listener) {
  if (!conducted.start_workers) return std::vector<caf::actor>{};
  return conducted.start_workers({.system = actors.system,
                                  .context = network,
                                  .endpoint = inner_endpoint,
                                  .count = conducted.options.workers,
                                  .coordinator_timeout = defaults::peer_timeout,
                                  .call_log = conducted.options.call_log,
                                  .listener = listener});
}

/// In the ledger, where workers look for the run as well.
Result<void> note_beginning(ConductedRun& conducted, const std::string& run_id, const std::string& endpoint) {
  if (auto opened = conducted.open_again(conducted.ledger); !opened) return opened;
  if (!conducted.options.listen) return {};
  return conducted.ledger.note_endpoint(run_id, endpoint);
}

/// Takes the handler of signals away at the end of its scope.
struct HandledSignals {
  SignalWatch& watch;
  ~HandledSignals() { watch.handle_with({}); }
};

}  // namespace

Result<EndedRun> conduct(ConductedRun conducted, const Surroundings& around) {
  const RunOptions& options = conducted.options;
  const std::string run_id = conducted.controller.settings.run_id;
  zmq::context_t network;
  ActorSystem actors;
  caf::scoped_actor self(actors.system);
  const auto listener = caf::actor_cast<caf::actor>(self);
  std::vector<std::string> endpoints{inner_endpoint};
  if (options.listen) endpoints.push_back(*options.listen);
  auto router = bind_router(network, endpoints, std::move(conducted.fleet));
  if (!router) return fail(router.error());
  EndedRun run;
  run.endpoint = router->endpoint;
  CoordinatorConfig config = coordinator_config(conducted, run.endpoint);
  // Until the cache is open there is nothing to stop: what comes then stops the run as it begins.
  const char* early_signal = nullptr;
  const HandledSignals handled{around.signals};
  around.signals.handle_with([&early_signal](const char* signal) {
    early_signal = signal;
    say(std::string("interrupted by ") + signal +
        ": the run ends when its cache is open; press Ctrl-C again, or send one more signal, to end at once");
  });
  const auto metrics_server = serve_metrics(options.metrics_listen, config);
  if (!metrics_server) return fail(metrics_server.error());
  // They wait for the coordinator, as those of other processes do.
  const auto workers = start_own_workers(conducted, actors, network, listener);
  if (!workers) return fail(workers.error());
  // One that the run's end did not reach (stopped before it had sent HELLO) would go on waiting for a
  // coordinator.
  const auto stop_workers = [&] {
    for (const auto& worker : *workers) self->send(worker, StopWorker{"the process ends", true});
  };
  if (auto noted = note_beginning(conducted, run_id, run.endpoint); !noted) {
    stop_workers();
    return fail(std::move(noted.error()));
  }
  if (options.progress) {
    config.progress = spawn_progress(actors.system, around.style);
    config.progress_interval = around.style.interval();
    config.over_live_line = around.style.live;
  }
  config.listener = listener;
  if (conducted.observer) config.observing = spawn_observer(actors.system, std::move(*conducted.observer));
  const auto observing = config.observing;
  const auto progress = config.progress;
  const auto coordinator =
      spawn_coordinator(actors.system, std::move(config), std::move(*router), std::move(conducted.ledger));
  const auto stop = [coordinator](const char* signal) {
    caf::anon_send(coordinator, StopRun{{Reason::interrupted, std::string("interrupted by ") + signal}});
  };
  around.signals.handle_with(stop);
  if (early_signal != nullptr) stop(early_signal);
  // Announced once the run can be interrupted.
  if (options.listen) say("listening on " + run.endpoint);
  run.ended = await_run(self, coordinator, *workers, run_id);
  run.completed_at_ms = unix_now_ms();
  stop_workers();
  if (progress) self->send_exit(progress, caf::exit_reason::user_shutdown);
  // The end of the actors' life waits for it.
  if (observing.observer) self->send(observing.observer, FinishObserving{});
  return run;
}

}  // namespace sluice
