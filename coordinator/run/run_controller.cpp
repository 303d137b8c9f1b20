#include "coordinator/run/run_controller.hpp"

#include "common/defaults.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace sluice {
namespace {

/// Of a task, a claim, or a text on the wire beside its characters; also keeps the number of a message's
/// values within the wire's limits.
constexpr std::size_t overhead_bytes = 32;
/// What one unit may hold at most, so that neither its WORK nor its REPORT, in which each metric has a
/// detail, comes near a limit of the wire: what a receiver refuses would be sent again for ever.
constexpr std::size_t max_bytes_of_unit = defaults::max_frame_bytes / 2;
constexpr std::size_t max_metrics_of_unit = 100'000;

std::size_t bytes_of(const std::vector<ExpectedClaim>& claims) {
  std::size_t bytes = 0;
  for (const auto& claim : claims) {
    bytes += overhead_bytes + claim.subject.size() + claim.predicate.size();
    if (claim.rationale) bytes += claim.rationale->size();
    if (const auto* text = std::get_if<std::string>(&claim.value)) bytes += text->size();
  }
  return bytes;
}

/// About what a unit adds to a message that crosses its system prompt once.
std::size_t bytes_of(const WorkUnit& unit, const SharedText& known_system) {
  std::size_t bytes = unit.request.user.size();
  if (unit.request.system && unit.request.system != known_system) bytes += unit.request.system->size();
  for (const auto& task : unit.tasks) {
    bytes += overhead_bytes + bytes_of(task.must_contain) + bytes_of(task.must_not_contain);
    for (const auto& expectation : task.texts) {
      for (const auto& text : expectation.texts) bytes += overhead_bytes + text.size();
    }
  }
  return bytes;
}

bool fits_a_message(const WorkUnit& unit) {
  std::size_t metrics = 0;
  for (const auto& task : unit.tasks) metrics += task.texts.size();
  return unit.tasks.size() <= defaults::max_items && metrics <= max_metrics_of_unit &&
         bytes_of(unit, nullptr) <= max_bytes_of_unit;
}

}  // namespace

RunController::RunController(const Plan& plan, Config config, TimePoint now)
    : plan_(plan),
      config_(std::move(config)),
      dispatcher_(config_.dispatch, std::move(config_.affinities), config_.holders),
      last_had_worker_(now),
      last_result_(now) {
  facts_.run_id = config_.settings.run_id;
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
  if (!worker.peer.empty() && worker.peer != peer) by_peer_.erase(worker.peer);
  by_peer_[peer] = hello.instance;
  worker.peer = peer;
  worker.hello = hello;
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
  if (!ready.problems.empty()) {
    worker.problem = ready.problems.front();
    effects.notes.push_back("worker " + worker.hello.name + " gets no work: " + worker.problem->message);
    if (dispatcher_.worker_count() == 0 && !config_.workers_may_join) {
      stop({worker.problem->reason, "worker " + worker.hello.name + ": " + worker.problem->message}, effects);
    }
    return;
  }
  dispatcher_.join(*id, worker.hello.cache_id, ready.held, now);
  dispatcher_.set_window(*id, ready.window);
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
  // Names come from the network: only the run's own providers have a budget.
  std::erase_if(heartbeat.demands, [&](const wire::Demand& demand) {
    const auto& providers = config_.settings.providers;
    return std::ranges::find(providers, demand.provider, &ProviderSettings::name) == providers.end();
  });
  effects.demands.emplace_back(peer, std::move(heartbeat));
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
  }
  if (!refused.items.empty()) effects.to_workers.push_back({peer, std::move(refused)});
  // A worker that is not known keeps its results and sends them again after its HELLO.
  if (!id)
    effects.to_workers.push_back({peer, wire::Reject{wire::RejectCode::unknown_worker, "say HELLO first"}});
}

void RunController::on_message(const Peer& peer, wire::Goodbye& goodbye, TimePoint, Effects& effects) {
  const auto id = worker_at(peer);
  if (!id) return;
  effects.notes.push_back("worker " + workers_.at(*id).hello.name + " left: " + goodbye.reason);
  dispatcher_.leave(*id);
  forget(*id, effects);
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
    dispatcher_.missed(worker, result.unit);
    refused.items.push_back({result.unit, wire::Verdict::retry, result.key, {}});
    return;
  }
  if (result.error && stops_run(result.error->reason)) {
    count_spend(result.spend);
    refused.items.push_back({result.unit, wire::Verdict::retry, result.key, {}});
    return take_fatal_error(worker, result.unit, *result.error, effects);
  }
  const auto trials = plan_.trials_of(result.unit);
  RecordResult record{worker, {std::move(result), {trials.begin(), trials.end()}, {}, {}}};
  record.item.worker = all_workers_.at(worker).name;
  record.item.cache_id = cache_ids_.at(worker);
  effects.to_record.push_back(std::move(record));
}

void RunController::take_fatal_error(WorkerId worker, UnitId unit, const Error& error, Effects& effects) {
  dispatcher_.release(worker, unit);
  const bool others = dispatcher_.worker_count() > (dispatcher_.knows(worker) ? 1 : 0);
  const bool this_worker_alone =
      error.reason == Reason::provider_unreachable || error.reason == Reason::cache_failed;
  if (!this_worker_alone || !others) return stop(error, effects);
  // Its network or its disk; the others may be better off.
  effects.notes.push_back("worker " + all_workers_.at(worker).name + " gets no more work: " + error.message);
  dispatcher_.leave(worker);
  if (const auto found = workers_.find(worker); found != workers_.end()) found->second.problem = error;
}

void RunController::count_spend(const Spend& spend) {
  facts_.requests += spend.calls;
  facts_.retries += spend.retries;
  facts_.rate_limited += spend.rate_limited;
  facts_.cache_hits += spend.cache_hit ? 1 : 0;
  facts_.paid_input_tokens += spend.paid.input_tokens;
  facts_.paid_output_tokens += spend.paid.output_tokens;
}

// --- what the ledger says ---

void RunController::on_recorded(const ResultsRecorded& recorded, TimePoint now, Effects& effects) {
  std::map<WorkerId, wire::Ack> acks;
  for (const auto& item : recorded.items) {
    if (item.outcome.first) {
      dispatcher_.settle(item.unit);
      counts_.passed += item.passed;
      counts_.failed += item.failed;
      if (item.error) counts_.errors += plan_.trials_of(item.unit).size();
      ++all_workers_.at(item.worker).units;
    } else {
      ++facts_.duplicates_dropped;
    }
    if (!item.outcome.said_again) count_spend(item.spend);
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
  lease_work(now, effects);
  finish_if_done(now, effects);
}

// --- leases ---

void RunController::lease_work(TimePoint now, Effects& effects) {
  if (over_ || dispatcher_.pending_count() == 0) return;
  for (const auto& [id, worker] : workers_) {
    for (;;) {
      const auto units = dispatcher_.lease(id, defaults::max_units_per_work, now);
      if (units.empty()) break;
      if (!first_lease_) first_lease_ = now;
      send_work(id, units, effects);
      if (over_) return;  // A case could not be read any more.
    }
  }
}

void RunController::send_work(WorkerId worker, const std::vector<UnitId>& units, Effects& effects) {
  const auto& peer = workers_.at(worker).peer;
  wire::Work work{config_.settings.run_id, {}};
  SharedText system;
  std::size_t bytes = 0;
  for (const auto id : units) {
    auto unit = plan_.render(id);
    if (!unit) return stop(std::move(unit.error()), effects);
    if (!config_.pinned_answers.empty()) unit->pinned_answer = config_.pinned_answers[id];
    if (!fits_a_message(*unit)) return stop(too_large(id), effects);
    bytes += bytes_of(*unit, system);
    system = unit->request.system;
    work.units.push_back(std::move(*unit));
    if (bytes < defaults::max_bytes_per_work) continue;
    effects.to_workers.push_back({peer, std::exchange(work, {config_.settings.run_id, {}})});
    system = nullptr;
    bytes = 0;
  }
  if (!work.units.empty()) effects.to_workers.push_back({peer, std::move(work)});
}

void RunController::on_tick(TimePoint now, Effects& effects) {
  const auto tick = dispatcher_.tick(now);
  if (tick.clocks_restarted)
    effects.notes.push_back("the coordinator was stopped for a while; all clocks start anew");
  for (const auto id : tick.lost) {
    effects.notes.push_back("worker " + all_workers_.at(id).name + " is silent; its leases go to others");
    all_workers_.at(id).lost = true;
    forget(id, effects);
  }
  facts_.leases_lost += tick.leases_lost;
  if (!tick.clocks_restarted) forget_silent_idlers(now, effects);
  if (dispatcher_.worker_count() > 0 || tick.clocks_restarted) last_had_worker_ = now;
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
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(config_.worker_timeout).count();
  return {Reason::no_workers,
          "no worker was connected for " + std::to_string(seconds) + " s; " + config_.how_to_start_a_worker};
}

/// Peers that said HELLO and never took work hold no lease that could be lost; silence ends them all the
/// same.
void RunController::forget_silent_idlers(TimePoint now, Effects& effects) {
  std::vector<WorkerId> silent;
  for (const auto& [id, worker] : workers_) {
    const auto patience = config_.dispatch.liveness * config_.dispatch.heartbeat_interval;
    if (!dispatcher_.knows(id) && now - worker.last_heard > patience) silent.push_back(id);
  }
  for (const auto id : silent) forget(id, effects);
}

void RunController::forget(WorkerId worker, Effects& effects) {
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return;
  by_peer_.erase(found->second.peer);
  workers_.erase(found);
  effects.peers_changed = true;
}

// --- the end ---

void RunController::finish_if_done(TimePoint now, Effects& effects) {
  if (over_ || !dispatcher_.finished()) return;
  const bool some_missed = !dispatcher_.missed_units().empty();
  if (some_missed && somebody_is_joining()) return;
  last_result_ = now;
  if (some_missed) return stop(missing_answers(), effects);
  close("the run is complete", effects);
}

/// One that has said HELLO and not READY yet may hold what all the others lack.
bool RunController::somebody_is_joining() const {
  return std::ranges::any_of(workers_, [this](const auto& entry) {
    return !entry.second.problem && !dispatcher_.knows(entry.first);
  });
}

Error RunController::too_large(UnitId unit) const {
  const auto trials = plan_.trials_of(unit);
  return {Reason::fixture_invalid,
          std::to_string(trials.size()) + (trials.size() == 1 ? " case" : " cases with the same request") +
              " (" + std::string(plan_.case_id(trials.front())) + (trials.size() == 1 ? "" : ", ...") +
              ") expect more than one message to a worker can hold; spread them over several suites, or "
              "shorten what they expect"};
}

Error RunController::missing_answers() const {
  std::vector<TrialId> trials;
  for (const auto unit : dispatcher_.missed_units()) {
    const auto served = plan_.trials_of(unit);
    trials.insert(trials.end(), served.begin(), served.end());
  }
  std::ranges::sort(trials);
  constexpr std::size_t named = 5;
  std::string names;
  for (std::size_t i = 0; i < std::min(named, trials.size()); ++i) {
    names += (i > 0 ? ", " : "") + plan_.trial_name(trials[i]);
  }
  const bool one_trial_a_case = plan_.trial_count() == plan_.trials().case_count();
  if (trials.size() > named) names += " and " + std::to_string(trials.size() - named) + " more";
  return {Reason::cache_miss, "no cache holds the answers of " + std::to_string(trials.size()) + " of " +
                                  std::to_string(plan_.trial_count()) +
                                  (one_trial_a_case ? " cases (" : " trials (") + names +
                                  "); fill it with `sluice run --mode live` and the same settings"};
}

void RunController::stop(Error why, Effects& effects) {
  if (over_) return;
  stopped_ = why;
  close(why.message, effects);
}

void RunController::close(const std::string& reason, Effects& effects) {
  over_ = true;
  for (const auto& [id, worker] : workers_) {
    effects.to_workers.push_back({worker.peer, wire::Drain{config_.settings.run_id, reason}});
  }
}

std::vector<Peer> RunController::peers() const {
  std::vector<Peer> peers;
  for (const auto& [id, worker] : workers_) peers.push_back(worker.peer);
  return peers;
}

RunFacts RunController::facts() const {
  auto facts = facts_;
  for (const auto& [id, worker] : all_workers_) facts.workers.push_back(worker);
  std::ranges::stable_sort(facts.workers, {}, &WorkerFacts::name);
  if (first_lease_)
    facts.duration_seconds = std::chrono::duration<double>(last_result_ - *first_lease_).count();
  facts.cut_short = stopped_;
  return facts;
}

}  // namespace sluice
