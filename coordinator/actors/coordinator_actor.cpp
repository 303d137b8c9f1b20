#include "coordinator/actors/coordinator_actor.hpp"

#include "common/process/supervision.hpp"
#include "common/text/stderr_line.hpp"
#include "coordinator/actors/checker.hpp"
#include "coordinator/actors/governor_actor.hpp"
#include "coordinator/actors/messages.hpp"
#include "coordinator/actors/recorder.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/progress/run_metrics.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/system_messages.hpp>
#include <spdlog/spdlog.h>

namespace sluice {

namespace {

struct CoordinatorState {
  CoordinatorState() = default;
  static inline const char* name = "coordinator";

  std::shared_ptr<CoordinatorConfig> config;
  std::optional<RunController> controller;
  caf::actor router;
  caf::actor governor;
  caf::actor recorder;
  caf::actor checker;  ///< Null where no command checks answers.
  Children children;
  RateEstimate rate;
  TimePoint started;
  std::uint64_t done_before = 0;     ///< Trials of the run's earlier parts.
  std::vector<BudgetFacts> budgets;  ///< As the governor last reported.
  std::size_t unrecorded = 0;        ///< Results on their way through checker and recorder.
  bool checks_dropped = false;       ///< No command checks any answer more.
  bool nobody_records = false;       ///< Recorder or checker is gone.
  bool closing = false;
  bool goodbyes_awaited = true;
  bool progress_due = false;  ///< To be shown, or published, once the governor's report is there.
  bool metrics_due = false;
  std::uint64_t budgets_pending = 0;  ///< Reports that the governor owes; they come in order.
  bool last_budgets_requested = false;
  bool last_budgets_awaited = false;
  std::optional<Error> defect;  ///< An actor that the run needs has ended unexpectedly.
};

using CoordinatorActor = caf::stateful_actor<CoordinatorState>;

bool goes_on(const CoordinatorState& state) {
  return state.controller->worker_count() > 0 && !stands_still(state.budgets);
}

/// With each of the governor's reports: lines of a log are so far apart that stops lie between two of them.
void update_rate(CoordinatorActor* self) {
  auto& state = self->state;
  state.rate.update(self->clock().now() - state.started,
                    state.controller->counts().done() - state.done_before, goes_on(state));
}

/// What the run says of calls under way when it is stopped is what the progress line says.
void tell_held_up(CoordinatorState& state) {
  ProgressState now;
  now.begun = state.controller->started_count();
  now.waiting = state.controller->waiting_count();
  now.budgets = state.budgets;
  set_in_flight(now);
  state.controller->set_held_up(now.begun - now.in_flight);
}

/// As the report has it: rounded.
std::chrono::seconds shown_duration(const RunFacts& facts) {
  return std::chrono::round<std::chrono::seconds>(std::chrono::duration<double>(facts.duration_seconds));
}

ProgressState progress_of(CoordinatorActor* self, const RunFacts& facts) {
  auto& state = self->state;
  const auto& controller = *state.controller;
  const auto& counts = controller.counts();
  ProgressState progress;
  const TrialTable& trials = state.config->plan->trials();
  progress.done = counts.done();
  progress.total = trials.trial_count();
  if (trials.case_count() != trials.trial_count()) progress.cases = trials.case_count();
  progress.passed = counts.passed;
  progress.failed = counts.failed;
  progress.perturbed = counts.perturbed;
  progress.errors = counts.errors;
  progress.begun = controller.started_count();
  progress.waiting = controller.waiting_count();
  progress.in_check = controller.in_check();
  progress.waits_for_budget = controller.waits_for_budget();
  progress.workers = static_cast<std::uint32_t>(controller.worker_count());
  progress.idle_workers = static_cast<std::uint32_t>(controller.idle_count());
  progress.unfit_workers = static_cast<std::uint32_t>(controller.unfit_count());
  progress.expected_workers = controller.awaited_workers();
  // What the facts have is of units that are done.
  std::uint64_t refused = 0;
  for (const auto& budget : state.budgets) refused += budget.rate_limited;
  progress.rate_limited = std::max(refused, std::uint64_t{facts.rate_limited});
  progress.budgets = state.budgets;
  set_in_flight(progress);
  update_rate(self);
  const auto now = self->clock().now();
  progress.elapsed = std::chrono::round<std::chrono::seconds>(controller.time_until(now));
  if (progress.done == progress.total) progress.elapsed = shown_duration(facts);
  progress.per_second = state.rate.per_second();
  const auto remaining = state.rate.time_for(progress.total - progress.done);
  if (remaining && goes_on(state)) {
    progress.remaining = std::chrono::duration_cast<std::chrono::seconds>(*remaining);
  }
  const auto stalled = state.rate.stalled();
  if (stalled && progress.begun + progress.in_check > 0)
    progress.stalled = std::chrono::duration_cast<std::chrono::seconds>(*stalled);
  if (state.config->price) progress.cost = paid_cost(facts, state.config->price);
  return progress;
}

void show_progress(CoordinatorActor* self) {
  auto& state = self->state;
  state.progress_due = false;
  if (!state.config->progress) return;
  self->send(state.config->progress, ShowProgress{progress_of(self, state.controller->facts())});
}

void publish_metrics(CoordinatorActor* self) {
  auto& state = self->state;
  state.metrics_due = false;
  const auto facts = state.controller->facts();
  const auto progress = progress_of(self, facts);
  state.config->metrics->publish(run_metrics(progress, facts));
  const auto workers = std::to_string(progress.workers) + (progress.workers == 1 ? " worker" : " workers");
  if (state.config->pulse) state.config->pulse->beat(true, "a run with " + workers, self->clock().now());
}

/// What the report says.
void show_last_progress(CoordinatorActor* self, const RunFacts& facts) {
  const auto& state = self->state;
  if (!state.config->progress) return;
  ProgressState last = progress_of(self, facts);
  std::uint64_t unanswered = last.total - last.done;
  if (facts.tells_not_started()) {
    unanswered = 0;
    for (const UnitId unit : state.controller->begun_units())
      unanswered += state.config->plan->trials_of(unit).size();
  }
  end_with(last, unanswered);
  last.elapsed = shown_duration(facts);
  self->send(state.config->progress, ShowProgress{std::move(last)});
}

/// Nothing is to be sent or recorded any more: hands the run to the listener and ends the actors of the run.
void end_run(CoordinatorActor* self) {
  auto& state = self->state;
  auto facts = state.controller->facts();
  if (state.defect) facts.cut_short = state.defect;
  show_last_progress(self, facts);
  facts.budgets = std::move(state.budgets);
  self->send(state.config->listener,
             RunEnded{std::move(facts), state.controller->lost_units(), state.controller->begun_units()});
  self->send(state.router, CloseSocket{});
  // An ordinary message, behind what it was sent before: what calls took is to be noted. In CAF 0.17
  // send_exit would stay behind that as well, but nothing says that it must.
  self->send(state.recorder, caf::exit_msg{self->address(), caf::exit_reason::user_shutdown});
  self->send_exit(state.governor, caf::exit_reason::user_shutdown);
  if (state.checker) self->send_exit(state.checker, caf::exit_reason::user_shutdown);
  self->quit();
}

void request_budgets(CoordinatorActor* self) {
  ++self->state.budgets_pending;
  self->send(self->state.governor, BudgetRequest{});
}

/// Ends the run when nobody has anything more to send. Results that are on their way into the ledger are
/// waited for in any case: they were paid for.
void end_run_if_quiet(CoordinatorActor* self) {
  auto& state = self->state;
  if (!state.controller->over() || state.unrecorded > 0) return;
  if (!std::exchange(state.last_budgets_requested, true)) {
    state.last_budgets_awaited = true;
    request_budgets(self);
  }
  if (state.last_budgets_awaited) return;
  if (state.controller->all_gone() || !state.goodbyes_awaited) return end_run(self);
  if (!std::exchange(state.closing, true)) {
    self->delayed_send(self, defaults::goodbye_wait + state.controller->time_to_finish(self->clock().now()),
                       GoodbyeTimeout{});
  }
}

void log(spdlog::level::level_enum level, const std::vector<LogNote>& notes) {
  for (const LogNote& note : notes) {
    const LogScope scope(note.about);
    spdlog::log(level, "{}", note.text);
  }
}

/// `in_hand`: of the messages that brought them about, if any did.
void perform(CoordinatorActor* self, Effects& effects, const InHand& in_hand = {}) {
  auto& state = self->state;
  if (state.nobody_records && !effects.to_record.empty()) {
    ResultsDropped dropped;
    for (const RecordResult& one : std::exchange(effects.to_record, {})) dropped.add(one);
    state.controller->on_dropped(dropped, effects);
  }
  state.unrecorded += effects.to_record.size();
  log(spdlog::level::warn, effects.warnings);
  log(spdlog::level::info, effects.notes);
  log(spdlog::level::debug, effects.details);
  for (const auto& words : effects.announced) {
    say(words, Severity::info, state.config->over_live_line);
  }
  if (!effects.leased.empty() || !effects.spent.empty())
    self->send(state.recorder, NoteProgress{std::move(effects.spent), std::move(effects.leased), in_hand});
  if (!effects.to_record.empty())
    self->send(state.checker ? state.checker : state.recorder,
               RecordResults{std::move(effects.to_record), in_hand});
  if (effects.drop_checks && state.checker && !std::exchange(state.checks_dropped, true))
    self->send(state.checker, DropChecks{});
  for (auto& message : effects.to_workers) {
    message.in_hand = in_hand;
    self->send(state.router, std::move(message));
  }
  if (!effects.to_note.empty()) self->send(state.recorder, NoteHolders{std::move(effects.to_note), in_hand});
  if (!effects.to_look_up.empty())
    self->send(state.recorder, LookUpHolders{std::move(effects.to_look_up), in_hand});
  if (!effects.changed_peers.empty() || !effects.gone.empty()) {
    self->send(state.governor,
               PeersChanged{state.controller->settings().run_id,
                            state.controller->peers(effects.changed_peers), std::move(effects.gone)});
  }
  for (auto& [peer, heartbeat] : effects.demands) {
    self->send(state.governor,
               HeartbeatReceived{std::move(peer), std::move(heartbeat), in_hand, state.controller->over()});
  }
  end_run_if_quiet(self);
}

void drop(CoordinatorActor* self, const ResultsDropped& dropped, Effects& effects) {
  auto& unrecorded = self->state.unrecorded;
  unrecorded -= std::min(unrecorded, dropped.items.size());
  self->state.controller->on_dropped(dropped, effects);
}

/// An actor that the run needs is gone, though nobody ended it: the run ends with what is committed.
void on_down(CoordinatorActor* self, const caf::down_msg& down) {
  auto& state = self->state;
  // No result depends on observations, which give way.
  if (const auto& observer = state.config->observing.observer;
      observer && down.source == observer.address()) {
    const auto ended = unexpected_end("the observer", self->system().render(down.reason));
    spdlog::warn("{}; the run goes on and saves no more observations", ended.message);
    return;
  }
  const auto who = state.children.name_of(down.source);
  if (down.source == state.router.address()) {
    state.goodbyes_awaited = false;
  } else if (down.source == state.governor.address()) {
    state.last_budgets_requested = true;
    state.last_budgets_awaited = false;
  } else if (down.source == state.recorder.address() || down.source == state.checker.address()) {
    state.unrecorded = 0;
    state.nobody_records = true;
  }
  state.defect =
      unexpected_end(who.empty() ? "the progress display" : who, self->system().render(down.reason));
  Effects effects;
  state.controller->stop(*state.defect, self->clock().now(), effects);
  perform(self, effects);
}

void watch_children(CoordinatorActor* self) {
  auto& state = self->state;
  end_on_exception(self);
  self->set_down_handler([self](const caf::down_msg& down) { on_down(self, down); });
  state.children.add(self, "the router", state.router);
  state.children.add(self, "the governor", state.governor);
  state.children.add(self, "the recorder", state.recorder);
  if (state.checker) state.children.add(self, "the checker", state.checker);
  state.children.end_with(self);
  if (state.config->progress) self->monitor(state.config->progress);
  if (state.config->observing.observer) self->monitor(state.config->observing.observer);
}

caf::behavior coordinator_behavior(CoordinatorActor* self, std::shared_ptr<CoordinatorConfig> config,
                                   const StartRouter& start_router, const StartRecorder& start_recorder) {
  auto& state = self->state;
  state.config = std::move(config);
  state.started = self->clock().now();
  const auto deadline = state.config->controller.deadline;
  const auto elapsed_before = state.config->controller.elapsed_before;
  if (state.config->commands) state.config->controller.most_to_check = most_to_check();
  // Moved: it is some 50 bytes a unit.
  state.controller.emplace(*state.config->plan, std::move(state.config->controller), state.started);
  state.done_before = state.controller->counts().done();
  const auto me = caf::actor_cast<caf::actor>(self);
  state.router = start_router(me);
  state.governor = spawn_governor(self->system(), state.config->governor, state.router, me,
                                  std::move(state.config->other_runs));
  state.recorder = start_recorder(me);
  if (state.config->commands)
    state.checker =
        spawn_checker(self->system(), state.config->plan, state.config->commands, me, state.recorder);
  watch_children(self);
  self->delayed_send(self, state.controller->settings().heartbeat_interval, HeartbeatTick{});
  if (state.config->progress) self->delayed_send(self, state.config->progress_interval, ProgressTick{});
  if (deadline)
    self->delayed_send(self, std::max(*deadline - elapsed_before, std::chrono::milliseconds(0)),
                       DeadlineTick{});

  // What is left of the run after its end (a late frame, a timer) finds the actor gone.
  return {
      [self](FromWorkers& messages) {
        Effects effects;
        self->state.controller->on_messages(messages, self->clock().now(), effects);
        perform(self, effects, messages.in_hand);
      },
      [self](const ResultsRecorded& recorded) {
        Effects effects;
        auto& unrecorded = self->state.unrecorded;
        unrecorded -= std::min(unrecorded, recorded.items.size());
        self->state.controller->on_recorded(recorded, self->clock().now(), effects);
        perform(self, effects);
      },
      [self](const ResultsDropped& dropped) {
        Effects effects;
        drop(self, dropped, effects);
        perform(self, effects);
      },
      [self](const ChecksUnderWay& now) { self->state.controller->set_in_check(now.results); },
      [self](const HoldersLookedUp& found) {
        Effects effects;
        self->state.controller->on_looked_up(found.holders, self->clock().now(), effects);
        perform(self, effects);
      },
      [self](RecordingFailed& failed) {
        Effects effects;
        // The report names why the run was stopped first.
        if (self->state.controller->over()) spdlog::error("{}", failed.why.message);
        self->state.controller->stop(std::move(failed.why), self->clock().now(), effects);
        drop(self, failed.dropped, effects);
        perform(self, effects);
      },
      [self](HeartbeatTick) {
        self->send(self->state.router, DrainSocket{});
        self->delayed_send(self, self->state.controller->settings().heartbeat_interval, HeartbeatTick{});
      },
      [self](SocketDrained) {
        Effects effects;
        self->state.controller->on_tick(self->clock().now(), effects);
        self->state.metrics_due = self->state.metrics_due || self->state.config->metrics;
        request_budgets(self);
        perform(self, effects);
      },
      [self](BudgetReport& report) {
        self->state.budgets = std::move(report.budgets);
        // One that was asked for earlier lacks what the last heartbeats brought.
        if (--self->state.budgets_pending == 0) self->state.last_budgets_awaited = false;
        update_rate(self);
        tell_held_up(self->state);
        if (self->state.progress_due) show_progress(self);
        if (self->state.metrics_due) publish_metrics(self);
        end_run_if_quiet(self);
      },
      [self](DeadlineTick) {
        Effects effects;
        self->state.controller->check_deadline(self->clock().now(), effects);
        perform(self, effects);
      },
      [self](ProgressTick) {
        self->state.progress_due = true;
        request_budgets(self);
        self->delayed_send(self, self->state.config->progress_interval, ProgressTick{});
      },
      [self](StopRun& stop) {
        Effects effects;
        self->state.controller->stop(std::move(stop.why), self->clock().now(), effects);
        perform(self, effects);
      },
      [self](const LocalWorkerFailed& failed) {
        Effects effects;
        self->state.controller->on_local_worker_failed(failed.error, self->clock().now(), effects);
        perform(self, effects);
      },
      [self](GoodbyeTimeout) {
        self->state.goodbyes_awaited = false;
        end_run_if_quiet(self);
      },
  };
}

}  // namespace

caf::actor spawn_coordinator(caf::actor_system& system, CoordinatorConfig config, BoundRouter router,
                             Ledger ledger) {
  const auto bound = std::make_shared<BoundRouter>(std::move(router));
  const auto owned = std::make_shared<Ledger>(std::move(ledger));
  const auto start_router = [&system, bound](const caf::actor& coordinator) {
    return spawn_router(system, std::move(*bound), coordinator);
  };
  const auto start_recorder = [&system, owned, run_id = config.controller.settings.run_id,
                               move_pins = config.move_pins,
                               observing = config.observing](const caf::actor& coordinator) {
    return spawn_recorder(system, std::move(*owned), run_id, move_pins, coordinator, observing);
  };
  return spawn_coordinator(system, std::move(config), start_router, start_recorder);
}

caf::actor spawn_coordinator(caf::actor_system& system, CoordinatorConfig config, StartRouter start_router,
                             StartRecorder start_recorder) {
  return system.spawn(coordinator_behavior, std::make_shared<CoordinatorConfig>(std::move(config)),
                      std::move(start_router), std::move(start_recorder));
}

}  // namespace sluice
