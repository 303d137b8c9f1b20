#include "common/defaults.hpp"
#include "worker/calls/model_calls.hpp"

#include <utility>

namespace sluice {

BootTime ModelCalls::longest_silence() const {
  return defaults::liveness * config_.settings.heartbeat_interval;
}

/// Nothing starts on what was allowed long ago: a process that was stopped may wake up with a budget that
/// others have by now, before it has noticed its silence.
bool ModelCalls::is_heard() const {
  return connected_ && at_.boot - heard_at_ <= longest_silence();
}

CallTurn ModelCalls::turn(const Moment& moment) {
  at_ = moment;
  ring_alarms();
  if (winding_down_) drop_all_uncalled();
  std::uint64_t before = 0;
  do {  // What ends makes room for others.
    before = ended_jobs_;
    begin_units();
    start_batches();
    if (!is_heard()) continue;
    for (auto& [name, provider] : providers_) start_ready(provider);
  } while (ended_jobs_ != before);
  for (const auto id : std::exchange(newly_ready_, {})) {
    const auto job = jobs_.find(id);
    if (job == jobs_.end() || job->second.state != Job::State::ready) continue;
    extend_deadline(job->second);
    alarms_.set(id, job->second.retry.deadline());
  }
  CallTurn turn;
  turn.calls = std::exchange(calls_, {});
  for (const auto id : std::exchange(begun_, {})) {
    if (const auto job = jobs_.find(id); job != jobs_.end()) turn.started.push_back(job->second.unit()->unit);
  }
  store_answers();
  turn.completed = std::exchange(completed_, {});
  turn.returned = std::exchange(returned_, {});
  turn.entries = exchange_.take_messages();
  turn.problems = std::exchange(problems_, {});
  for (const auto& [name, provider] : providers_) {
    if (!turn.unfit && !provider.ready.empty()) turn.unfit = late_grants_.problem();
    if (!turn.unfit) turn.unfit = provider.late_permits.problem(name);
  }
  tell_demand(turn);
  turn.wake = next_wake();
  return turn;
}

void ModelCalls::ring_alarms() {
  while (const auto id = alarms_.take_due(at_.now)) {
    auto& job = jobs_.at(*id);
    switch (job.state) {
      case Job::State::backing_off:
        make_ready(*id);
        break;
      case Job::State::awaits_embeddings:
        await_embeddings(*id);
        break;
      case Job::State::ready:
      case Job::State::seeks_answer:
        extend_deadline(job);
        if (job.retry.deadline() > at_.now) {
          alarms_.set(*id, job.retry.deadline());
        } else {
          give_up(*id, Error{Reason::timed_out, "the time of the case was spent waiting"}, true);
        }
        break;
      case Job::State::in_flight:
        break;
    }
  }
}

void ModelCalls::tell_demand(CallTurn& turn) {
  const auto searched_queue = [this](const CalledProvider& provider) {
    // With a search on, what has not begun yet is what more places would be for.
    const bool counts = provider.budget.searched_places() > 0 && !queue_.empty() &&
                        queue_.front()->request.provider == provider.settings.name;
    return counts ? queue_.size() : 0;
  };
  const auto ready = [&](const CalledProvider& provider) {
    return provider.ready.size() + searched_queue(provider);
  };
  bool due = std::exchange(demand_wanted_, false) || slots() != told_slots_;
  for (auto& [name, provider] : providers_) {
    auto& budget = provider.budget;
    if (budget.holds_permits()) budget.give_back(sizes_of_ready(provider), clock_, at_);
    due = due || budget.is_due(ready(provider), at_.now);
  }
  if (!due || !connected_) return;
  auto& told = turn.demand.emplace();
  told.run_id = config_.settings.run_id;
  told.heard_us = heard_us_;
  told.slots = told_slots_ = slots();
  for (auto& [name, provider] : providers_) {
    std::vector<wire::CallSize> sizes;
    if (provider.budget.needs_sizes()) sizes = sizes_of_ready(provider);
    auto demand = provider.budget.demand(ready(provider), std::move(sizes), at_.now);
    demand.backing_off = provider.backing_off;
    demand.reached = provider.answered;
    told.demands.push_back(std::move(demand));
  }
}

std::optional<TimePoint> ModelCalls::next_wake() const {
  auto next = alarms_.next();
  if (!is_heard()) return next;
  for (const auto& [name, provider] : providers_) {
    if (provider.ready.empty()) continue;
    const auto chance = provider.budget.next_chance(clock_, at_);
    if (chance && (!next || *chance < *next)) next = chance;
  }
  return next;
}

}  // namespace sluice
