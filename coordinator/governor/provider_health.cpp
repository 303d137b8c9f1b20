#include "coordinator/governor/provider_health.hpp"

#include "coordinator/governor/defaults.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

ProviderHealth::Change ProviderHealth::on_outcomes(WorkerId worker, Members& members,
                                                   const wire::Demand& demand, BootTime now) {
  const auto& outcomes = demand.outcomes;
  const auto signs_of_life = outcomes.answered + outcomes.declined + outcomes.named_delays;
  if (demand.reached) breaker_.reached();
  const bool was_down = breaker_.open();
  Change change;
  change.failed = was_down
                      ? outcomes.failed
                      : new_failures(worker, members, outcomes.failed, signs_of_life + outcomes.rate_limited);
  if (!breaker_.on_outcomes(worker, {signs_of_life, change.failed, outcomes.rate_limited}, now))
    return change;
  change.went_down = breaker_.open();
  change.came_back = !change.went_down;
  if (change.came_back) {
    note(BudgetEvent::came_back, now - down_since_);
  } else {
    down_since_ = now;
    given_up_noted_ = false;
    note(BudgetEvent::went_down);
  }
  return change;
}

/// Calls that hung when the provider came back time out after that, and together: no new outage. Unless there
/// are many of them and no answer between.
std::uint32_t ProviderHealth::new_failures(WorkerId worker, Members& members, std::uint32_t failed,
                                           std::uint32_t not_failed) {
  const auto stale = members.at(worker).account.before_return().among(failed, not_failed + failed);
  stale_in_a_row_ = not_failed > 0 ? 0 : stale_in_a_row_ + stale;
  if (stale_in_a_row_ >= defaults::breaker_sample) {
    for (auto& [id, one] : members) one.account.before_return().mark(0);
  }
  return failed - stale;
}

void ProviderHealth::tick(BootTime now) {
  if (!breaker_.given_up(now) || std::exchange(given_up_noted_, true)) return;
  note(BudgetEvent::was_given_up, now - down_since_);
}

void ProviderHealth::describe(BudgetFacts& facts, BootTime now) const {
  facts.outage_time = breaker_.outage_time(now);
  facts.given_up = breaker_.given_up(now);
  if (!breaker_.open()) return;
  facts.hold = facts.given_up ? wire::HoldReason::given_up : wire::HoldReason::outage;
  facts.hold_left = std::max(breaker_.probe_at() - now, BootTime::zero());
  facts.probing = breaker_.probing();
}

}  // namespace sluice
