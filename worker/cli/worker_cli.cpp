#include "worker/cli/worker_cli.hpp"

#include "common/defaults.hpp"
#include "common/manual/help_formatter.hpp"
#include "common/memory.hpp"
#include "common/metrics_server/metrics_server.hpp"
#include "common/metrics_server/pulse.hpp"
#include "common/metrics_server/worker_metrics.hpp"
#include "common/process/actor_system.hpp"
#include "common/process/descriptors.hpp"
#include "common/process/logging.hpp"
#include "common/process/service_manager.hpp"
#include "common/process/signals.hpp"
#include "common/process/supervision.hpp"
#include "common/settings/load_settings.hpp"
#include "common/settings/metrics_endpoint.hpp"
#include "common/settings/setting_values.hpp"
#include "common/settings/tcp_endpoint.hpp"
#include "common/text/stderr_line.hpp"
#include "common/text/text.hpp"
#include "worker/embed.hpp"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/system_messages.hpp>
#include <spdlog/spdlog.h>
#include <unistd.h>

namespace sluice {

namespace {

constexpr const char* examples =
    "Examples:\n"
    "  sluice-worker --connect tcp://127.0.0.1:5555\n"
    "  OPENAI_API_KEY=... sluice-worker --connect tcp://10.0.0.5:5555 \\\n"
    "    --fleet-key gpu-7.key              # made there by `sluice keys new gpu-7`\n"
    "The worker ends with its run; --stay keeps it for the next one.\n"
    "A signal (Ctrl-C) stops it once its calls have ended; one more, a second later,\n"
    "ends it at once.\n"
    "Exit code 0: drained or told to stop; 2: usage, settings, set-up, a key that is\n"
    "missing or refused, no coordinator in time, or ended at once.";

constexpr const char* what_is_given_up =
    "calls under way are given up; the coordinator gives their cases to other workers";

constexpr const char* fleet_key_variable = "SLUICE_FLEET_KEY";
constexpr const char* notify_variable = "NOTIFY_SOCKET";  // systemd's, for units with Type=notify.

struct WorkerFlags {
  std::string connect;
  std::optional<std::string> name;
  std::optional<std::string> max_concurrent;
  std::optional<std::string> fleet_key;
  bool insecure = false;
  std::optional<std::string> home;
  std::optional<std::string> config;
  std::optional<std::string> orphan_timeout;
  std::optional<std::string> drain_timeout;
  std::optional<std::string> call_log;
  std::optional<std::string> metrics_listen;
  std::string log_level = "info";
  std::optional<std::string> log_format;
  bool stay = false;
};

void add_flags(CLI::App& app, WorkerFlags& flags) {
  app.add_option("--connect", flags.connect, "The coordinator's endpoint")
      ->type_name("tcp://HOST:PORT")
      ->required();
  app.add_option("--fleet-key", flags.fleet_key,
                 "Key by which the coordinator knows this worker (or SLUICE_FLEET_KEY)")
      ->type_name("FILE");
  app.add_flag("--insecure", flags.insecure,
               "Join a coordinator beyond loopback without a key, unencrypted and unverified");
  app.add_option("--name", flags.name, "Name of the worker and of its cache")->type_name("NAME");
  app.add_option("--max-concurrent", flags.max_concurrent,
                 "Most calls in flight; unset: 5 at first, then as many as the limits or a search allow")
      ->type_name("N");
  app.add_option("--orphan-timeout,--coordinator-timeout", flags.orphan_timeout,
                 "Without a coordinator, keep results for this long, then end (default 120)")
      ->type_name("SECONDS");
  app.add_option("--drain-timeout", flags.drain_timeout,
                 "How long a stopping worker waits for its calls in flight (default 25)")
      ->type_name("SECONDS");
  app.add_flag("--stay", flags.stay, "Wait for the next run instead of ending with this one");
  app.add_option("--home", flags.home, "Folder of the caches (default SLUICE_HOME or ~/.sluice)")
      ->type_name("DIR");
  app.add_option("--config", flags.config, "Settings file (default: ./sluice.toml)")->type_name("FILE");
  app.add_option("--call-log", flags.call_log, "Append a JSON line for each call at the instant it starts")
      ->type_name("FILE");
  app.add_option("--metrics-listen", flags.metrics_listen,
                 "Serve /metrics to Prometheus, /healthz and /readyz (:PORT is 127.0.0.1)")
      ->type_name("HOST:PORT");
  app.add_option("--log-level", flags.log_level, "What is logged (default info)")
      ->type_name("error|warn|info|debug|trace");
  app.add_option("--log-format", flags.log_format, "Format of stderr: sentences, or a JSON object per line")
      ->type_name("text|json");
}

int report(const std::string& message) {
  say(message, Severity::error);
  return 2;
}

/// The name is that of a folder too; what else folders may not be called is checked where they are made. A
/// coordinator takes only text for a name, and shows it.
std::optional<std::string> problem_with_name(const WorkerFlags& flags) {
  constexpr std::size_t longest = 255;
  if (!flags.name) return std::nullopt;
  if (flags.name->size() > longest)
    return "--name must have at most " + std::to_string(longest) + " bytes, and has " +
           std::to_string(flags.name->size()) + ": choose a shorter one";
  const auto text = word()(*flags.name);
  return text ? std::nullopt : std::optional("--name " + text.error());
}

std::optional<std::string> problem_with_log_level(const WorkerFlags& flags) {
  const auto level = one_of({"error", "warn", "info", "debug", "trace"})(flags.log_level);
  return level ? std::nullopt : std::optional("--log-level " + level.error());
}

/// How long the worker waits for a coordinator.
Result<std::chrono::milliseconds> coordinator_timeout(const WorkerFlags& flags) {
  if (!flags.orphan_timeout) return defaults::peer_timeout;
  const auto seconds = real(0.1, 86400.0)(*flags.orphan_timeout);
  if (!seconds) return fail(Reason::usage_invalid, "--orphan-timeout " + seconds.error());
  return std::chrono::milliseconds(std::llround(1000 * *seconds));
}

std::vector<FlagValue> setting_flags(const WorkerFlags& flags) {
  std::vector<FlagValue> values;
  if (flags.max_concurrent) values.push_back({"max_concurrent", "--max-concurrent", *flags.max_concurrent});
  if (flags.drain_timeout)
    values.push_back({"drain_timeout_seconds", "--drain-timeout", *flags.drain_timeout});
  if (flags.home) values.push_back({"home", "--home", *flags.home});
  if (flags.log_format) values.push_back({"log_format", "--log-format", *flags.log_format});
  return values;
}

/// The worker's key, if one is named. Beyond loopback it takes one, or --insecure.
Result<std::optional<FleetKey>> fleet_key(const WorkerFlags& flags) {
  std::optional<std::string> file = flags.fleet_key;
  if (const char* variable = std::getenv(fleet_key_variable);
      !file && variable != nullptr && *variable != '\0')
    file = variable;
  if (file && flags.insecure)
    return fail(Reason::usage_invalid,
                "--insecure joins whatever answers, and a fleet key its own coordinator alone: "
                "leave out one of them");
  if (file) {
    auto key = read_fleet_key(*file);
    if (!key) return fail(std::move(key.error()));
    if (key->coordinator_keys.empty())
      return fail(Reason::settings_invalid, *file +
                                                " names no coordinator (coordinator_keys): is it the "
                                                "coordinator's own? `sluice keys new NAME` makes a worker's");
    return std::move(*key);
  }
  const auto endpoint = parse_tcp_endpoint(flags.connect);
  const bool is_remote = endpoint && !is_loopback(*endpoint);
  if (!is_remote || flags.insecure) return std::nullopt;
  return fail(
      Reason::insecure_refused,
      "--connect names another machine, and there is no key: give the one that `sluice keys new NAME` made "
      "there with --fleet-key FILE, or say --insecure if the network and whoever answers can be trusted");
}

/// The server if one is asked for.
Result<std::optional<MetricsServer>> serve_metrics(const WorkerFlags& flags,
                                                   const std::shared_ptr<WorkerMetrics>& metrics,
                                                   const std::shared_ptr<Pulse>& pulse) {
  if (!flags.metrics_listen) return std::nullopt;
  const auto endpoint = parse_metrics_endpoint(*flags.metrics_listen);
  if (!endpoint) return fail(endpoint.error());
  auto server = MetricsServer::start(
      *endpoint, [metrics] { return metrics->read(); },
      [pulse] { return pulse->health(std::chrono::steady_clock::now()); });
  if (!server) return fail(std::move(server.error()));
  say("metrics at " + server->url());
  return std::move(*server);
}

Result<std::shared_ptr<ServiceManager>> service_manager() {
  const char* socket = std::getenv(notify_variable);
  return ServiceManager::at(socket ? std::optional<std::string>(socket) : std::nullopt);
}

/// Hands on how the worker fares: to who asks over HTTP, and to the service manager, if one started this
/// process.
WatchWorker hand_on(const std::shared_ptr<Pulse>& pulse, const std::shared_ptr<ServiceManager>& service) {
  return [pulse, service, last = std::optional<WorkerStatus>()](const WorkerStatus& now) mutable {
    pulse->beat(now.is_working && !now.is_leaving, now.text, std::chrono::steady_clock::now());
    if (!service) return;
    if (!last) {
      service->ready(now.text);
    } else if (now.is_leaving && !last->is_leaving) {
      service->stopping(now.text);
    } else if (now.text != last->text) {
      service->status(now.text);
    }
    service->alive();
    last = now;
  };
}

int serve(const WorkerFlags& flags) {
  SignalWatch signals(2);
  // Told to stop, with nothing under way yet; its cache may take a while to open.
  signals.handle_with([](const char* signal) {
    say(std::string("stopped by ") + signal + " before it took any work");
    ::_exit(0);
  });
  const auto settings = load_settings(flags.config, setting_flags(flags));
  if (!settings) {
    for (const auto& finding : settings.error()) report(to_text(finding));
    return 2;
  }
  set_log_format(settings->log_format.value);
  if (const auto problem = problem_with_log_level(flags)) return report(*problem);
  if (const auto problem = problem_with_name(flags)) return report(*problem);
  set_log_context({.worker = flags.name.value_or(default_worker_name())});
  set_up_logging(flags.log_level, false);
  for (const std::string& warning : settings->warnings) spdlog::warn("{}", warning);
  if (const auto problem = problem_with_connect(flags.connect)) return report(*problem);
  const auto timeout = coordinator_timeout(flags);
  if (!timeout) return report(timeout.error().message);
  auto key = fleet_key(flags);
  if (!key) return report(key.error().message);
  const auto metrics = std::make_shared<WorkerMetrics>();
  const auto pulse = std::make_shared<Pulse>();
  const auto server = serve_metrics(flags, metrics, pulse);
  if (!server) return report(server.error().message);
  const auto service = service_manager();
  if (!service) return report(service.error().message);
  zmq::context_t network;
  ActorSystem actors;
  caf::scoped_actor self(actors.system);
  LocalWorkers options{.system = actors.system,
                       .context = network,
                       .endpoint = flags.connect,
                       .count = 1,
                       .stay = flags.stay,
                       .key = std::move(*key),
                       .coordinator_timeout = *timeout,
                       .metrics = metrics,
                       .call_log = flags.call_log,
                       .watch = hand_on(pulse, *service),
                       .listener = caf::actor_cast<caf::actor>(self)};
  spdlog::info("connecting to {}", flags.connect);
  const auto workers = prepare_workers({.settings = *settings, .name = flags.name})(options);
  if (!workers) return report(workers.error().message);
  signals.say_at_an_early_end(what_is_given_up);
  signals.handle_with([&](const char* signal) {
    for (const auto& worker : *workers) caf::anon_send(worker, StopWorker{signal});
  });
  int code = 0;
  bool ended = false;
  self->monitor(workers->front());
  self->receive_while([&] { return !ended; })(
      [&](const WorkerEnded& worker) {
        ended = true;
        if (worker.error) code = report(worker.error->message);
      },
      [&](const caf::down_msg& down) {
        if (!down.reason) return;  // Its WorkerEnded is on its way.
        ended = true;
        code = report(unexpected_end("the worker", actors.system.render(down.reason)).message);
      });
  signals.handle_with([](const char*) {});  // It ends anyway.
  signals.say_at_an_early_end({});
  return code;
}

std::unique_ptr<CLI::App> make_program(WorkerFlags& flags) {
  auto program =
      std::make_unique<CLI::App>("Evaluates cases for a `sluice run --listen` coordinator", "sluice-worker");
  program->formatter(std::make_shared<HelpFormatter>());
  program->set_version_flag("--version", "sluice-worker " SLUICE_VERSION, "Show the version");
  program->set_help_flag("--help,-h", "Show this help");
  program->footer(examples);
  add_flags(*program, flags);
  return program;
}

constexpr const char* see_help = " (see `sluice-worker --help`)";

std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  const auto unknown = app.remaining();
  const std::string message = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return message.substr(0, message.find(':')) + " takes one value, and is given once" + see_help;
  if (unknown.empty()) return message + see_help;
  // A misspelt --connect is missing as well, which is said first.
  const std::string& word = unknown.front();
  if (!word.starts_with('-')) return "unexpected argument \"" + word + "\"" + see_help;
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  return "unknown flag \"" + word + "\"" + did_you_mean(word.substr(0, word.find('=')), candidates) +
         see_help;
}

}  // namespace

CommandText describe_worker_cli() {
  WorkerFlags flags;
  return command_text(*make_program(flags));
}

int run_worker_cli(int argc, char** argv) {
  use_huge_pages();
  set_speaker("sluice-worker");
  set_log_format(early_log_format(argc, argv));
  // Each call is a connection, and one that got no descriptor would look like an outage of the provider.
  if (const auto ready = prepare_descriptors(); !ready) return report(ready.error().message);
  WorkerFlags flags;
  const auto program = make_program(flags);
  CLI::App& app = *program;
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    app.exit(success);
    return 0;
  } catch (const CLI::ParseError& error) {
    return report(usage_message(app, error));
  }
  const std::vector<std::string> words(argv, argv + argc);
  if (const std::string empty = problem_with_empty_values(app, words); !empty.empty())
    return report(empty + see_help);
  try {
    return serve(flags);
  } catch (const std::exception& error) {
    return report(std::string("internal error: ") + error.what());
  }
}

}  // namespace sluice
