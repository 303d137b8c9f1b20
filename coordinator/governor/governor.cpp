#include "coordinator/governor/governor.hpp"

#include <algorithm>
#include <iterator>

namespace sluice {

Governor::Governor(const GovernorConfig& config, BootTime now) {
  for (std::size_t i = 0; i < config.providers.size(); ++i) {
    const auto& [name, limits] = config.providers[i];
    const auto learned = i < config.learned.size() ? config.learned[i] : LearnedLimits();
    budgets_.emplace_back(name, limits, config.times, learned, now);
  }
}

void Governor::join(WorkerId worker, WorkerConcurrency concurrency, BootTime now) {
  connections_[worker] = {};
  for (auto& budget : budgets_) budget.join(worker, concurrency, now);
}

void Governor::leave(WorkerId worker, bool lost, BootTime now) {
  connections_.erase(worker);
  for (auto& budget : budgets_) budget.leave(worker, lost, now);
}

void Governor::distrust(WorkerId worker, BootTime now) {
  for (auto& budget : budgets_) budget.distrust(worker, now);
}

void Governor::on_heartbeat(WorkerId worker, const wire::Heartbeat& heartbeat, BootTime now) {
  const auto found = connections_.find(worker);
  if (found == connections_.end()) return;
  auto& connection = found->second;
  const bool newest = heartbeat.sent_at_us >= connection.newest_sent_us;
  if (newest) connection.newest_sent_us = heartbeat.sent_at_us;
  connection.answer_due = true;
  const auto newest_grants = BootTime(static_cast<BootTime::rep>(heartbeat.received_us));
  for (const auto& demand : heartbeat.demands) {
    if (auto* budget = find(demand.provider)) budget->on_demand(worker, demand, newest, newest_grants, now);
  }
}

std::vector<Governor::Answer> Governor::turn(BootTime now) {
  for (auto& budget : budgets_) budget.turn(next_permit_, now);
  std::vector<Answer> answers;
  for (auto& [worker, connection] : connections_) {
    const auto has_news = [&, id = worker](const ProviderBudget& budget) { return budget.has_news(id, now); };
    if (!connection.answer_due && std::ranges::none_of(budgets_, has_news)) continue;
    connection.answer_due = false;
    Answer answer;
    answer.worker = worker;
    answer.grants.echo_us = connection.newest_sent_us;
    answer.grants.now_us = static_cast<std::uint64_t>(now.count());
    for (auto& budget : budgets_) answer.grants.grants.push_back(budget.grant_for(worker, now));
    answers.push_back(std::move(answer));
  }
  return answers;
}

std::optional<BootTime> Governor::next_wake(BootTime now) const {
  std::optional<BootTime> next;
  for (const auto& budget : budgets_) {
    const auto wake = budget.next_wake(now);
    if (wake && (!next || *wake < *next)) next = wake;
  }
  return next;
}

ProviderBudget* Governor::find(std::string_view provider) {
  const auto found = std::ranges::find(budgets_, provider, &ProviderBudget::name);
  return found == budgets_.end() ? nullptr : &*found;
}

void Governor::share(std::string_view provider, std::uint64_t run, std::span<const ForeignUse> uses,
                     bool is_cut) {
  if (auto* budget = find(provider)) budget->share(run, uses, is_cut);
}

void Governor::count(std::string_view provider, std::span<const ForeignUse> uses, const OtherPlaces& others,
                     BootTime now) {
  if (auto* budget = find(provider)) budget->count(uses, others, now);
}

void Governor::stop_sharing(std::string_view provider, BootTime now) {
  if (auto* budget = find(provider)) budget->stop_sharing(now);
}

std::vector<KeyUse> Governor::take_use(std::string_view provider, BootTime now) {
  auto* budget = find(provider);
  return budget == nullptr ? std::vector<KeyUse>() : budget->take_use(now);
}

KeyPlaces Governor::places(std::string_view provider, BootTime now) const {
  const auto found = std::ranges::find(budgets_, provider, &ProviderBudget::name);
  return found == budgets_.end() ? KeyPlaces() : found->places(now);
}

std::vector<BudgetNotice> Governor::take_notices() {
  std::vector<BudgetNotice> notices;
  for (auto& budget : budgets_) std::ranges::move(budget.take_notices(), std::back_inserter(notices));
  return notices;
}

std::vector<BudgetFacts> Governor::facts(BootTime now) const {
  std::vector<BudgetFacts> facts;
  for (const auto& budget : budgets_) facts.push_back(budget.facts(now));
  return facts;
}

}  // namespace sluice
