#include "worker/worker_actor.hpp"

#include "common/clock.hpp"
#include "common/defaults.hpp"
#include "common/process/supervision.hpp"
#include "common/transport/dealer.hpp"
#include "worker/active_run.hpp"
#include "worker/calls/entry_exchange.hpp"
#include "worker/coordinator_contact.hpp"
#include "worker/http/http_actor.hpp"
#include "worker/http/http_messages.hpp"
#include "worker/leaving.hpp"
#include "worker/messages.hpp"
#include "worker/reports.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/system_messages.hpp>
#include <spdlog/spdlog.h>

namespace sluice {

namespace {

/// The actors that a worker has started, for whoever ends them should it die itself.
using Children = std::vector<caf::actor>;

struct WorkerState {
  WorkerState() = default;
  static inline const char* name = "worker";

  std::shared_ptr<WorkerConfig> config;
  caf::actor dealer;
  caf::actor http;
  std::optional<ActiveRun> run;
  std::optional<Leaving> leaving;
  std::optional<CoordinatorContact> contact;
  std::shared_ptr<Children> children = std::make_shared<Children>();
  bool welcome_awaited = false;  ///< A HELLO has not been answered yet.
  TimePoint hello_said;          ///< The last.
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
  self->state.hello_said = self->clock().now();
  say(self, wire::Hello{config.instance, config.name, config.store->id(), SLUICE_VERSION,
                        config.max_concurrent, config.max_concurrent_named});
}

std::chrono::milliseconds heartbeat_interval(const WorkerActor* self) {
  const auto& run = self->state.run;
  return run ? run->settings.heartbeat_interval : std::chrono::milliseconds(defaults::heartbeat_interval);
}

/// The coordinator does not know this worker any more. Everything that was said before it heard the HELLO is
/// answered so: a process that was stopped for a while finds many of these, and each HELLO voids the permits.
void on_unknown(WorkerActor* self) {
  const auto& state = self->state;
  const bool on_its_way =
      state.welcome_awaited && self->clock().now() - state.hello_said < heartbeat_interval(self);
  if (!on_its_way) say_hello(self);
}

std::uint32_t window(const WorkerActor* self) {
  const auto& state = self->state;
  if (state.leaving) return 0;
  return window_of(*state.run, self->clock().now() - state.contact->last_beat());
}

/// Ends the actors of the run.
void dismiss(WorkerActor* self, const ActiveRun& run) {
  for (const auto& actor : {run.model_client, run.scorer}) {
    self->demonitor(actor);
    self->send_exit(actor, caf::exit_reason::user_shutdown);
    std::erase(*self->state.children, actor);
  }
}

void watch(WorkerActor* self, const caf::actor& child) {
  self->monitor(child);
  self->state.children->push_back(child);
}

void end(WorkerActor* self, std::optional<Error> error) {
  auto& state = self->state;
  if (std::exchange(state.ended, true)) return;
  if (state.run) {
    dismiss(self, *state.run);
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
  dismiss(self, *state.run);
  state.run.reset();
  if (state.config->metrics) state.config->metrics->run_ended();
}

// --- work ---

/// Says what has begun and what is done since the last REPORT.
void report_now(WorkerActor* self) {
  auto& state = self->state;
  if (!state.run) return;
  auto& run = *state.run;
  run.schedule.on_reported();
  for (auto& report : make_reports(run.settings.run_id, window(self), std::exchange(run.started, {}),
                                   std::exchange(run.finished, {}), std::exchange(run.returned, {}))) {
    say(self, std::move(report));
  }
}

void follow(WorkerActor* self, const ReportSchedule::Next& next) {
  switch (next.step) {
    case ReportSchedule::Step::wait:
      return;
    case ReportSchedule::Step::post:
      return self->send(self, FlushReports{false});
    case ReportSchedule::Step::set_timer:
      return self->delayed_send(self, next.at - self->clock().now(), FlushReports{true});
    case ReportSchedule::Step::report:
      return report_now(self);
  }
}

void schedule_flush(WorkerActor* self) {
  auto& run = *self->state.run;
  follow(self, run.schedule.on_change(load_of(run), self->clock().now()));
}

/// Leaves now, with all that it has for the run.
void say_goodbye(WorkerActor* self, Leaving leaving) {
  report_now(self);
  drop_run(self);
  self->state.leaving.reset();
  say(self, wire::Goodbye{std::move(leaving.why)});
  if (leaving.ends) end(self, std::move(leaving.error));
}

/// Leaves once nothing is under way, and everything that was paid for is in the ledger or cannot get there.
void leave_if_done(WorkerActor* self) {
  auto& state = self->state;
  if (!state.leaving || !state.run) return;
  const auto now = self->clock().now();
  if (!state.leaving->is_over(state.run->held, state.contact->connected(), now)) return;
  auto leaving = std::move(*state.leaving);
  say_goodbye(self, std::move(leaving));
}

/// Leaves the run: what is not called for is given back, calls under way may take so long to end.
void leave(WorkerActor* self, Leaving leaving, std::chrono::milliseconds patience) {
  auto& state = self->state;
  leaving.until = self->clock().now() + patience;
  if (state.leaving) {
    state.leaving->hasten(leaving);
    leaving = std::move(*state.leaving);
  }
  if (!state.run || patience <= std::chrono::milliseconds(0)) return say_goodbye(self, std::move(leaving));
  state.leaving = std::move(leaving);
  self->send(state.run->model_client, WindDown{});
  leave_if_done(self);
}

void on_stop(WorkerActor* self, const StopWorker& stop) {
  const bool again = self->state.leaving && self->state.leaving->ends;
  const auto patience = self->state.config->drain_timeout;
  if (!stop.at_once && !again && self->state.run && !self->state.run->held.empty())
    spdlog::info("leaving; calls under way have {} ms to end", patience.count());
  leave(self, {stop.why, std::nullopt, true, {}},
        stop.at_once || again ? std::chrono::milliseconds(0) : patience);
}

void on_returned(WorkerActor* self, const UnitsReturned& returned) {
  auto& state = self->state;
  if (!state.run || returned.run_id != state.run->settings.run_id) return;
  auto& run = *state.run;
  for (const auto unit : returned.units) {
    if (run.held.give_back(unit)) run.returned.push_back(unit);
  }
  if (!run.returned.empty()) schedule_flush(self);
  leave_if_done(self);
}

void on_flush(WorkerActor* self, FlushReports flush) {
  auto& state = self->state;
  if (!state.run) return;
  auto& run = *state.run;
  follow(self,
         flush.timed ? run.schedule.on_timer(load_of(run), self->clock().now()) : run.schedule.on_post());
}

void on_scored(WorkerActor* self, UnitsScored& scored) {
  auto& state = self->state;
  if (!state.run || scored.run_id != state.run->settings.run_id) return;
  auto& run = *state.run;
  for (const auto unit : scored.started) {
    if (run.held.begin(unit)) run.started.push_back(unit);
  }
  for (auto& result : scored.results) {
    if (!run.held.finish(result)) continue;
    ++run.finished_since_beat;
    if (self->state.config->metrics) self->state.config->metrics->completed(result);
    run.finished.push_back(std::move(result));
  }
  schedule_flush(self);
  leave_if_done(self);
}

// --- what the coordinator says ---

void begin_run(WorkerActor* self, RunSettings settings) {
  auto& state = self->state;
  drop_run(self);
  state.welcome_awaited = false;
  auto started = start_run(self->system(), *state.config, std::move(settings),
                           caf::actor_cast<caf::actor>(self), state.http);
  if (!started) {
    spdlog::error("the coordinator's ontology cannot be read: {}", started.error().message);
    return end(self, started.error());
  }
  const auto& run = state.run.emplace(std::move(*started));
  watch(self, run.model_client);
  watch(self, run.scorer);
  wire::Ready ready;
  ready.run_id = run.settings.run_id;
  ready.problems = run.problems;
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
  self->send(run.model_client, BudgetChanged{true, true, {}, {}});
  // READY does not tell what runs from what waits, and only what was reported as started counts a loss.
  run.started = run.held.running_units();
  run.finished = run.held.unacknowledged();
  schedule_flush(self);
}

void on_message(WorkerActor* self, wire::Work& work) {
  auto& state = self->state;
  if (!state.run || work.run_id != state.run->settings.run_id) return;
  auto& run = *state.run;
  CompleteUnits fresh;
  for (auto& unit : work.units) {
    const auto id = unit.unit;
    // It was on its way when this worker said that it leaves.
    if (state.leaving && !run.held.holds(id)) {
      run.returned.push_back(id);
      schedule_flush(self);
      continue;
    }
    if (auto shared = run.held.add(std::move(unit))) {
      fresh.units.push_back(std::move(shared));
      continue;
    }
    // Leased to us again: the coordinator has not heard how far it is.
    if (run.held.runs(id)) run.started.push_back(id);
    if (const auto* result = run.held.unacknowledged(id)) run.finished.push_back(*result);
    schedule_flush(self);
  }
  if (!fresh.units.empty()) self->send(run.model_client, std::move(fresh));
}

void on_message(WorkerActor* self, wire::Ack& ack) {
  auto& state = self->state;
  // `gone` for a run that is no longer ours: it was dropped already.
  if (!state.run || ack.run_id != state.run->settings.run_id) return;
  for (const auto& item : ack.items) {
    const auto overruled = state.run->held.acknowledge(item);
    if (!overruled) continue;
    // Another answer was committed: ours must not be replayed in a later run.
    if (const auto forgotten = state.config->store->forget_unless(*overruled, item.winner); !forgotten) {
      spdlog::warn("{}", forgotten.error().message);
    }
  }
  leave_if_done(self);
}

void on_message(WorkerActor* self, wire::Withdraw& withdraw) {
  auto& state = self->state;
  if (!state.run || withdraw.run_id != state.run->settings.run_id) return;
  self->send(state.run->model_client, WithdrawUnits{std::move(withdraw.units)});
}

void on_message(WorkerActor* self, wire::Grants& grants) {
  auto& state = self->state;
  if (!state.run || grants.run_id != state.run->settings.run_id) return;
  if (state.config->metrics) state.config->metrics->received(grants);
  self->send(state.run->model_client,
             BudgetChanged{true, false, std::move(grants), state.config->boot_clock()});
}

void on_message(WorkerActor* self, wire::Lend& lend) {
  auto& state = self->state;
  if (!state.run || lend.run_id != state.run->settings.run_id) return;
  for (auto& lent : lend_entries(*state.config->store, lend)) say(self, std::move(lent));
}

void on_message(WorkerActor* self, wire::Found& found) {
  auto& state = self->state;
  if (!state.run || found.run_id != state.run->settings.run_id) return;
  self->send(state.run->model_client, EntriesFound{std::move(found.entries)});
}

void on_message(WorkerActor* self, wire::Drain& drain) {
  auto& state = self->state;
  const bool ours = state.run && state.run->settings.run_id == drain.run_id;
  if (state.run && !ours) return;  // Of a run that is over for us.
  // A worker that could not help all along has failed, whatever the run came to.
  std::optional<Error> problem;
  if (state.run && !state.run->problems.empty()) problem = state.run->problems.front();
  spdlog::info("run {} is over: {}", drain.run_id, drain.reason);
  const bool ends = !state.config->stay || (state.leaving && state.leaving->ends);
  leave(self, {"drained", std::move(problem), ends, {}}, std::chrono::milliseconds(drain.finish_ms));
}

void on_message(WorkerActor* self, wire::Reject& reject) {
  switch (reject.code) {
    case wire::RejectCode::unknown_worker:
      return on_unknown(self);
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
  if (state.contact->hear(self->clock().now()) && state.run) {
    self->send(state.run->model_client, BudgetChanged{true, false, {}, {}});
  }
  for (auto& message : messages.messages) {
    if (state.ended) return;
    std::visit([&](auto& known) { on_message(self, known); }, message);
  }
  // What waited for the answer to a REPORT, where the answer brought nothing to do meanwhile.
  if (state.run && !state.run->finished.empty()) schedule_flush(self);
}

// --- defects ---

/// An actor that this one needs is gone, though nobody ended it.
void on_down(WorkerActor* self, const caf::down_msg& down) {
  auto& state = self->state;
  if (state.ended) return;
  const auto is = [&](const caf::actor& actor) { return down.source == actor.address(); };
  std::string who = "a part of a run";
  if (is(state.dealer)) who = "dealer";
  if (is(state.http)) who = "HTTP actor";
  if (state.run && is(state.run->model_client)) who = "model client";
  if (state.run && is(state.run->scorer)) who = "scorer";
  auto error = unexpected_end("the worker's " + who, self->system().render(down.reason));
  say(self, wire::Goodbye{error.message});
  end(self, std::move(error));
}

// --- time ---

void send_heartbeat(WorkerActor* self, std::vector<wire::Demand> demands) {
  auto& state = self->state;
  auto& run = *state.run;
  const auto now = static_cast<std::uint64_t>(state.config->boot_clock().count());
  wire::Heartbeat heartbeat{run.settings.run_id, now, window(self), std::move(demands), run.heard_us};
  if (state.config->metrics) state.config->metrics->sent(heartbeat);
  say(self, std::move(heartbeat));
}

void on_demand(WorkerActor* self, DemandTold& told) {
  auto& state = self->state;
  if (!state.run || told.run_id != state.run->settings.run_id) return;
  auto& run = *state.run;
  run.demand_awaited = false;
  run.heard_us = told.heard_us;
  run.slots = told.slots;
  send_heartbeat(self, std::move(told.demands));
}

void on_entries(WorkerActor* self, EntriesSaid& said) {
  auto& state = self->state;
  if (!state.run || said.run_id != state.run->settings.run_id) return;
  for (auto& message : said.messages) say(self, std::move(message));
}

/// The demand goes with every heartbeat; but a model client that is held up (by a slow disk, say) must not
/// make the worker look lost.
void heartbeat(WorkerActor* self) {
  auto& run = *self->state.run;
  if (run.demand_awaited || !self->state.contact->connected()) return send_heartbeat(self, {});
  run.demand_awaited = true;
  self->send(run.model_client, TellDemand{});
}

void give_up(WorkerActor* self) {
  const auto patience =
      std::chrono::duration_cast<std::chrono::seconds>(self->state.config->coordinator_timeout);
  end(self, Error{Reason::coordinator_unreachable,
                  "no coordinator has answered for " + std::to_string(patience.count()) +
                      " s; check the endpoint, and that `sluice run --listen` is running there"});
}

void tick(WorkerActor* self) {
  auto& state = self->state;
  const auto interval = heartbeat_interval(self);
  self->delayed_send(self, interval, WorkerTick{});
  const auto beat = state.contact->beat(self->clock().now(), interval);
  if (!state.config->stay && beat.silence > state.config->coordinator_timeout) return give_up(self);
  if (beat.just_lost) {
    spdlog::warn("the coordinator is silent; no new call is made until it is back");
    if (state.run) self->send(state.run->model_client, BudgetChanged{false, false, {}, {}});
  }
  if (beat.reconnect) self->send(state.dealer, ReopenSocket{});
  leave_if_done(self);
  if (state.ended) return;
  if (!state.run) return say_hello(self);
  auto& run = *state.run;
  const double seconds = std::chrono::duration<double>(interval).count();
  const double latest = static_cast<double>(std::exchange(run.finished_since_beat, 0)) / seconds;
  if (run.settings.mode == Mode::live) run.finished_per_second = latest;
  heartbeat(self);
}

caf::behavior worker_behavior(WorkerActor* self, std::shared_ptr<WorkerConfig> config,
                              const StartDealer& start_dealer, caf::actor http) {
  auto& state = self->state;
  state.config = std::move(config);
  state.contact.emplace(self->clock().now());
  state.dealer = start_dealer(caf::actor_cast<caf::actor>(self));
  state.http = std::move(http);
  end_on_exception(self);
  self->set_down_handler([self](const caf::down_msg& down) { on_down(self, down); });
  watch(self, state.dealer);
  watch(self, state.http);
  // Should this actor die, nobody else would end them.
  self->attach_functor([children = state.children](const caf::error& reason) {
    if (!reason) return;
    for (const auto& child : *children) caf::anon_send_exit(child, caf::exit_reason::user_shutdown);
  });
  // Timers would keep the run's actors alive beyond their worker.
  self->set_exit_handler([self](const caf::exit_msg& exit) {
    if (self->state.run) dismiss(self, *self->state.run);
    self->quit(exit.reason);
  });
  say_hello(self);
  self->delayed_send(self, defaults::heartbeat_interval, WorkerTick{});
  return {
      [self](FromCoordinator& messages) { on_coordinator(self, messages); },
      [self](UnitsScored& scored) { on_scored(self, scored); },
      [self](DemandTold& told) { on_demand(self, told); },
      [self](EntriesSaid& said) { on_entries(self, said); },
      [self](FlushReports flush) { on_flush(self, flush); },
      [self](WorkerTick) { tick(self); },
      [self](const StopWorker& stop) { on_stop(self, stop); },
      [self](const UnitsReturned& returned) { on_returned(self, returned); },
      [self](WorkerUnfit& unfit) {
        if (!self->state.run || unfit.run_id != self->state.run->settings.run_id) return;
        auto why = unfit.why.message;
        leave(self, {std::move(why), std::move(unfit.why), true, {}}, self->state.config->drain_timeout);
      },
  };
}

}  // namespace

caf::actor spawn_worker(caf::actor_system& system, WorkerConfig config, ConnectedDealer dealer) {
  const auto owned = std::make_shared<ConnectedDealer>(std::move(dealer));
  const auto start_dealer = [&system, owned](const caf::actor& worker) {
    return spawn_dealer(system, std::move(*owned), worker);
  };
  auto http = spawn_http(system, config.call_log);
  config.log_calls = config.call_log != nullptr;
  return spawn_worker(system, std::move(config), start_dealer, std::move(http));
}

caf::actor spawn_worker(caf::actor_system& system, WorkerConfig config, StartDealer start_dealer,
                        caf::actor http) {
  return system.spawn(worker_behavior, std::make_shared<WorkerConfig>(std::move(config)),
                      std::move(start_dealer), std::move(http));
}

}  // namespace sluice
