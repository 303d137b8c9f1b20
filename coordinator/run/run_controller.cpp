#include "coordinator/run/run_controller.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "coordinator/run/run_errors.hpp"
#include "coordinator/run/work_batch.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace sluice {

namespace {

constexpr std::chrono::seconds delay_rounding(5);
std::string in_seconds(std::chrono::milliseconds time) {
  return shortest(std::chrono::duration<double>(time).count()) + " s";
}

}  // namespace

RunController::RunController(const Plan& plan, Config config, TimePoint now)
    : plan_(plan),
      config_(std::move(config)),
      dispatcher_(config_.dispatch, std::move(config_.affinities), config_.holders),
      lending_(config_.settings, config_.dispatch.lease_time),
      budget_(config_.budget, config_.price),
      start_(config_.expected_workers, config_.worker_timeout, now),
      began_(now),
      last_had_worker_(now),
      last_result_(now) {
  facts_.run_id = config_.settings.run_id;
  // In a run of one process nobody else can come.
  if (config_.workers_may_join) dispatcher_.wait_for_holders();
}

// --- what workers say ---

void RunController::on_messages(FromWorkers& messages, TimePoint now, Effects& effects) {
  facts_.frames_rejected = messages.frames_rejected;
  for (auto& item : messages.items) {
    std::visit([&](auto& message) { on_message(item.peer, message, now, effects); }, item.message);
  }
  lease_work(now, effects);
  finish_if_done(now, effects);
}

std::optional<WorkerId> RunController::worker_at(const Peer& peer) const {
  const auto found = by_peer_.find(peer);
  return found == by_peer_.end() ? std::nullopt : std::optional(found->second);
}

void RunController::on_message(const Peer& peer, wire::Hello& hello, TimePoint now, Effects& effects) {
  if (over_) {
    effects.to_workers.push_back({peer, wire::Drain{config_.settings.run_id, "the run is over"}});
    return;
  }
  auto& worker = workers_[hello.instance];
  if (!worker.peer.empty()) effects.gone.push_back({hello.instance, true});
  if (!worker.peer.empty() && worker.peer != peer) by_peer_.erase(worker.peer);
  by_peer_[peer] = hello.instance;
  worker.peer = peer;
  worker.hello = hello;
  worker.problem.reset();  // Its READY says what is still wrong.
  worker.last_heard = now;
  // No lease until its READY has said what it holds: READY gives back whatever it does not name.
  dispatcher_.set_window(hello.instance, 0);
  cache_ids_[hello.instance] = hello.cache_id;
  auto& facts = all_workers_[hello.instance];
  facts.name = hello.name;
  facts.lost = false;
  last_had_worker_ = now;
  effects.peers_changed = true;
  effects.notes.push_back("worker " + hello.name + " is there");
  effects.to_workers.push_back({peer, wire::Welcome{config_.settings}});
}

void RunController::on_message(const Peer& peer, wire::Ready& ready, TimePoint now, Effects& effects) {
  const auto id = worker_at(peer);
  if (!id || ready.run_id != config_.settings.run_id || over_) return;
  auto& worker = workers_.at(*id);
  worker.ready = true;
  lending_.join(*id, peer, worker.hello.cache_id);
  if (!ready.problems.empty()) {
    dispatcher_.add_lender(worker.hello.cache_id);
    set_problem(*id, ready.problems.front(), effects);
    effects.notes.push_back("worker " + worker.hello.name + " gets no work: " + worker.problem->message);
    if (dispatcher_.worker_count() == 0 && !config_.workers_may_join) {
      stop({worker.problem->reason, "worker " + worker.hello.name + ": " + worker.problem->message}, effects);
    }
    return;
  }
  dispatcher_.join(*id, worker.hello.cache_id, ready.held, now);
  dispatcher_.set_window(*id, ready.window);
  reserve_held(*id, ready.held);
}

/// It begins no call from here on: what it has of the budget goes to the others, once what it may have under
/// way has ended.
void RunController::set_problem(WorkerId worker, const Error& error, Effects& effects) {
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return;
  found->second.problem = error;
  effects.gone.push_back({worker, true});
  effects.peers_changed = true;
}

void RunController::on_message(const Peer& peer, wire::Heartbeat& heartbeat, TimePoint now,
                               Effects& effects) {
  const auto id = worker_at(peer);
  if (!id || heartbeat.run_id != config_.settings.run_id) {
    effects.to_workers.push_back({peer, wire::Reject{wire::RejectCode::unknown_worker, "say HELLO first"}});
    return;
  }
  workers_.at(*id).last_heard = now;
  dispatcher_.heard(*id, now);
  dispatcher_.set_window(*id, heartbeat.window);
  const auto is_waiting = [](const wire::Demand& demand) { return demand.ready_calls > 0; };
  if (std::ranges::any_of(heartbeat.demands, is_waiting)) dispatcher_.excuse(*id, now);
  // Names come from the network: only the run's own providers have a budget.
  std::erase_if(heartbeat.demands, [&](const wire::Demand& demand) {
    const auto& providers = config_.settings.providers;
    return std::ranges::find(providers, demand.provider, &ProviderSettings::name) == providers.end();
  });
  for (const auto& demand : heartbeat.demands) check_named_delay(demand, now, effects);
  effects.demands.emplace_back(peer, std::move(heartbeat));
}

/// A silence that no case can wait for ends the run, unless its deadline says that it has the time.
void RunController::check_named_delay(const wire::Demand& demand, TimePoint now, Effects& effects) {
  const std::chrono::milliseconds delay(demand.pause_ms);
  const auto until = now + delay;
  // The same pause may be told by many, each with its rounding.
  if (demand.pause_ms == 0 || delay < config_.settings.case_timeout || over_ ||
      until <= long_pause_until_ + delay_rounding)
    return;
  auto paused = provider_paused(demand.provider, delay, config_.time_of_day() + delay);
  if (!config_.deadline || began_ + *config_.deadline <= until) return stop(std::move(paused), effects);
  long_pause_until_ = until;
  effects.notes.push_back("the run waits until " + utc_time(config_.time_of_day() + delay) + ": provider \"" +
                          demand.provider + "\" asks for silence, and the deadline lies beyond");
}

void RunController::on_message(const Peer& peer, wire::Report& report, TimePoint now, Effects& effects) {
  wire::Ack refused{report.run_id, {}};
  const auto id = worker_at(peer);
  if (report.run_id != config_.settings.run_id) {
    for (const auto& result : report.results) {
      refused.items.push_back({result.unit, wire::Verdict::gone, result.key, {}});
    }
  } else if (id) {
    dispatcher_.heard(*id, now);
    dispatcher_.set_window(*id, report.window);
    for (const auto unit : report.started) dispatcher_.started(*id, unit, now);
    last_result_ = now;
    for (auto& result : report.results) take_result(*id, std::move(result), refused, effects);
    for (const auto unit : report.returned) {
      dispatcher_.release(*id, unit);
      budget_.give_back(*id, unit);
    }
  }
  if (!refused.items.empty()) effects.to_workers.push_back({peer, std::move(refused)});
  // A worker that is not known keeps its results and sends them again after its HELLO.
  if (!id)
    effects.to_workers.push_back({peer, wire::Reject{wire::RejectCode::unknown_worker, "say HELLO first"}});
}

void RunController::on_message(const Peer& peer, wire::Goodbye& goodbye, TimePoint now, Effects& effects) {
  const auto id = worker_at(peer);
  if (!id) return;
  effects.notes.push_back("worker " + workers_.at(*id).hello.name + " left: " + goodbye.reason);
  dispatcher_.leave(*id);
  forget(*id, false, now, effects);
  stop_if_last_worker_failed(effects);
}

bool RunController::fits(const UnitResult& result) const {
  if (result.unit >= plan_.unit_count() || result.key != plan_.key(result.unit)) return false;
  if (result.error) return result.scores.empty();
  const auto trials = plan_.trials_of(result.unit);
  return std::ranges::equal(result.scores, trials, {}, &TrialScore::trial);
}

void RunController::take_result(WorkerId worker, UnitResult result, wire::Ack& refused, Effects& effects) {
  if (!fits(result)) {
    refused.items.push_back({result.unit, wire::Verdict::gone, result.key, {}});
    return;
  }
  if (result.error && result.error->reason == Reason::cache_miss) {
    budget_.settle(worker, result.unit, result.spend.paid);
    dispatcher_.missed(worker, result.unit);
    refused.items.push_back({result.unit, wire::Verdict::retry, result.key, {}});
    return;
  }
  if (result.error && stops_run(result.error->reason)) {
    count_spend(worker, result.unit, result.spend, false);
    refused.items.push_back({result.unit, wire::Verdict::retry, result.key, {}});
    return take_fatal_error(worker, result.unit, *result.error, effects);
  }
  const auto trials = plan_.trials_of(result.unit);
  RecordResult record{worker, {std::move(result), {trials.begin(), trials.end()}, {}, {}}};
  record.item.worker = all_workers_.at(worker).name;
  record.item.cache_id = cache_ids_.at(worker);
  dispatcher_.begin_recording(record.item.result.unit);
  effects.to_record.push_back(std::move(record));
}

void RunController::take_fatal_error(WorkerId worker, UnitId unit, const Error& error, Effects& effects) {
  dispatcher_.release(worker, unit);
  const bool others = dispatcher_.worker_count() > (dispatcher_.knows(worker) ? 1 : 0);
  const bool this_worker_alone =
      error.reason == Reason::provider_unreachable || error.reason == Reason::cache_failed;
  const auto& name = all_workers_.at(worker).name;
  if (!others) return stop(error, effects);
  if (!this_worker_alone) return stop({error.reason, error.message + " (worker " + name + ")"}, effects);
  // Its network or its disk; the others may be better off.
  effects.notes.push_back("worker " + name + " gets no more work: " + error.message);
  dispatcher_.leave(worker);
  set_problem(worker, error, effects);
}

void RunController::count_trials(const ResultsRecorded::Item& item) {
  for (const TrialId trial : plan_.trials_of(item.unit)) {
    if (item.error) {
      ++counts_.errors;
    } else if (plan_.trials().place(trial).perturbation > 0) {
      ++counts_.perturbed;
    } else {
      ++(std::ranges::find(item.failed, trial) != item.failed.end() ? counts_.failed : counts_.passed);
    }
  }
}

void RunController::count_spend(WorkerId worker, UnitId unit, const Spend& spend, bool answered) {
  const bool unknown = answered && !spend.cache_hit && spend.calls > 0 && spend.paid == PaidTokens();
  unknown ? budget_.settle_unknown(worker, unit) : budget_.settle(worker, unit, spend.paid);
  facts_.requests += spend.calls;
  facts_.retries += spend.retries;
  facts_.rate_limited += spend.rate_limited;
  facts_.cache_hits += spend.cache_hit ? 1 : 0;
  facts_.paid += spend.paid;
  facts_.waited_permit += std::chrono::milliseconds(spend.waited_permit_ms);
  facts_.waited_pause += std::chrono::milliseconds(spend.waited_pause_ms);
  facts_.waited_retry += std::chrono::milliseconds(spend.waited_retry_ms);
}

// --- what the ledger says ---

void RunController::on_recorded(const ResultsRecorded& recorded, TimePoint now, Effects& effects) {
  std::map<WorkerId, wire::Ack> acks;
  for (const auto& item : recorded.items) {
    withdraw(item.unit, item.worker);
    dispatcher_.settle(item.unit);
    if (item.outcome.first) {
      lending_.settled(item.key);
      count_trials(item);
      ++all_workers_.at(item.worker).units;
    } else {
      ++facts_.duplicates_dropped;
    }
    if (!item.outcome.said_again) count_spend(item.worker, item.unit, item.spend, !item.error);
    dispatcher_.release(item.worker, item.unit);
    const auto verdict = item.outcome.first ? wire::Verdict::committed : wire::Verdict::duplicate;
    acks[item.worker].items.push_back({item.unit, verdict, item.key, item.outcome.winner});
  }
  for (auto& [id, ack] : acks) {
    const auto worker = workers_.find(id);
    if (worker == workers_.end()) continue;
    ack.run_id = config_.settings.run_id;
    effects.to_workers.push_back({worker->second.peer, std::move(ack)});
  }
  for (auto& [id, units] : std::exchange(to_withdraw_, {})) {
    wire::Withdraw message{config_.settings.run_id, std::move(units)};
    effects.to_workers.push_back({workers_.at(id).peer, std::move(message)});
  }
  lease_work(now, effects);
  finish_if_done(now, effects);
}

/// Whoever else has the unit need not call for it any more.
void RunController::withdraw(UnitId unit, WorkerId answered_by) {
  const auto holder = dispatcher_.holder_of(unit);
  if (over_ || !holder || *holder == answered_by || !workers_.contains(*holder)) return;
  to_withdraw_[*holder].push_back(unit);
}

// --- leases ---

/// Whether everybody whom the run waits for is there, or was waited for long enough.
bool RunController::may_lease(TimePoint now, Effects& effects) {
  const auto ready = static_cast<std::uint32_t>(
      std::ranges::count_if(workers_, [](const auto& entry) { return entry.second.ready; }));
  const auto step = start_.on_ready(ready, now);
  if (step.some_are_missing) {
    effects.notes.push_back("only " + std::to_string(ready) + " of " +
                            std::to_string(config_.expected_workers) +
                            " expected workers came; the run goes on with them");
  }
  if (step.holders_overdue) dispatcher_.end_wait_for_holders();
  if (const auto units = dispatcher_.waiting_for_holders(); step.begins && units > 0) {
    effects.notes.push_back(std::to_string(units) +
                            " units wait a moment for the workers whose caches hold their answers");
  }
  return start_.begun();
}

void RunController::lease_work(TimePoint now, Effects& effects) {
  for (const auto& [worker, unit] : dispatcher_.take_returned()) {
    if (dispatcher_.holder_of(unit) != std::optional(worker)) budget_.give_back(worker, unit);
  }
  waits_for_budget_ = false;
  if (over_ || dispatcher_.pending_count() == 0 || !may_lease(now, effects)) return;
  for (const auto& [id, worker] : workers_) {
    for (;;) {
      const auto units = dispatcher_.lease(id, defaults::max_units_per_work, now);
      if (units.empty()) break;
      if (!first_lease_) first_lease_ = now;
      const auto too_much = send_work(id, units, effects);
      if (over_) return;  // A case could not be read any more.
      if (!too_much) continue;
      // What is under way may yet take less than is reserved for it.
      waits_for_budget_ = dispatcher_.leased_count() > 0;
      if (!waits_for_budget_) stop(budget_.spent(*too_much), effects);
      return;
    }
  }
}

/// Hands out as many of the units as the run's budget allows; the others wait again. What the first of those
/// may take, if there are any.
std::optional<PaidTokens> RunController::send_work(WorkerId worker, const std::vector<UnitId>& units,
                                                   Effects& effects) {
  WorkBatch batch(config_.settings.run_id, workers_.at(worker).peer, effects.to_workers);
  std::optional<PaidTokens> too_much;
  for (auto at = units.begin(); at != units.end() && !too_much; ++at) {
    auto unit = plan_.render(*at);
    if (!unit) {
      stop(std::move(unit.error()), effects);
      return std::nullopt;
    }
    const auto most = budget_.limited() ? most_of(*unit) : PaidTokens();
    if (budget_.limited() && !budget_.reserve(worker, *at, most)) {
      // In reverse: each goes to the front of its queue.
      for (auto rest = units.end(); rest != at;) dispatcher_.release(worker, *--rest);
      // None of them was reserved now; what is reserved for an earlier lease there stays.
      static_cast<void>(dispatcher_.take_returned());
      too_much = most;
      continue;
    }
    if (!config_.pinned_answers.empty()) unit->pinned_answer = config_.pinned_answers[*at];
    unit->held_elsewhere = lending_.held_elsewhere(worker, unit->key, dispatcher_.cache_of(*at));
    batch.add(std::move(*unit));
  }
  batch.finish();
  return too_much;
}

/// What a worker that comes back still works on is paid for as well.
void RunController::reserve_held(WorkerId worker, const std::vector<UnitId>& held) {
  if (!budget_.limited()) return;
  for (const auto id : held) {
    if (dispatcher_.holder_of(id) != std::optional(worker)) continue;
    if (const auto unit = plan_.render(id)) budget_.reserve_held(worker, id, most_of(*unit));
  }
}

void RunController::on_tick(TimePoint now, Effects& effects) {
  const auto tick = dispatcher_.tick(now);
  lending_.tick(now, effects);
  if (tick.clocks_restarted)
    effects.notes.push_back("the coordinator was stopped for a while; all clocks start anew");
  for (const auto id : tick.lost) {
    effects.notes.push_back("worker " + all_workers_.at(id).name + " is silent; its leases go to others");
    all_workers_.at(id).lost = true;
    forget(id, true, now, effects);
  }
  facts_.leases_lost += tick.leases_lost;
  if (!tick.clocks_restarted) forget_silent_idlers(now, effects);
  if (dispatcher_.worker_count() > 0 || tick.clocks_restarted) last_had_worker_ = now;
  check_deadline(now, effects);
  if (!over_ && now - last_had_worker_ > config_.worker_timeout) {
    stop(no_worker(), effects);
  }
  lease_work(now, effects);
  finish_if_done(now, effects);
}

/// Why nobody works: the problem of a worker that is there but cannot, else that there is none.
Error RunController::no_worker() const {
  for (const auto& [id, worker] : workers_) {
    if (worker.problem)
      return {worker.problem->reason, "worker " + worker.hello.name + ": " + worker.problem->message};
  }
  return no_worker_connected(config_.worker_timeout, config_.how_to_start_a_worker);
}

/// Peers that said HELLO and never took work hold no lease that could be lost; silence ends them all the
/// same.
void RunController::forget_silent_idlers(TimePoint now, Effects& effects) {
  std::vector<WorkerId> silent;
  for (const auto& [id, worker] : workers_) {
    const auto patience = config_.dispatch.liveness * config_.dispatch.heartbeat_interval;
    if (!dispatcher_.knows(id) && now - worker.last_heard > patience) silent.push_back(id);
  }
  for (const auto id : silent) forget(id, true, now, effects);
}

void RunController::on_local_worker_failed(const Error& error, Effects& effects) {
  if (error.reason == Reason::internal_error) return stop(error, effects);
  effects.notes.push_back("a worker of this process has ended: " + error.message);
  local_failure_ = error;
  stop_if_last_worker_failed(effects);
}

/// Its GOODBYE and its error come on different ways, in any order.
void RunController::stop_if_last_worker_failed(Effects& effects) {
  if (local_failure_ && dispatcher_.worker_count() == 0) stop(*local_failure_, effects);
}

void RunController::forget(WorkerId worker, bool lost, TimePoint now, Effects& effects) {
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return;
  by_peer_.erase(found->second.peer);
  workers_.erase(found);
  effects.peers_changed = true;
  effects.gone.push_back({worker, lost});
  lending_.leave(worker, now, effects);
}

// --- the end ---

void RunController::finish_if_done(TimePoint now, Effects& effects) {
  if (over_ || !dispatcher_.finished()) return;
  const bool some_missed = !dispatcher_.missed_units().empty();
  if (some_missed && somebody_is_joining()) return;
  last_result_ = now;
  if (some_missed) return stop(missing_answers(plan_, dispatcher_.missed_units()), effects);
  close("the run is complete", effects);
}

/// One that has said HELLO and not READY yet may hold what all the others lack.
bool RunController::somebody_is_joining() const {
  return std::ranges::any_of(workers_, [this](const auto& entry) {
    return !entry.second.problem && !dispatcher_.knows(entry.first);
  });
}

void RunController::check_deadline(TimePoint now, Effects& effects) {
  if (!config_.deadline || now - began_ < *config_.deadline) return;
  stop(deadline_reached(*config_.deadline), effects);
}

void RunController::stop(Error why, Effects& effects) {
  if (over_) return;
  stopped_ = why;
  // A deadline is kept, and what cannot be recorded is not worth waiting for.
  const bool at_once = why.reason == Reason::deadline_reached || why.reason == Reason::ledger_failed ||
                       why.reason == Reason::internal_error;
  if (!at_once) time_to_finish_ = config_.drain_timeout;
  close(why.message, effects);
}

void RunController::close(const std::string& reason, Effects& effects) {
  over_ = true;
  const auto finish_ms = static_cast<std::uint32_t>(time_to_finish_.count());
  if (finish_ms > 0 && dispatcher_.started_count() > 0) {
    effects.notes.push_back("calls under way have " + in_seconds(time_to_finish_) +
                            " to end; one more signal ends the process at once");
  }
  for (const auto& [id, worker] : workers_) {
    effects.to_workers.push_back({worker.peer, wire::Drain{config_.settings.run_id, reason, finish_ms}});
  }
}

std::vector<GovernedPeer> RunController::peers() const {
  std::vector<GovernedPeer> peers;
  for (const auto& [id, worker] : workers_) {
    const auto& hello = worker.hello;
    peers.push_back({worker.peer, id, worker.problem ? 0 : hello.max_concurrent, hello.max_concurrent_named});
  }
  return peers;
}

RunFacts RunController::facts() const {
  auto facts = facts_;
  for (const auto& [id, worker] : all_workers_) facts.workers.push_back(worker);
  std::ranges::stable_sort(facts.workers, {}, &WorkerFacts::name);
  // There may be no result after it.
  if (first_lease_ && last_result_ > *first_lease_)
    facts.duration_seconds = std::chrono::duration<double>(last_result_ - *first_lease_).count();
  // What was on its way when a budget ended the run may have been the rest of the plan.
  const bool all_came = dispatcher_.settled_count() == plan_.unit_count();
  if (stopped_ && !(is_run_budget(stopped_->reason) && all_came)) facts.cut_short = stopped_;
  return facts;
}

}  // namespace sluice
