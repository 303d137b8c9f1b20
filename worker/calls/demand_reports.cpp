#include "worker/calls/demand_reports.hpp"

#include "worker/calls/waiting_calls.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

namespace sluice {

namespace {

std::uint32_t in_microseconds(std::chrono::microseconds time) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(time.count(), 0, 0xffffffff));
}

/// With a search on, what has not begun yet is what more places would be for. No probe is for it.
std::size_t could_start(const CalledProvider& provider, const Backlog& backlog) {
  const bool counts = provider.budget.searches_places() && !provider.budget.in_outage() &&
                      backlog.provider == provider.settings.name;
  return provider.ready.size() + (counts ? backlog.waiting : 0);
}

/// Never 0, which is that of none.
std::uint32_t age_of_oldest(const CalledProvider& provider, const CallTable& calls, TimePoint now) {
  Duration oldest{};
  for (const auto& [id, call] : calls) {
    if (call.provider == &provider && call.state == Call::State::in_flight)
      oldest = std::max(oldest, now - call.began_at + std::chrono::milliseconds(1));
  }
  return in_ms(oldest);
}

wire::Demand demand_of(CalledProvider& provider, CallTable& calls, const Backlog& backlog,
                       const CoordinatorLink& link, const Moment& at) {
  std::vector<wire::CallSize> sizes;
  if (provider.budget.needs_sizes()) sizes = next_sizes(provider, calls);
  auto demand = provider.budget.demand(could_start(provider, backlog), std::move(sizes), at.now);
  demand.backing_off = provider.backing_off;
  demand.reached = provider.answered;
  if (demand.in_flight > 0) demand.oldest_ms = age_of_oldest(provider, calls, at.now);
  demand.variation_us = in_microseconds(provider.variation.most());
  if (const auto span = link.clock().at(at.boot)) {
    demand.uncertainty_us = in_microseconds(span->to - span->from);
  }
  return demand;
}

}  // namespace

std::optional<DemandChanged> DemandReports::take(CalledProviders& providers, CallTable& calls,
                                                 const Backlog& backlog, const CoordinatorLink& link,
                                                 const Moment& at) {
  bool is_due = std::exchange(is_wanted_, false) || backlog.concurrency != reported_concurrency_;
  for (auto& [name, provider] : providers) {
    auto& budget = provider.budget;
    if (budget.holds_permits()) budget.give_back(next_sizes(provider, calls), link.clock(), at);
    is_due = is_due || budget.is_due(could_start(provider, backlog), at.now);
  }
  if (!is_due || !link.connected()) return std::nullopt;
  DemandChanged demand;
  demand.received_us = link.newest_grants_us();
  demand.concurrency = reported_concurrency_ = backlog.concurrency;
  for (auto& [name, provider] : providers) {
    demand.demands.push_back(demand_of(provider, calls, backlog, link, at));
  }
  return demand;
}

std::optional<TimePoint> DemandReports::next(const CalledProviders& providers, const Backlog& backlog,
                                             TimePoint now) {
  std::optional<TimePoint> earliest;
  for (const auto& [name, provider] : providers) {
    const auto next = provider.budget.next_report(could_start(provider, backlog), now);
    if (next && (!earliest || *next < *earliest)) earliest = next;
  }
  return earliest;
}

}  // namespace sluice
