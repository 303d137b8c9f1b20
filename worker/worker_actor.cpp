#include "worker/worker_actor.hpp"

#include "common/clock.hpp"
#include "common/defaults.hpp"
#include "common/transport/dealer.hpp"
#include "worker/http/http_actor.hpp"
#include "worker/http/http_messages.hpp"
#include "worker/messages.hpp"
#include "worker/model_client.hpp"
#include "worker/unit_result.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <spdlog/spdlog.h>

namespace sluice {

namespace {

/// What is gone when a run is over.
struct ActiveRun {
  RunSettings settings;
  Ontology ontology;
  TextJudge text_judge;
  caf::actor model_client;
  std::vector<Error> problems;  ///< Providers that cannot be called from here.
  HeldUnits held;
  std::vector<UnitId> started;       ///< Not reported yet.
  std::vector<UnitResult> finished;  ///< Ditto.
  bool flush_pending = false;        ///< A FlushReports is in the mailbox,
  bool flush_delayed = false;        ///< or will come when its time is up.
  std::map<std::string, TimePoint>
      pauses;  ///< Asked for by providers: repeated in heartbeats until they are over.
  std::uint64_t finished_since_tick = 0;
  double finished_per_second = 0.0;
};

struct WorkerState {
  WorkerState() = default;
  static inline const char* name = "worker";

  std::shared_ptr<WorkerConfig> config;
  caf::actor dealer;
  caf::actor http;
  std::optional<ActiveRun> run;
  TimePoint last_heard;  ///< Of the coordinator.
  TimePoint last_tick;
  TimePoint last_reconnect;
  bool connected = false;        ///< Heard within the liveness.
  bool welcome_awaited = false;  ///< A HELLO has not been answered yet.
  bool ended = false;
};

using WorkerActor = caf::stateful_actor<WorkerState>;

template <class Message>
void say(WorkerActor* self, Message message) {
  self->send(self->state.dealer, ToCoordinatorNow{std::move(message)});
}

void say_hello(WorkerActor* self) {
  const auto& config = *self->state.config;
  self->state.welcome_awaited = true;
  say(self,
      wire::Hello{config.instance, config.name, config.store->id(), SLUICE_VERSION, config.max_concurrent});
}

std::uint32_t window(const WorkerActor* self) {
  const auto& state = self->state;
  // A fast run shows itself before the next tick; what is finished in less than 100 ms says little.
  const double since_tick = std::chrono::duration<double>(self->clock().now() - state.last_tick).count();
  const double lately = static_cast<double>(state.run->finished_since_tick) / std::max(since_tick, 0.1);
  return credit_window(state.config->max_concurrent, std::max(state.run->finished_per_second, lately));
}

void end(WorkerActor* self, std::optional<Error> error) {
  auto& state = self->state;
  if (std::exchange(state.ended, true)) return;
  if (state.run) {
    self->send_exit(state.run->model_client, caf::exit_reason::user_shutdown);
    state.run.reset();
  }
  self->send_exit(state.http, caf::exit_reason::user_shutdown);
  self->send(state.dealer, CloseSocket{});
  self->send(state.config->listener, WorkerEnded{std::move(error)});
  self->quit();
}

/// Drops everything of the run; what was stored in the cache stays.
void drop_run(WorkerActor* self) {
  auto& state = self->state;
  if (!state.run) return;
  self->send(state.run->model_client, CancelCalls{});
  self->send_exit(state.run->model_client, caf::exit_reason::user_shutdown);
  state.run.reset();
}

// --- work ---

void schedule_flush(WorkerActor* self) {
  auto& run = *self->state.run;
  // With enough to do meanwhile it can wait for more; a worker that runs short needs its next units now.
  if (run.held.waiting() > self->state.config->max_concurrent / 2) {
    if (!std::exchange(run.flush_delayed, true))
      self->delayed_send(self, defaults::report_delay, FlushReports{true});
    return;
  }
  if (std::exchange(run.flush_pending, true)) return;
  // Stands behind everything that is in the mailbox already: results that come together are reported
  // together.
  self->send(self, FlushReports{false});
}

void start_units(WorkerActor* self) {
  auto& run = *self->state.run;
  CompleteUnits next;
  while (run.held.running() < self->state.config->max_concurrent) {
    auto unit = run.held.start_next();
    if (!unit) break;
    run.started.push_back(unit->unit);
    next.units.push_back(std::move(unit));
  }
  if (next.units.empty()) return;
  schedule_flush(self);
  self->send(run.model_client, std::move(next));
}

/// About what a result takes in a REPORT: enough to keep messages of many large ones within the wire's
/// limits.
std::size_t wire_bytes(const UnitResult& result) {
  constexpr std::size_t claim_overhead = 64;
  std::size_t bytes = 256;
  for (const auto& claim : result.parsed) {
    const auto* text = std::get_if<std::string>(&claim.value);
    const auto claim_bytes = claim.subject.size() + claim.predicate.size() + (text ? text->size() : 0);
    bytes += 2 * (claim_bytes + claim_overhead);  // As parsed and as final.
  }
  bytes += result.shown_text.size();
  for (const auto& score : result.scores) {
    for (const auto& metric : score.metrics) bytes += 16 + metric.detail.size();
  }
  return bytes;
}

/// Says what has begun and what is done since the last REPORT, in messages of bounded size.
void report_now(WorkerActor* self) {
  auto& state = self->state;
  if (!state.run) return;
  auto& run = *state.run;
  if (run.started.empty() && run.finished.empty()) return;
  wire::Report report{run.settings.run_id, window(self), std::exchange(run.started, {}), {}};
  std::size_t bytes = 0;
  for (auto& result : std::exchange(run.finished, {})) {
    bytes += wire_bytes(result);
    report.results.push_back(std::move(result));
    if (bytes < defaults::max_bytes_per_work && report.results.size() < defaults::max_units_per_work)
      continue;
    bytes = 0;
    say(self, std::exchange(report, {run.settings.run_id, window(self), {}, {}}));
  }
  if (!report.started.empty() || !report.results.empty()) say(self, std::move(report));
}

void on_flush(WorkerActor* self, FlushReports flush) {
  auto& state = self->state;
  if (!state.run) return;
  (flush.delayed ? state.run->flush_delayed : state.run->flush_pending) = false;
  report_now(self);
}

void on_completed(WorkerActor* self, UnitsCompleted& completed) {
  auto& state = self->state;
  if (!state.run || completed.run_id != state.run->settings.run_id) return;
  auto& run = *state.run;
  for (auto& [unit, outcome, spend, embedded] : completed.units) {
    auto result = unit_result(*unit, {run.ontology, run.text_judge}, std::move(outcome), embedded, spend);
    if (!run.held.finish(result)) continue;
    ++run.finished_since_tick;
    run.finished.push_back(std::move(result));
  }
  schedule_flush(self);
  start_units(self);
}

// --- what the coordinator says ---

/// Keys by provider, or why a provider cannot be called from here. Only live runs need any.
std::map<std::string, std::string> gather_keys(const WorkerConfig& config, const RunSettings& settings,
                                               std::vector<Error>& problems) {
  std::map<std::string, std::string> keys;
  for (const auto& provider : settings.providers) {
    if (settings.mode != Mode::live) {
      keys[provider.name];
      continue;
    }
    if (auto key = config.keys->key_for(provider)) {
      keys[provider.name] = std::move(*key);
    } else {
      problems.push_back(key.error());
    }
  }
  return keys;
}

void begin_run(WorkerActor* self, RunSettings settings) {
  auto& state = self->state;
  drop_run(self);
  state.welcome_awaited = false;
  auto ontology = Ontology::parse(settings.ontology, "the run's ontology");
  if (!ontology) {
    spdlog::error("the coordinator's ontology cannot be read: {}", ontology.error().message);
    return end(self, ontology.error());
  }
  wire::Ready ready;
  ready.run_id = settings.run_id;
  ModelClientConfig client;
  client.settings = settings;
  client.keys = gather_keys(*state.config, settings, ready.problems);
  client.store = state.config->store;
  client.http = state.http;
  client.worker = caf::actor_cast<caf::actor>(self);
  client.random_seed = state.config->random_seed;
  auto& run = state.run.emplace();
  run.ontology = std::move(*ontology);
  run.settings = std::move(settings);
  run.problems = ready.problems;
  run.model_client = spawn_model_client(self->system(), std::move(client));
  // Nothing is paid for in these modes and each unit takes microseconds: begin with a deep window.
  if (run.settings.mode != Mode::live) run.finished_per_second = 10'000;
  ready.window = window(self);
  for (const auto& problem : ready.problems) spdlog::error("no work is taken: {}", problem.message);
  if (ready.problems.empty()) spdlog::info("connected; working on run {}", ready.run_id);
  say(self, std::move(ready));
}

void on_message(WorkerActor* self, wire::Welcome& welcome) {
  auto& state = self->state;
  if (!state.run || state.run->settings.run_id != welcome.settings.run_id) {
    return begin_run(self, std::move(welcome.settings));
  }
  // The answer to a HELLO that was said twice: a second READY would give back what was leased in between.
  if (!std::exchange(state.welcome_awaited, false)) return;
  // The same run after a break: what is held goes on, and what was not acknowledged is said again.
  auto& run = *state.run;
  say(self, wire::Ready{run.settings.run_id, run.problems, window(self), run.held.all()});
  // READY does not tell what runs from what waits, and only what was reported as started counts a loss.
  run.started = run.held.running_units();
  run.finished = run.held.unacknowledged();
  schedule_flush(self);
}

void on_message(WorkerActor* self, wire::Work& work) {
  auto& state = self->state;
  if (!state.run || work.run_id != state.run->settings.run_id) return;
  auto& run = *state.run;
  for (auto& unit : work.units) {
    const auto id = unit.unit;
    if (run.held.add(std::move(unit))) continue;
    // Leased to us again: the coordinator has not heard how far it is.
    if (run.held.runs(id)) run.started.push_back(id);
    if (const auto* result = run.held.unacknowledged(id)) run.finished.push_back(*result);
    schedule_flush(self);
  }
  start_units(self);
}

void on_message(WorkerActor* self, wire::Ack& ack) {
  auto& state = self->state;
  // `gone` for a run that is no longer ours: it was dropped already.
  if (!state.run || ack.run_id != state.run->settings.run_id) return;
  for (const auto& item : ack.items) {
    const auto result = state.run->held.acknowledge(item.unit);
    if (!result || item.verdict != wire::Verdict::duplicate) continue;
    // An error that was committed first is no answer that ours would contradict.
    if (is_zero(result->answer) || is_zero(item.winner) || item.winner == result->answer) continue;
    // Another answer was committed: ours must not be replayed in a later run.
    if (const auto forgotten = state.config->store->forget_unless(item.key, item.winner); !forgotten) {
      spdlog::warn("{}", forgotten.error().message);
    }
  }
}

void on_message(WorkerActor* self, wire::Grants& grants) {
  auto& state = self->state;
  if (!state.run || grants.run_id != state.run->settings.run_id) return;
  self->send(state.run->model_client, BudgetChanged{true, std::move(grants.grants)});
}

void on_message(WorkerActor* self, wire::Drain& drain) {
  auto& state = self->state;
  const bool ours = state.run && state.run->settings.run_id == drain.run_id;
  if (state.run && !ours) return;  // Of a run that is over for us.
  report_now(self);                // What is done was paid for; the coordinator still takes it.
  // A worker that could not help all along has failed, whatever the run came to.
  std::optional<Error> problem;
  if (state.run && !state.run->problems.empty()) problem = state.run->problems.front();
  drop_run(self);
  say(self, wire::Goodbye{"drained"});
  spdlog::info("run {} is over: {}", drain.run_id, drain.reason);
  if (!state.config->stay) end(self, std::move(problem));
}

void on_message(WorkerActor* self, wire::Reject& reject) {
  switch (reject.code) {
    case wire::RejectCode::unknown_worker:
      return say_hello(self);
    case wire::RejectCode::protocol_mismatch:
      return end(self, Error{Reason::protocol_mismatch,
                             "the coordinator speaks another version of the protocol (" + reject.detail +
                                 "); run the same sluice version on both sides"});
    default:
      spdlog::error("the coordinator refused a message: {}", reject.detail);
  }
}

void on_coordinator(WorkerActor* self, FromCoordinator& messages) {
  auto& state = self->state;
  state.last_heard = self->clock().now();
  if (!state.connected) {
    state.connected = true;
    if (state.run) self->send(state.run->model_client, BudgetChanged{true, {}});
  }
  for (auto& message : messages.messages) {
    if (state.ended) return;
    std::visit([&](auto& known) { on_message(self, known); }, message);
  }
}

// --- time ---

void send_heartbeat(WorkerActor* self) {
  auto& run = *self->state.run;
  const auto now = self->clock().now();
  wire::Heartbeat heartbeat;
  heartbeat.run_id = run.settings.run_id;
  heartbeat.sent_at_us = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count());
  heartbeat.window = window(self);
  for (const auto& provider : run.settings.providers) {
    wire::Demand demand{provider.name, static_cast<std::uint32_t>(run.held.waiting()),
                        static_cast<std::uint32_t>(run.held.running()), 0};
    const auto pause = run.pauses.find(provider.name);
    if (pause != run.pauses.end() && pause->second > now) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(pause->second - now).count();
      demand.pause_ms = static_cast<std::uint32_t>(left);
    }
    heartbeat.demands.push_back(std::move(demand));
  }
  say(self, std::move(heartbeat));
}

void tick(WorkerActor* self) {
  auto& state = self->state;
  const auto now = self->clock().now();
  const auto interval = state.run ? state.run->settings.heartbeat_interval
                                  : std::chrono::milliseconds(defaults::heartbeat_interval);
  self->delayed_send(self, interval, WorkerTick{});
  const bool late = now - std::exchange(state.last_tick, now) > 2 * interval;
  // The process was stopped, or the machine slept: what was said meanwhile has yet to be read.
  if (late) state.last_heard = now;
  const auto silence = now - state.last_heard;
  if (!state.config->stay && silence > state.config->coordinator_timeout) {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(state.config->coordinator_timeout).count();
    return end(self, Error{Reason::coordinator_unreachable,
                           "no coordinator has answered for " + std::to_string(seconds) +
                               " s; check the endpoint, and that `sluice run --listen` is running there"});
  }
  if (silence > defaults::liveness * interval) {
    if (std::exchange(state.connected, false)) {
      spdlog::warn("the coordinator is silent; no new call is made until it is back");
      if (state.run) self->send(state.run->model_client, BudgetChanged{false, {}});
    }
    // A fresh connection now and then, without the messages that pile up in a dead one.
    if (now - state.last_reconnect > defaults::liveness * interval) {
      state.last_reconnect = now;
      self->send(state.dealer, ReopenSocket{});
    }
  }
  if (!state.run) return say_hello(self);
  auto& run = *state.run;
  const double seconds = std::chrono::duration<double>(interval).count();
  const double latest = static_cast<double>(std::exchange(run.finished_since_tick, 0)) / seconds;
  if (run.settings.mode == Mode::live) run.finished_per_second = latest;
  send_heartbeat(self);
}

void on_pause(WorkerActor* self, const PauseAsked& asked) {
  auto& state = self->state;
  if (!state.run) return;
  auto& until = state.run->pauses[asked.provider];
  until = std::max(until, self->clock().now() + asked.pause);
  send_heartbeat(self);  // The other workers should hear of it now, not with the next tick.
}

caf::behavior worker_behavior(WorkerActor* self, std::shared_ptr<WorkerConfig> config,
                              const StartDealer& start_dealer, caf::actor http) {
  auto& state = self->state;
  state.config = std::move(config);
  state.last_heard = state.last_tick = state.last_reconnect = self->clock().now();
  state.dealer = start_dealer(caf::actor_cast<caf::actor>(self));
  state.http = std::move(http);
  say_hello(self);
  self->delayed_send(self, defaults::heartbeat_interval, WorkerTick{});
  return {
      [self](FromCoordinator& messages) { on_coordinator(self, messages); },
      [self](UnitsCompleted& completed) { on_completed(self, completed); },
      [self](FlushReports flush) { on_flush(self, flush); },
      [self](const PauseAsked& asked) { on_pause(self, asked); },
      [self](WorkerTick) { tick(self); },
      [self](const StopWorker& stop) {
        report_now(self);
        drop_run(self);
        say(self, wire::Goodbye{stop.why});
        end(self, std::nullopt);
      },
  };
}

}  // namespace

caf::actor spawn_worker(caf::actor_system& system, WorkerConfig config, ConnectedDealer dealer) {
  const auto owned = std::make_shared<ConnectedDealer>(std::move(dealer));
  const auto start_dealer = [&system, owned](const caf::actor& worker) {
    return spawn_dealer(system, std::move(*owned), worker);
  };
  return spawn_worker(system, std::move(config), start_dealer, spawn_http(system));
}

caf::actor spawn_worker(caf::actor_system& system, WorkerConfig config, StartDealer start_dealer,
                        caf::actor http) {
  return system.spawn(worker_behavior, std::make_shared<WorkerConfig>(std::move(config)),
                      std::move(start_dealer), std::move(http));
}

}  // namespace sluice
