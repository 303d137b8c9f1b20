#include "worker/worker_actor.hpp"

#include "common/clock.hpp"
#include "common/defaults.hpp"
#include "common/process/supervision.hpp"
#include "common/text/stderr_line.hpp"
#include "worker/active_run.hpp"
#include "worker/calls/entry_exchange.hpp"
#include "worker/connection_errors.hpp"
#include "worker/coordinator_contact.hpp"
#include "worker/defaults.hpp"
#include "worker/leaving.hpp"
#include "worker/messages.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/system_messages.hpp>
#include <spdlog/spdlog.h>

namespace sluice {

namespace {

/// A run whose place another has taken, with calls under way. Its answers are kept, and nobody is told.
struct RetiredRun {
  caf::actor model_client;
  caf::actor scorer;
  TimePoint until;  ///< By then its calls have ended.
};

struct WorkerState {
  WorkerState() = default;
  static inline const char* name = "worker";

  std::shared_ptr<WorkerConfig> config;
  caf::actor dealer;
  caf::actor http;
  Children children;
  std::optional<ActiveRun> run;
  std::optional<RetiredRun> retired;
  std::optional<CoordinatorContact> contact;
  Leaving leaving;
  UnreadWork unread_work;
  std::uint8_t protocol = 0;    ///< Of the last WELCOME; 0: none has come.
  std::string refusal;          ///< Why the last connection did not come about; empty once something came.
  bool silence_unsaid = false;  ///< It began with the last beat: a fresh connection may say why.
  bool was_stopped = false;     ///< By StopWorker, once.
  bool ended = false;
};

using WorkerActor = caf::stateful_actor<WorkerState>;

template <class Message>
void send_to_coordinator(WorkerActor* self, Message message) {
  self->send(self->state.dealer, ToCoordinatorNow{std::move(message)});
}

void send_hello(WorkerActor* self) {
  self->state.contact->on_hello_sent(self->clock().now());
  send_to_coordinator(self, hello_message(*self->state.config));
}

std::chrono::milliseconds heartbeat_interval(const WorkerActor* self) {
  const auto& run = self->state.run;
  return run ? run->settings.heartbeat_interval : std::chrono::milliseconds(defaults::heartbeat_interval);
}

std::uint32_t window(const WorkerActor* self) {
  const auto& state = self->state;
  if (state.leaving.begun()) return 0;
  return state.run->credit.window(state.run->concurrency, self->clock().now() - state.contact->last_beat());
}

/// Ends the actors of a run, if there is one.
template <class Run>
void dismiss(WorkerActor* self, std::optional<Run>& run) {
  if (!run) return;
  for (const auto& actor : {run->model_client, run->scorer}) self->state.children.dismiss(self, actor);
  run.reset();
}

void end(WorkerActor* self, std::optional<Error> error) {
  auto& state = self->state;
  if (std::exchange(state.ended, true)) return;
  dismiss(self, self->state.run);
  dismiss(self, self->state.retired);
  self->send_exit(state.http, caf::exit_reason::user_shutdown);
  self->send(state.dealer, CloseSocket{});
  self->send(state.config->listener, WorkerEnded{std::move(error)});
  self->quit();
}

// --- the lines of the log ---

/// What this worker's lines of the log are about.
LogFields about(const WorkerActor* self) {
  const auto& run = self->state.run;
  return {.run = run ? run->settings.run_id : "", .worker = self->state.config->name};
}

/// Also those of its other actors, where the process is this worker's alone.
void tell_log(const WorkerActor* self) {
  if (!self->state.config->in_coordinator) set_log_context(about(self));
}

// --- the end of a run ---

/// Drops everything of the run; what was stored in the cache stays.
void drop_run(WorkerActor* self) {
  auto& state = self->state;
  if (!state.run) return;
  self->send(state.run->model_client, CancelCalls{});
  dismiss(self, self->state.run);
  tell_log(self);
  if (state.config->metrics) state.config->metrics->run_ended();
}

/// Another run takes the place of this one, whose coordinator is gone. No call of it begins any more; those
/// under way are paid for, and their answers go into the cache. Of several such runs the latest is waited
/// for.
void retire_run(WorkerActor* self) {
  auto& state = self->state;
  if (!state.run) return;
  if (state.retired) self->send(state.retired->model_client, CancelCalls{});
  dismiss(self, self->state.retired);
  const auto now = self->clock().now();
  self->send(state.run->model_client, WindDown{now});
  state.retired =
      RetiredRun{state.run->model_client, state.run->scorer, now + state.run->settings.request_timeout};
  state.run.reset();
  tell_log(self);
  if (state.config->metrics) state.config->metrics->run_ended();
}

// --- who watches ---

std::string status_text(const WorkerState& state) {
  if (state.leaving.begun()) return "leaving: calls under way end";
  if (!state.run) return "waiting for a coordinator";
  if (!state.run->problems.empty()) return "no work is taken: " + state.run->problems.front().message;
  const auto& run_id = state.run->settings.run_id;
  if (!state.contact->connected()) return "the coordinator of run " + run_id + " is silent";
  return "working on run " + run_id;
}

void tell_watcher(WorkerActor* self) {
  const auto& state = self->state;
  if (!state.config->watch) return;
  const bool is_working = state.run && state.run->problems.empty() && state.contact->connected();
  state.config->watch({is_working, state.leaving.ends(), status_text(state)});
}

// --- reports ---

/// Reports what has begun and what is done since the last REPORT.
void report_now(WorkerActor* self) {
  auto& state = self->state;
  if (!state.run) return;
  state.run->schedule.on_reported();
  for (auto& report : state.run->units.take_reports(state.run->settings.run_id, window(self)))
    send_to_coordinator(self, std::move(report));
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
  follow(self, run.schedule.on_change(run.units.load(run.concurrency), self->clock().now()));
}

void on_flush(WorkerActor* self, FlushReports flush) {
  auto& run = self->state.run;
  if (!run) return;
  const auto load = run->units.load(run->concurrency);
  follow(self, flush.timed ? run->schedule.on_timer(load, self->clock().now()) : run->schedule.on_post());
}

// --- leaving ---

/// Leaves now, with all that it has for the run.
void send_goodbye(WorkerActor* self, Farewell farewell) {
  report_now(self);
  drop_run(self);
  self->state.leaving.end();
  wire::Goodbye goodbye{std::move(farewell.why)};
  if (farewell.unread) {
    goodbye.error = Reason::message_malformed;
  } else if (farewell.error) {
    goodbye.error = farewell.error->reason;
  }
  send_to_coordinator(self, std::move(goodbye));
  if (farewell.ends) return end(self, std::move(farewell.error));
  // At once: a run that ends meanwhile says so only to who is there.
  if (farewell.unread) send_hello(self);
}

void leave_if_done(WorkerActor* self) {
  auto& state = self->state;
  if (!state.run) return;
  auto farewell =
      state.leaving.when_done(state.run->units.held(), state.contact->connected(), self->clock().now());
  if (farewell) send_goodbye(self, std::move(*farewell));
}

/// Leaves the run, which is over for all or goes on: what is not called for is given back, calls under way
/// may take so long to end.
void leave(WorkerActor* self, Farewell farewell, std::chrono::milliseconds patience,
           bool run_is_over = false) {
  auto& state = self->state;
  const bool at_once = patience <= std::chrono::milliseconds(0);
  // The report of a run that is over tells what was never called for from what was.
  const bool gives_back = run_is_over && state.run && state.run->units.held().running() > 0;
  if (!state.run || (at_once && !gives_back))
    return send_goodbye(self, state.leaving.at_once(std::move(farewell)));
  const auto until = self->clock().now() + (at_once ? defaults::last_results_time : patience);
  state.leaving.begin(std::move(farewell), until);
  WindDown wind_down{{}, at_once};
  if (run_is_over) wind_down.finish_by = until - defaults::last_results_time;
  self->send(state.run->model_client, wind_down);
  leave_if_done(self);
}

void on_stop(WorkerActor* self, const StopWorker& stop) {
  const LogScope scope(about(self));
  auto& state = self->state;
  const auto patience = state.config->drain_timeout;
  // That the run ends, too, makes nobody impatient: whoever stops a fleet stops its coordinator as well.
  const bool at_once = std::exchange(state.was_stopped, true) || stop.at_once;
  if (!at_once && state.run && !state.run->units.held().empty())
    spdlog::info("{}", leaving_in_words(state.run->units.held().running(), patience));
  leave(self, {stop.why, std::nullopt, true}, at_once ? std::chrono::milliseconds(0) : patience);
  if (!state.ended) tell_watcher(self);
}

void on_message(WorkerActor* self, ActiveRun&, WorkerUnfit& unfit) {
  auto why = unfit.why.message;
  leave(self, {std::move(why), std::move(unfit.why), true}, self->state.config->drain_timeout);
}

// --- work ---

void on_message(WorkerActor* self, ActiveRun& run, UnitsReturned& returned) {
  run.units.give_back(returned.units);
  run.units.spend(std::move(returned.spent));
  if (run.units.has_units_to_return()) schedule_flush(self);
  leave_if_done(self);
}

void on_message(WorkerActor* self, ActiveRun&, WoundDown&) {
  // Whether the worker ends with the run is said by the farewell that it began with.
  const Farewell as_begun{{}, std::nullopt, false};
  if (auto& leaving = self->state.leaving; leaving.begun()) send_goodbye(self, leaving.at_once(as_begun));
}

/// The coordinator gives no more work to a worker with such a result, and says so in its own log, which
/// whoever runs the worker may not see.
void note_problem(WorkerActor* self, ActiveRun& run, const UnitResult& result) {
  const auto& error = result.error;
  if (!error || !concerns_worker_alone(error->reason)) return;
  if (self->state.config->in_coordinator || !run.problems.empty()) return;
  run.problems.push_back(*error);
  spdlog::error("this worker gets no more work: {}", error->message);
  tell_watcher(self);
}

void on_message(WorkerActor* self, ActiveRun& run, UnitsScored& scored) {
  run.units.start(scored.started);
  for (auto& result : scored.results) {
    note_problem(self, run, result);
    const auto* finished = run.units.finish(std::move(result));
    if (!finished) continue;
    run.credit.on_finished();
    if (self->state.config->metrics) self->state.config->metrics->completed(*finished);
  }
  schedule_flush(self);
  leave_if_done(self);
}

// --- messages of the coordinator ---

void begin_run(WorkerActor* self, RunSettings settings) {
  auto& state = self->state;
  retire_run(self);
  if (!state.leaving.ends()) state.leaving.end();  // It left the run before.
  auto started = start_run(self->system(), *state.config, std::move(settings),
                           caf::actor_cast<caf::actor>(self), state.http);
  if (!started) {
    spdlog::error("the coordinator's settings cannot be read: {}", started.error().message);
    return end(self, started.error());
  }
  const auto& run = state.run.emplace(std::move(*started));
  if (state.config->metrics) state.config->metrics->run_began(run.settings.providers);
  state.children.add(self, "the worker's model client", run.model_client);
  state.children.add(self, "the worker's scorer", run.scorer);
  tell_log(self);
  const LogScope scope(about(self));
  const auto level = state.config->in_coordinator ? spdlog::level::debug : spdlog::level::err;
  for (const auto& problem : run.problems) spdlog::log(level, "no work is taken: {}", problem.message);
  if (run.problems.empty()) spdlog::info("connected; working on run {}", run.settings.run_id);
  send_to_coordinator(self, ready_message(run, window(self)));
  tell_watcher(self);
}

void on_message(WorkerActor* self, wire::Welcome& welcome) {
  self->state.protocol = welcome.protocol;
  const bool awaited = self->state.contact->on_welcome();
  auto& run = self->state.run;
  if (!run || run->settings.run_id != welcome.settings.run_id) {
    if (const auto other = wire::other_version("the coordinator", welcome.version, welcome.protocol))
      spdlog::warn("{}", *other);
    return begin_run(self, std::move(welcome.settings));
  }
  // A second READY would give back what was leased since the first.
  if (!awaited) return;
  // The same run after a break: what is held goes on.
  send_to_coordinator(self, ready_message(*run, window(self)));
  self->send(run->model_client, BudgetChanged{true, true, {}, {}});
  run->units.report_again();
  schedule_flush(self);
}

void on_message(WorkerActor* self, ActiveRun& run, wire::Work& work) {
  const auto is_forged = [&run](const WorkUnit& unit) { return !run.keys.fits(unit); };
  if (std::ranges::any_of(work.units, is_forged)) {
    spdlog::error("the coordinator names a key that is not that of its request: nothing of it is taken");
    return end(self, protocol_mismatch("a key does not belong to its request"));
  }
  if (!self->state.leaving.begun()) self->state.unread_work.on_read();
  const auto leased = work.units.size();
  auto fresh = run.units.take(std::move(work.units), self->state.leaving.begun());
  if (fresh.size() < leased) schedule_flush(self);
  if (!fresh.empty()) self->send(run.model_client, CompleteUnits{std::move(fresh)});
}

/// Each message is whole, so the next one may well be read. Nobody can name the units of this one: only
/// GOODBYE frees them, and says why.
void on_unreadable_work(WorkerActor* self, const Error& problem) {
  auto& state = self->state;
  // The GOODBYE that is due, or was on its way, frees its units with the others.
  if (state.leaving.begun() || (!state.run && state.protocol > 0)) return;
  auto farewell = state.unread_work.on_unread(unreadable_work(problem.message), state.protocol);
  if (!farewell.ends) spdlog::warn("{}; this worker goes on with other units", farewell.why);
  leave(self, std::move(farewell), state.config->drain_timeout);
}

void on_message(WorkerActor* self, ActiveRun& run, wire::Ack& ack) {
  for (const auto& item : ack.items) {
    const auto overruled = run.units.acknowledge(item);
    if (!overruled) continue;
    // Another answer was committed: ours must not be replayed in a later run.
    const auto forgotten = self->state.config->store->forget_unless(*overruled, item.winner);
    if (!forgotten) spdlog::warn("{}", forgotten.error().message);
  }
  leave_if_done(self);
}

void on_message(WorkerActor* self, ActiveRun& run, wire::Withdraw& withdraw) {
  self->send(run.model_client, WithdrawUnits{std::move(withdraw.units)});
}

void on_message(WorkerActor* self, ActiveRun& run, wire::Grants& grants) {
  const auto& config = *self->state.config;
  if (config.metrics) config.metrics->received(grants);
  self->send(run.model_client, BudgetChanged{true, false, std::move(grants), config.boot_clock()});
}

void on_message(WorkerActor* self, ActiveRun&, wire::Lend& lend) {
  for (auto& lent : lend_entries(*self->state.config->store, lend))
    send_to_coordinator(self, std::move(lent));
}

void on_message(WorkerActor* self, ActiveRun& run, wire::Found& found) {
  self->send(run.model_client, EntriesFound{std::move(found.entries)});
}

void on_message(WorkerActor* self, wire::Drain& drain) {
  auto& state = self->state;
  if (state.run && state.run->settings.run_id != drain.run_id) return;  // Of a run that is over for us.
  // A worker that could not help has failed, whatever the run came to.
  std::optional<Error> problem;
  if (state.run && !state.run->problems.empty()) problem = state.run->problems.front();
  spdlog::info("run {} is over: {}", drain.run_id, drain.reason);
  const bool stays = state.config->stay || (drain.another_follows && !state.config->in_coordinator);
  const bool ends = !stays || state.leaving.ends();
  leave(self, {"drained", std::move(problem), ends}, std::chrono::milliseconds(drain.finish_ms), true);
}

void on_message(WorkerActor* self, wire::Reject& reject) {
  switch (reject.code) {
    case wire::RejectCode::unknown_worker:
      if (self->state.contact->needs_hello(self->clock().now(), heartbeat_interval(self))) send_hello(self);
      return;
    case wire::RejectCode::not_taken:
      return end(self, not_taken(reject.detail));
    case wire::RejectCode::protocol_mismatch:
      return end(self, protocol_mismatch(reject.detail));
    default:
      spdlog::error("the coordinator refused a message: {}", reject.detail);
  }
}

/// An actor that this one needs is gone, though nobody ended it.
void on_down(WorkerActor* self, const caf::down_msg& down) {
  if (self->state.ended) return;
  const auto name = self->state.children.name_of(down.source);
  auto error = unexpected_end(name.empty() ? "a part of a run" : name, self->system().render(down.reason));
  send_to_coordinator(self, wire::Goodbye{error.message, error.reason});
  end(self, std::move(error));
}

// --- time ---

void send_heartbeat(WorkerActor* self, std::vector<wire::Demand> demands) {
  const auto& config = *self->state.config;
  const auto& run = *self->state.run;
  auto message =
      run.heartbeats.compose(run.settings.run_id, config.boot_clock(), window(self), std::move(demands));
  if (config.metrics) config.metrics->sent(message);
  send_to_coordinator(self, std::move(message));
}

void on_message(WorkerActor* self, ActiveRun& run, DemandChanged& demand) {
  run.heartbeats.on_demand(demand);
  run.concurrency = demand.concurrency;
  send_heartbeat(self, std::move(demand.demands));
}

void on_message(WorkerActor* self, ActiveRun&, EntryMessages& entries) {
  for (auto& message : entries.messages) send_to_coordinator(self, std::move(message));
}

void tick(WorkerActor* self) {
  const LogScope scope(about(self));
  auto& state = self->state;
  const auto interval = heartbeat_interval(self);
  self->delayed_send(self, interval, WorkerTick{});
  const auto beat = state.contact->beat(self->clock().now(), interval);
  if (state.retired && self->clock().now() >= state.retired->until) dismiss(self, self->state.retired);
  if (!state.config->stay && beat.silence > state.config->coordinator_timeout)
    return end(self,
               coordinator_silent(state.config->coordinator_timeout, state.refusal, state.run.has_value()));
  if (std::exchange(state.silence_unsaid, beat.just_silent) && !state.contact->connected()) {
    const auto& config = *state.config;
    spdlog::warn(coordinator_awaited(config.stay ? std::nullopt : std::optional(config.coordinator_timeout),
                                     !state.refusal.empty()));
  }
  if (beat.just_silent && state.run) self->send(state.run->model_client, BudgetChanged{false, false, {}, {}});
  if (beat.reconnect) {
    self->send(state.dealer, ReopenSocket{});
    // One that was started anew may refuse what it does not know only now and then.
    if (state.run) send_hello(self);
  }
  leave_if_done(self);
  if (state.ended) return;
  tell_watcher(self);
  if (!state.run) return send_hello(self);
  state.run->credit.on_beat(interval);
  if (!state.run->heartbeats.ask_for_demand(state.contact->connected())) return send_heartbeat(self, {});
  self->send(state.run->model_client, ReportDemand{});
}

// --- the behaviour ---

/// What is of a run that is over for this worker is dropped.
template <class Message>
void dispatch(WorkerActor* self, Message& message) {
  auto& run = self->state.run;
  if constexpr (requires { on_message(self, *run, message); }) {
    if (run && run->settings.run_id == message.run_id) on_message(self, *run, message);
  } else {
    on_message(self, message);
  }
}

void on_coordinator(WorkerActor* self, FromCoordinator& messages) {
  const LogScope scope(about(self));
  auto& state = self->state;
  state.refusal.clear();
  if (state.contact->on_message(self->clock().now()) && state.run) {
    self->send(state.run->model_client, BudgetChanged{true, false, {}, {}});
  }
  for (auto& message : messages.messages) {
    if (state.ended) return;
    std::visit([&](auto& known) { dispatch(self, known); }, message);
  }
  if (messages.unreadable_work && !state.ended) {
    on_unreadable_work(self, *messages.unreadable_work);
    if (state.ended) return;
  }
  if (messages.says_hello_again) send_hello(self);
  // What waited for the answer to a REPORT, where the answer brought nothing to do meanwhile.
  if (state.run && state.run->units.has_results_to_report()) schedule_flush(self);
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
  state.children.add(self, "the worker's dealer", state.dealer);
  state.children.add(self, "the worker's HTTP actor", state.http);
  state.children.end_with(self);
  // Timers would keep the run's actors alive beyond their worker.
  self->set_exit_handler([self](const caf::exit_msg& exit) {
    dismiss(self, self->state.run);
    dismiss(self, self->state.retired);
    self->quit(exit.reason);
  });
  tell_log(self);
  send_hello(self);
  tell_watcher(self);
  self->delayed_send(self, defaults::heartbeat_interval, WorkerTick{});
  return {
      [self](FromCoordinator& messages) { on_coordinator(self, messages); },
      [self](ConnectionRefused& refused) { self->state.refusal = std::move(refused.why); },
      [self](UnitsScored& scored) { dispatch(self, scored); },
      [self](UnitsReturned& returned) { dispatch(self, returned); },
      [self](WoundDown& done) { dispatch(self, done); },
      [self](DemandChanged& demand) { dispatch(self, demand); },
      [self](EntryMessages& entries) { dispatch(self, entries); },
      [self](WorkerUnfit& unfit) { dispatch(self, unfit); },
      [self](FlushReports flush) { on_flush(self, flush); },
      [self](WorkerTick) { tick(self); },
      [self](const StopWorker& stop) { on_stop(self, stop); },
  };
}

}  // namespace

caf::actor spawn_worker(caf::actor_system& system, WorkerConfig config, StartDealer start_dealer,
                        caf::actor http) {
  return system.spawn(worker_behavior, std::make_shared<WorkerConfig>(std::move(config)),
                      std::move(start_dealer), std::move(http));
}

}  // namespace sluice
