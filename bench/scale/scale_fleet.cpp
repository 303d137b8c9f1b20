#include "bench/scale/scale_fleet.hpp"

#include "common/defaults.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/dispatch/defaults.hpp"
#include "coordinator/merge/aggregate.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <iterator>
#include <utility>

#include <malloc.h>

/// jemalloc's, where the programs have it.
extern "C" int mallctl(const char* name, void* old, std::size_t* old_size, void* fresh,
                       std::size_t fresh_size) __attribute__((weak));

namespace sluice::scale {

namespace {

using namespace std::chrono_literals;

constexpr BootTime way = 1ms;               ///< Of a message, one way.
constexpr BootTime transaction_time = 1ms;  ///< Of the ledger.
constexpr auto request_timeout = 10s;

std::chrono::nanoseconds cpu_now() {
  std::timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

template <class Work>
void measured(StepCost& cost, std::uint64_t count, Work work) {
  const auto begin = cpu_now();
  work();
  cost += {count, cpu_now() - begin};
}

std::size_t bytes_in_use() {
  std::uint64_t epoch = 1;
  std::size_t allocated = 0;
  std::size_t size = sizeof allocated;
  if (mallctl != nullptr && mallctl("epoch", nullptr, nullptr, &epoch, sizeof epoch) == 0 &&
      mallctl("stats.allocated", &allocated, &size, nullptr, 0) == 0)
    return allocated;
  const auto use = ::mallinfo2();
  return use.uordblks + use.hblkhd;
}

RequestSettings request_settings() {
  RequestSettings request;
  request.provider.name = SimWorker::provider;
  request.provider.cache_identity = SimWorker::provider;
  request.model = "sim-1";
  request.max_tokens = 64;
  return request;
}

/// Results as a ledger would have them, made when they are read.
class SimResults final : public ResultSource {
 public:
  explicit SimResults(const Plan& plan) : plan_(plan) {}

  Result<void> visit_from(TrialId first, const VisitTrial& visit) const override {
    CommittedTrial committed;
    auto& unit = committed.unit;
    unit.usage = {200, 20};
    for (TrialId trial = first; trial < plan_.trial_count(); ++trial) {
      committed.trial = trial;
      unit.unit = plan_.unit_of(trial);
      unit.key = unit.answer = plan_.key(unit.unit);
      unit.scores = {{trial, {{MetricId::must_contain, std::nullopt, unit.unit % 10 != 0, ""}}, {}}};
      visit(committed);
    }
    return {};
  }

 private:
  const Plan& plan_;
};

}  // namespace

ScaleFleet::ScaleFleet(const FleetOptions& options)
    : options_(options), random_(options.seed), committed_(options.units) {
  for (std::size_t i = 0; i < options_.units / options_.repeats; ++i) {
    Case one;
    one.id = "case-" + std::to_string(i);
    one.kind = CaseKind::text;
    one.content =
        "Question " + std::to_string(i) + ": may the order still be cancelled?" + std::string(300, '.');
    one.expectations.push_back({{MetricId::must_contain, {"yes"}}, {}, std::nullopt, std::nullopt});
    suite_.cases.push_back(std::move(one));
  }
}

FleetOutcome ScaleFleet::run() {
  make_plan();
  start_run();
  for (std::uint32_t i = 0; i < options_.workers; ++i) add_worker();
  lose_workers();
  tick();
  while (!controller_->all_gone() && events_.step(events_.now() + 1h)) continue;
  outcome_.simulated_seconds = controller_->facts().duration_seconds;
  outcome_.duplicates = controller_->facts().duplicates_dropped;
  outcome_.leases_lost = controller_->facts().leases_lost;
  outcome_.complete = controller_->all_gone() && !controller_->stopped() &&
                      controller_->counts().done() == plan_->trial_count();
  controller_.reset();
  merge();
  return outcome_;
}

void ScaleFleet::make_plan() {
  const auto before = bytes_in_use();
  PromptTemplate prompt;
  prompt.user = "{{content}}";
  TrialDesign design;
  design.repeats = options_.repeats;
  measured(outcome_.costs.plan, options_.units, [&] {
    plan_ = std::make_unique<Plan>(*Plan::make(suite_, prompt, Ontology(), request_settings(), design));
  });
  bytes_before_ = bytes_in_use();
  outcome_.plan_bytes_a_unit =
      static_cast<double>(bytes_before_ - before) / static_cast<double>(options_.units);
}

void ScaleFleet::start_run() {
  RunController::Config config;
  config.settings.run_id = "scale";
  config.settings.mode = Mode::live;
  config.settings.providers = {request_settings().provider};
  config.settings.heartbeat_interval = defaults::heartbeat_interval;
  config.dispatch = {defaults::heartbeat_interval, defaults::liveness, defaults::max_losses,
                     defaults::case_timeout + defaults::lease_grace};
  config.worker_timeout = defaults::peer_timeout;
  config.workers_may_join = true;
  for (const Digest& key : plan_->keys()) {
    std::uint64_t hash = 0;
    std::memcpy(&hash, key.data(), sizeof hash);
    config.affinities.push_back({hash, 0});
  }
  measured(outcome_.costs.plan, 0,
           [&] { controller_ = std::make_unique<RunController>(*plan_, std::move(config), now()); });
  GovernorConfig governed;
  ProviderLimits limits;
  limits.max_in_flight = options_.workers * SimWorker::concurrency;
  governed.providers.emplace_back(SimWorker::provider, limits);
  governed.times = {request_timeout, defaults::heartbeat_interval, defaults::outage_timeout};
  governor_ = std::make_unique<Governor>(governed, events_.now());
  outcome_.begin_bytes_a_unit =
      static_cast<double>(bytes_in_use() - bytes_before_) / static_cast<double>(options_.units);
}

void ScaleFleet::merge() {
  const SimResults source(*plan_);
  const Gate gate;
  const RunResults results{suite_,
                           source,
                           plan_->trial_count(),
                           [this](TrialId trial) { return plan_->case_of(trial); },
                           [](TrialId) {
                             return Error{Reason::worker_lost, "it has no result"};
                           },
                           gate,
                           &plan_->trials()};
  measured(outcome_.costs.merge, plan_->trial_count(), [&] {
    const auto aggregates = aggregate(results, {});
    if (aggregates) outcome_.merged = aggregates->all.trials - aggregates->all.trial_errors;
  });
}

// --- the fleet ---

void ScaleFleet::add_worker() {
  const auto id = static_cast<WorkerId>(workers_.size() + 1) * 0x9e3779b97f4a7c15ull;
  auto& worker = *workers_.emplace_back(
      std::make_unique<SimWorker>(id, *plan_, [this, at = workers_.size()](wire::ToCoordinator message) {
        carry(*workers_[at], std::move(message));
      }));
  by_peer_[worker.peer()] = &worker;
  const BootTime phase(std::uniform_int_distribution<BootTime::rep>(0, SimWorker::beat.count())(random_));
  const auto repeat = [this, &worker](BootTime interval, auto what, const auto& self) -> void {
    events_.after(interval, [this, &worker, interval, what, self] {
      if (!worker.is_there()) return;
      (worker.*what)(events_.now());
      self(interval, what, self);
    });
  };
  events_.after(phase, [&worker, repeat] {
    worker.begin();
    repeat(SimWorker::beat, &SimWorker::work, repeat);
    repeat(defaults::heartbeat_interval, &SimWorker::send_heartbeat, repeat);
  });
}

/// Half of them die, and another comes soon; the other half are silent long enough to be given up.
void ScaleFleet::lose_workers() {
  const double per_second =
      options_.workers * SimWorker::concurrency / std::chrono::duration<double>(3 * SimWorker::beat).count();
  const double seconds = static_cast<double>(options_.units) / per_second;
  for (std::uint32_t i = 0; i < options_.deaths; ++i) {
    const std::chrono::duration<double> at(seconds * std::uniform_real_distribution<>(0.1, 0.9)(random_));
    auto& worker = *workers_[i * std::size_t{options_.workers} / options_.deaths];
    events_.after(std::chrono::duration_cast<BootTime>(at), [this, &worker, dies = i % 2 == 0] {
      if (!dies) return worker.stop_until(events_.now() + 5s);
      worker.die();
      events_.after(1s, [this] { add_worker(); });
    });
  }
}

void ScaleFleet::carry(SimWorker& worker, wire::ToCoordinator message) {
  // Events are copied; a message need not be.
  auto shared = std::make_shared<wire::ToCoordinator>(std::move(message));
  events_.after(way, [this, peer = worker.peer(), shared] { take(peer, std::move(*shared)); });
}

void ScaleFleet::deliver(const Peer& peer, wire::ToWorker message) {
  auto& worker = *by_peer_.at(peer);
  auto shared = std::make_shared<wire::ToWorker>(std::move(message));
  events_.after(way, [this, &worker, shared] { worker.take(*shared, events_.now()); });
}

// --- the coordinator ---

StepCost& ScaleFleet::cost_of(const wire::ToCoordinator& message, std::uint64_t& steps) {
  auto& costs = outcome_.costs;
  const auto* report = std::get_if<wire::Report>(&message);
  steps = report != nullptr ? report->results.size() : 1;
  if (report != nullptr) return report->started.empty() && steps == 0 ? costs.lease : costs.result;
  if (std::holds_alternative<wire::Heartbeat>(message)) return costs.heartbeat;
  if (std::holds_alternative<wire::Goodbye>(message)) return costs.leave;
  if (std::holds_alternative<wire::Hello>(message)) steps = 0;
  return costs.join;
}

void ScaleFleet::take(const Peer& peer, wire::ToCoordinator message) {
  std::uint64_t steps = 0;
  auto& cost = cost_of(message, steps);
  Effects effects;
  FromWorkers messages;
  messages.items.push_back({peer, std::move(message)});
  measured(cost, steps, [&] { controller_->on_messages(messages, now(), effects); });
  perform(effects);
}

void ScaleFleet::tick() {
  Effects effects;
  StepCost cost;
  measured(cost, 1, [&] { controller_->on_tick(now(), effects); });
  const auto lost = effects.gone.size();
  if (lost > 0) cost.count = lost;
  (lost > 0 ? outcome_.costs.death : outcome_.costs.tick) += cost;
  const auto bytes =
      static_cast<double>(bytes_in_use() - bytes_before_) / static_cast<double>(options_.units);
  outcome_.most_bytes_a_unit = std::max(outcome_.most_bytes_a_unit, bytes);
  perform(effects);
  events_.after(defaults::heartbeat_interval, [this] { tick(); });
}

/// What the coordinator's actor and the governor's do with it.
void ScaleFleet::perform(Effects& effects) {
  if (to_commit_.empty() && !effects.to_record.empty()) events_.after(transaction_time, [this] { commit(); });
  std::ranges::move(effects.to_record, std::back_inserter(to_commit_));
  for (auto& [peer, message, in_hand] : effects.to_workers) {
    if (const auto* work = std::get_if<wire::Work>(&message))
      outcome_.costs.lease.count += work->units.size();
    deliver(peer, std::move(message));
  }
  const auto changed = controller_->peers(effects.changed_peers);
  if (changed.empty() && effects.gone.empty() && effects.demands.empty()) return;
  const auto at = events_.now();
  measured(outcome_.costs.join, 0, [&] {
    for (const GoneWorker& gone : effects.gone) {
      if (!gone.again) governor_->leave(gone.worker, gone.lost, at);
    }
    for (const auto& one : changed)
      governor_->join(one.worker, {one.max_concurrent, one.max_concurrent_named}, at);
  });
  for (const auto& [peer, heartbeat] : effects.demands) {
    ++outcome_.costs.turn.count;
    measured(outcome_.costs.heartbeat, 0,
             [&, id = by_peer_.at(peer)->id(), &said = heartbeat] { governor_->on_heartbeat(id, said, at); });
  }
  request_turn();
}

void ScaleFleet::commit() {
  ResultsRecorded recorded;
  const auto count = std::min(to_commit_.size(), defaults::results_per_transaction);
  for (std::size_t i = 0; i < count; ++i) {
    const auto [worker, item, is_late] = std::move(to_commit_.front());
    to_commit_.pop_front();
    const auto& result = item.result;
    const bool first = !committed_[result.unit];
    committed_[result.unit] = true;
    outcome_.settled += first ? 1 : 0;
    std::vector<TrialId> failed;
    for (const TrialScore& score : result.scores) {
      if (has_failed(score)) failed.push_back(score.trial);
    }
    recorded.items.push_back({worker,
                              result.unit,
                              result.key,
                              {first, result.answer},
                              false,
                              true,
                              std::move(failed),
                              result.spend});
  }
  if (!to_commit_.empty()) events_.after(transaction_time, [this] { commit(); });
  Effects effects;
  measured(outcome_.costs.lease, 0, [&] { controller_->on_recorded(recorded, now(), effects); });
  perform(effects);
}

void ScaleFleet::request_turn() {
  if (std::exchange(turn_due_, true)) return;
  events_.at(pace_.due(events_.now()), [this] {
    turn_due_ = false;
    turn();
  });
}

void ScaleFleet::turn() {
  const auto at = events_.now();
  std::vector<Governor::Answer> answers;
  std::optional<BootTime> wake;
  measured(outcome_.costs.turn, 0, [&] {
    answers = governor_->turn(at);
    wake = governor_->next_wake(at);
  });
  pace_.on_turn(workers_.size(), at);
  for (auto& [id, grants] : answers) {
    deliver("peer-" + std::to_string(id), std::move(grants));
  }
  if (!wake || (wakes_at_ > at && wakes_at_ <= *wake)) return;
  wakes_at_ = std::max(*wake, at + BootTime(1));
  events_.at(wakes_at_, [this, due = wakes_at_] {
    if (due == wakes_at_) turn();
  });
}

}  // namespace sluice::scale
