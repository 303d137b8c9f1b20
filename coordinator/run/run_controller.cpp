#include "coordinator/run/run_controller.hpp"

#include "common/defaults.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/run/commit_replies.hpp"
#include "coordinator/run/run_errors.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace sluice {

using namespace std::chrono_literals;

RunController::RunController(const Plan& plan, Config config, TimePoint now)
    : plan_(plan),
      config_(std::move(config)),
      dispatcher_(config_.dispatch, std::exchange(config_.affinities, {}), config_.holders),
      lending_(config_.settings, config_.dispatch.lease_time),
      budget_(config_.budget, config_.price, [&plan](UnitId unit) { return plan.arm_of(unit); }),
      lease_numbers_(config_.lease_secret, config_.settings.run_id),
      leases_(plan_, config_.settings, config_.pinned_answers, lease_numbers_, dispatcher_, lending_,
              budget_),
      start_(config_.expected_workers, config_.worker_timeout, 2 * config_.dispatch.heartbeat_interval, now),
      end_(config_.drain_timeout, config_.deadline, now - config_.elapsed_before),
      long_pause_(config_.settings.case_timeout),
      tally_(config_.earlier ? config_.earlier->tally() : RunTally(config_.settings.run_id, now)),
      roster_(plan_.unit_count()),
      results_({plan_, config_.settings, config_.models, lease_numbers_, dispatcher_, lending_, budget_,
                tally_, roster_},
               config_.earlier),
      last_had_worker_(now) {
  budget_.pay_before(config_.paid_before);
  if (config_.earlier) tally_.go_on(now);
  // The first tick of a process that was stopped before it is late, too.
  static_cast<void>(dispatcher_.tick(now));
  Effects none;
  lending_.tick(now, none);
  // In a run of one process nobody else can come, and without caches nobody holds anything.
  if (config_.workers_may_join && config_.settings.read_cache) dispatcher_.wait_for_holders();
}

// --- who is there ---

void RunController::on_messages(FromWorkers& messages, TimePoint now, Effects& effects) {
  tally_.set_frames_rejected(messages.frames_rejected);
  connections_refused_ = messages.connections_refused;
  for (const Peer& peer : messages.removed) on_removed(peer, now, effects);
  for (auto& item : messages.items) {
    std::visit([&](auto& message) { on_message(item.peer, message, now, effects); }, item.message);
  }
  for (const Peer& peer : messages.deaf) let_go(peer, "it does not read what it is sent", true, now, effects);
  lease_work(now, effects);
  finish_if_done(now, effects);
}

void RunController::on_message(const Peer& peer, wire::Hello& hello, TimePoint now, Effects& effects) {
  // One that had to connect anew while its calls are waited for brings what it has paid for.
  const bool is_awaited = end_.time_to_finish(now) > 0ms && roster_.knows(hello.instance);
  if (over() && !is_awaited) return send_drain(peer, "the run is over", now, effects);
  if (auto why = wire::beyond_protocol(config_.settings, config_.later_parts, hello.protocol)) {
    effects.to_workers.push_back({peer, wire::Reject{wire::RejectCode::protocol_mismatch, std::move(*why)}});
    return;
  }
  if (!roster_.has_room_for(hello)) {
    effects.to_workers.push_back(
        {peer, wire::Reject{wire::RejectCode::not_taken, "this run has as many workers as it can have"}});
    return;
  }
  // A connection is one worker's.
  if (const auto other = roster_.at(peer); other && *other != hello.instance)
    forget(*other, false, now, effects);
  if (auto copied = roster_.take_copied_cache(hello, now)) effects.warnings.push_back(std::move(*copied));
  if (roster_.admit(peer, hello, now)) effects.gone.push_back({hello.instance, true, true});
  // No lease until its READY has named what it holds: READY gives back whatever it does not name.
  dispatcher_.set_window(hello.instance, 0);
  last_had_worker_ = now;
  effects.changed_peers.push_back(hello.instance);
  const auto other = wire::other_version("worker " + hello.name, hello.version, hello.protocol);
  if (other) effects.warnings.push_back({*other, {.worker = hello.name}});
  if (!other) effects.notes.push_back(about_worker(hello.name, "is there"));
  effects.to_workers.push_back({peer, wire::Welcome{config_.settings, SLUICE_VERSION}});
}

void RunController::on_message(const Peer& peer, wire::Ready& ready, TimePoint now, Effects& effects) {
  const auto id = roster_.at(peer);
  if (!id || ready.run_id != config_.settings.run_id) return;
  const auto& hello = roster_.connected(*id).hello;
  // Each deals the queue anew: one for a WELCOME.
  if (roster_.connected(*id).ready) return;
  ready.held.resize(std::min<std::size_t>(ready.held.size(), defaults::max_window));
  std::ranges::sort(ready.held);
  ready.held.erase(std::unique(ready.held.begin(), ready.held.end()), ready.held.end());
  std::vector<UnitId> held;
  for (const auto& [unit, lease] : ready.held) {
    if (lease_numbers_.is_held(*id, unit, lease)) held.push_back(unit);
  }
  if (!held.empty()) roster_.mark_leased(*id, held.size());  // Perhaps by a coordinator before this one.
  roster_.set_ready(*id);
  lending_.join(*id, peer, hello.cache_id, now);
  if (over()) return send_drain(peer, "the run is over", now, effects);
  if (!ready.problems.empty()) {
    const auto& problem = ready.problems.front();
    dispatcher_.leave(*id);
    dispatcher_.add_lender(hello.cache_id);
    set_problem(*id, problem, effects);
    leases_.reserve_held(*id, held);
    if (dispatcher_.worker_count() == 0 && !config_.workers_may_join) {
      return stop({problem.reason, "worker " + hello.name + ": " + problem.message}, now, effects);
    }
    effects.warnings.push_back(about_worker(hello.name, "gets no work: " + problem.message));
    return;
  }
  dispatcher_.join(*id, hello.cache_id, held, now);
  dispatcher_.set_window(*id, window_of(ready.window));
  leases_.reserve_held(*id, held);
  CommitReplies replies;
  for (const auto& [unit, lease] : ready.held) {
    if (dispatcher_.holder_of(unit) != id) replies.withdraw(*id, unit);
  }
  replies.send(config_.settings.run_id, roster_, effects.to_workers);
}

/// It begins no call from here on: what it has of the budget goes to the others, once what it may have under
/// way has ended.
void RunController::set_problem(WorkerId worker, const Error& error, Effects& effects) {
  if (!roster_.is_connected(worker)) return;
  roster_.set_problem(worker, error);
  effects.gone.push_back({worker, true, false});
  effects.changed_peers.push_back(worker);
}

/// Before its READY a worker has none.
void RunController::set_window(WorkerId worker, std::uint32_t window) {
  if (roster_.connected(worker).ready) dispatcher_.set_window(worker, window_of(window));
}

/// Where no calls are made all that is leased is answered at once.
std::uint32_t RunController::window_of(std::uint32_t wanted) const {
  const bool is_capped = config_.most_to_check > 0 && config_.settings.mode != Mode::live;
  return is_capped ? static_cast<std::uint32_t>(std::min<std::size_t>(wanted, config_.most_to_check))
                   : wanted;
}

/// Who sent a message of this run, which is a sign of life; nothing, and a REJECT, if it is not known.
std::optional<WorkerId> RunController::sender(const Peer& peer, const std::string& run_id, TimePoint now,
                                              Effects& effects) {
  const auto id = roster_.at(peer);
  if (!id || run_id != config_.settings.run_id) {
    reject_unknown(peer, effects);
    return std::nullopt;
  }
  if (auto copied = roster_.on_message(*id, now)) effects.warnings.push_back(std::move(*copied));
  dispatcher_.on_message(*id, now);
  return id;
}

void RunController::reject_unknown(const Peer& peer, Effects& effects) {
  effects.to_workers.push_back({peer, wire::Reject{wire::RejectCode::unknown_worker, "say HELLO first"}});
}

void RunController::on_message(const Peer& peer, wire::Goodbye& goodbye, TimePoint now, Effects& effects) {
  const auto id = roster_.at(peer);
  if (id && goodbye.error == Reason::message_malformed) results_.fail_unread(*id, goodbye.reason, effects);
  let_go(peer, goodbye.reason, false, now, effects);
}

void RunController::on_removed(const Peer& peer, TimePoint now, Effects& effects) {
  const auto known = effects.gone.size();
  let_go(peer, "its key is no longer admitted", true, now, effects);
  if (effects.gone.size() > known) effects.gone.back().removed = true;
}

/// `lost`: it did not say so itself, and may have calls under way.
void RunController::let_go(const Peer& peer, const std::string& why, bool lost, TimePoint now,
                           Effects& effects) {
  const auto id = roster_.at(peer);
  if (!id) return;
  effects.notes.push_back(roster_.take_farewell(*id, why));
  forget(*id, lost, now, effects);
  stop_if_last_worker_failed(now, effects);
}

void RunController::forget(WorkerId worker, bool lost, TimePoint now, Effects& effects) {
  dispatcher_.leave(worker);
  if (!roster_.is_connected(worker)) return;
  roster_.remove(worker);
  effects.gone.push_back({worker, lost, false});
  lending_.leave(worker, now, effects);
}

// --- budgets and entries ---

void RunController::on_message(const Peer& peer, wire::Heartbeat& heartbeat, TimePoint now,
                               Effects& effects) {
  const auto id = sender(peer, heartbeat.run_id, now, effects);
  if (!id) return;
  set_window(*id, heartbeat.window);
  const auto is_waiting = [](const wire::Demand& demand) { return demand.ready_calls > 0; };
  if (std::ranges::any_of(heartbeat.demands, is_waiting)) dispatcher_.excuse(*id, now);
  // Names come from the network: only the run's own providers have a budget, and there is one demand for
  // each.
  std::set<std::string> said;
  std::erase_if(heartbeat.demands, [&](const wire::Demand& demand) {
    const auto& providers = config_.settings.providers;
    const auto known = std::ranges::find(providers, demand.provider, &ProviderSettings::name);
    return known == providers.end() || !said.insert(demand.provider).second;
  });
  for (const auto& demand : heartbeat.demands) check_named_delay(*id, demand, now, effects);
  effects.demands.emplace_back(peer, std::move(heartbeat));
}

void RunController::check_named_delay(WorkerId worker, const wire::Demand& demand, TimePoint now,
                                      Effects& effects) {
  const std::chrono::milliseconds delay(demand.pause_ms);
  const auto step = long_pause_.on_delay(delay, end_, now);
  if (step == LongPause::Step::none) return;
  const auto until = config_.time_of_day() + delay;
  if (step == LongPause::Step::stop)
    return stop(
        provider_paused(demand.provider, roster_.name_of(worker), delay, until, config_.settings.write_cache),
        now, effects);
  effects.notes.push_back({"the run waits until " + utc_time(until) + ": provider \"" + demand.provider +
                               "\" asks for silence, and the deadline lies beyond",
                           {.worker = roster_.name_of(worker), .provider = demand.provider}});
}

// Also after the end: the answers that are under way then need what was embedded for others.

void RunController::on_message(const Peer& peer, wire::Seek& seek, TimePoint now, Effects& effects) {
  const auto id = sender(peer, seek.run_id, now, effects);
  if (id) lending_.on_message(*id, seek, now, effects);
}

void RunController::on_message(const Peer& peer, wire::Lent& lent, TimePoint now, Effects& effects) {
  const auto id = sender(peer, lent.run_id, now, effects);
  if (id) lending_.on_message(*id, lent, now, effects);
}

void RunController::on_message(const Peer& peer, wire::Stored& stored, TimePoint now, Effects& effects) {
  const auto id = sender(peer, stored.run_id, now, effects);
  if (!id) return;
  const auto said = stored.stored.size();
  std::size_t noted = 0;
  while (noted < said && roster_.may_note(*id)) ++noted;
  stored.stored.resize(noted);
  lending_.on_message(*id, stored, now, effects);
}

void RunController::on_looked_up(const std::vector<EntryHolder>& holders, TimePoint now, Effects& effects) {
  lending_.looked_up(holders, now, effects);
}

// --- results ---

void RunController::on_message(const Peer& peer, wire::Report& report, TimePoint now, Effects& effects) {
  const auto id = roster_.at(peer);
  // A worker that is not known keeps its results and sends them again after its HELLO.
  if (!id) return reject_unknown(peer, effects);
  wire::Ack refused{report.run_id, {}};
  if (report.run_id != config_.settings.run_id) {
    for (const auto& result : report.results) {
      refused.items.push_back({result.unit, wire::AckCode::gone, result.key, {}});
    }
  } else {
    dispatcher_.on_message(*id, now);
    set_window(*id, report.window);
    for (const auto unit : report.started) dispatcher_.started(*id, unit, now);
    tally_.on_result(now);
    for (auto& result : report.results) {
      const auto unit = result.unit;
      const auto fatal = results_.take(*id, std::move(result), refused, effects);
      if (fatal) take_fatal_error(*id, unit, *fatal, now, effects);
    }
    results_.take_back(*id, report, effects);
  }
  if (!refused.items.empty()) effects.to_workers.push_back({peer, std::move(refused)});
}

void RunController::take_fatal_error(WorkerId worker, UnitId unit, const Error& error, TimePoint now,
                                     Effects& effects) {
  dispatcher_.started(worker, unit, now);
  dispatcher_.release(worker, unit);
  // What was under way there when it was put out.
  const bool is_here = roster_.is_connected(worker);
  if (is_here && roster_.connected(worker).problem) return;
  const bool others = dispatcher_.worker_count() > (dispatcher_.knows(worker) ? 1 : 0);
  const bool is_its_own = concerns_worker_alone(error.reason);
  const auto& name = roster_.name_of(worker);
  if (others && is_its_own) {
    effects.warnings.push_back(about_worker(name, "gets no more work: " + error.message));
    dispatcher_.leave(worker);
    return set_problem(worker, error, effects);
  }
  const bool is_of_this_process = is_here && roster_.connected(worker).hello.from_this_process;
  const bool is_named = others || (is_its_own && !is_of_this_process);
  stop({error.reason, error.message + (is_named ? " (worker " + name + ")" : std::string())}, now, effects);
}

void RunController::on_recorded(const ResultsRecorded& recorded, TimePoint now, Effects& effects) {
  results_.on_recorded(recorded, !over(), effects);
  const auto is_first = [](const ResultsRecorded::Item& item) { return item.outcome.first; };
  if (std::ranges::any_of(recorded.items, is_first)) tally_.on_result(now);
  lease_work(now, effects);
  finish_if_done(now, effects);
}

// --- leases ---

/// Whether everybody whom the run waits for is there, or was waited for long enough.
bool RunController::may_lease(TimePoint now, Effects& effects) {
  const auto ready = roster_.ready_count();
  const auto missing = start_.begun() ? 0 : roster_.missing_caches(config_.earlier_caches);
  const auto step = start_.on_ready(ready, missing, now);
  if (step.some_are_missing) {
    effects.notes.push_back({"only " +
                             wording::counted_of(ready, config_.expected_workers, "expected worker") +
                             " came; the run goes on without the others"});
  }
  if (step.holders_overdue) dispatcher_.end_wait_for_holders();
  if (const auto units = dispatcher_.waiting_for_holders(); step.begins && units > 0) {
    effects.notes.push_back({wording::counted(units, "unit") + (units == 1 ? " waits" : " wait") +
                             " a moment for the workers whose caches hold the answers"});
  }
  return start_.begun();
}

void RunController::lease_work(TimePoint now, Effects& effects) {
  leases_.release_returned();
  if (over() || dispatcher_.pending_count() == 0 || results_.checks_lag(config_.most_to_check)) return;
  if (!may_lease(now, effects)) return;
  auto problem = leases_.hand_out(roster_, now, tally_, effects.to_workers,
                                  config_.notes_leases ? &effects.leased : nullptr);
  if (problem) stop(std::move(*problem), now, effects);
}

// --- time ---

void RunController::on_tick(TimePoint now, Effects& effects) {
  const auto tick = dispatcher_.tick(now);
  lending_.tick(now, effects);
  if (tick.clocks_restarted)
    effects.notes.push_back({"the coordinator was stopped for a while; all clocks start anew"});
  for (const auto id : tick.lost) {
    // Once the run is over nobody waits for it, or gets its leases.
    const auto then =
        over() ? "" : "; " + after_silence(dispatcher_.worker_count() > 0, config_.worker_timeout);
    effects.notes.push_back(about_worker(roster_.name_of(id), "is silent" + then));
    roster_.mark_lost(id);
    forget(id, true, now, effects);
  }
  tally_.on_leases_lost(tick.leases_lost);
  if (!tick.clocks_restarted) forget_silent_idlers(now, effects);
  if (dispatcher_.worker_count() > 0 || dispatcher_.all_answered() || tick.clocks_restarted)
    last_had_worker_ = now;
  check_deadline(now, effects);
  effects.drop_checks = end_.drops_checks(now, keeps_answers(config_.settings));
  if (!over() && now - last_had_worker_ > config_.worker_timeout) {
    const auto without = no_worker_connected(config_.worker_timeout, connections_refused_,
                                             roster_.last_farewell(), config_.how_to_start_a_worker);
    stop(roster_.problem().value_or(local_failure_.value_or(without)), now, effects);
  }
  lease_work(now, effects);
  finish_if_done(now, effects);
}

/// Peers that sent HELLO and never took work hold no lease that could be lost; silence ends them all the
/// same.
void RunController::forget_silent_idlers(TimePoint now, Effects& effects) {
  const auto patience = config_.dispatch.liveness * config_.dispatch.heartbeat_interval;
  for (const auto id : roster_.silent_since(now - patience)) {
    if (!dispatcher_.knows(id)) forget(id, true, now, effects);
  }
}

void RunController::check_deadline(TimePoint now, Effects& effects) {
  if (auto reached = end_.deadline_problem(now)) stop(std::move(*reached), now, effects);
}

// --- the end ---

void RunController::on_local_worker_failed(const Error& error, TimePoint now, Effects& effects) {
  if (error.reason == Reason::internal_error) return stop(error, now, effects);
  effects.notes.push_back({"a worker of this process has ended: " + error.message});
  local_failure_ = error;
  stop_if_last_worker_failed(now, effects);
}

/// Its GOODBYE and its error come on different ways, in any order. Where others may join they are waited for
/// (on_tick).
void RunController::stop_if_last_worker_failed(TimePoint now, Effects& effects) {
  if (config_.workers_may_join || dispatcher_.all_answered()) return;
  if (local_failure_ && dispatcher_.worker_count() == 0) stop(*local_failure_, now, effects);
}

void RunController::finish_if_done(TimePoint now, Effects& effects) {
  if (over() || !dispatcher_.finished()) return;
  const auto missed = dispatcher_.missed_units();
  if (!missed.empty() && somebody_is_joining()) return;
  tally_.on_result(now);
  if (!missed.empty()) {
    return stop(missing_answers(plan_, missed, results_.missing_for(missed.front()),
                                config_.settings.grading.has_value()),
                now, effects);
  }
  if (end_.complete()) drain("the run is complete", now, effects);
}

/// One that has sent HELLO and not READY yet may hold what all the others lack.
bool RunController::somebody_is_joining() const {
  return std::ranges::any_of(roster_.connected(), [this](const auto& entry) {
    return !entry.second.problem && !dispatcher_.knows(entry.first);
  });
}

void RunController::stop(Error why, TimePoint now, Effects& effects) {
  const bool is_first = end_.stop(why, now);
  effects.drop_checks = end_.drops_checks(now, keeps_answers(config_.settings));
  if (is_first) drain(why.message, now, effects);
  // A signal is acknowledged also by a run that is over for another reason.
  if (!is_first && why.reason != Reason::interrupted) return;
  const auto started = dispatcher_.started_count();
  auto words =
      stop_in_words(why, {started + dispatcher_.waiting_count(), started - std::min(held_up_, started),
                          time_to_finish(now), effects.drop_checks ? 0 : in_check_});
  if (!words.empty()) effects.announced.push_back(std::move(words));
}

void RunController::drain(const std::string& reason, TimePoint now, Effects& effects) {
  for (const auto& [id, worker] : roster_.connected()) send_drain(worker.peer, reason, now, effects);
}

void RunController::send_drain(const Peer& peer, const std::string& reason, TimePoint now,
                               Effects& effects) const {
  const auto finish_ms = static_cast<std::uint32_t>(time_to_finish(now).count());
  effects.to_workers.push_back({peer, wire::Drain{config_.settings.run_id, reason, finish_ms,
                                                  config_.another_follows && !end_.stopped()}});
}

RunFacts RunController::facts() const {
  auto facts = tally_.facts();
  facts.workers = roster_.facts();
  facts.cut_short = end_.cut_short(dispatcher_.settled_count() == plan_.unit_count());
  facts.cut_off_calls = facts.cut_short && config_.settings.mode == Mode::live && dispatcher_.has_cut_off();
  return facts;
}

}  // namespace sluice
