// What a ProviderBudget tells of itself, for people and for the next run.
#include "coordinator/governor/defaults.hpp"
#include "coordinator/governor/provider_budget.hpp"

#include <algorithm>

namespace sluice {

/// What was found, where the provider has taken it for long enough: in this run, or in the one before it.
std::optional<double> ProviderBudget::proved_rate(BootTime now) const {
  const auto accepted = rate_search_.accepted();
  const bool is_handed_on = accepted && !learned_at_ && known_before_.requests_per_minute;
  if (!is_handed_on && !use_.was_answered()) return std::nullopt;
  const RateProof::Time time{now, held_up_.time(now)};
  const auto proved = rate_proof_.proved(time, pause_.time(now));
  return is_handed_on ? std::max(accepted, proved) : proved;
}

void ProviderBudget::describe_rate(BudgetFacts& facts, BootTime now) const {
  if (facts.requests) facts.effective_per_minute = facts.requests->per_minute;
  if (const auto now_allowed = rate_search_.rate()) {
    const double per_minute = *now_allowed * seconds_a_minute;
    facts.effective_per_minute = std::min(per_minute, facts.effective_per_minute.value_or(per_minute));
  }
  const auto rate = rate_search_.accepted();
  if (!rate) return;
  if (!facts.requests) {
    // A guess is no limit: it may be several times too high.
    if (const auto proved = proved_rate(now))
      facts.requests = KnownLimit{*proved * seconds_a_minute, LimitSource::found};
    return;
  }
  const double found =
      rate_proof_.believed(*rate, {now, held_up_.time(now)}, pause_.time(now)) * seconds_a_minute;
  if (found < defaults::clearly_less * facts.requests->per_minute) facts.found_below_limit = found;
}

/// What holds beyond the settings; what was known before is handed on as long as nothing else is learnt.
void ProviderBudget::describe_learned(BudgetFacts& facts, BootTime now) const {
  auto& learned = facts.learned;
  learned = known_before_;
  bool is_anew = learned_at_ || facts.found_concurrency;
  learned.age = learned_at_ ? now - *learned_at_ : known_before_.age + (now - began_);
  if (const auto proved = proved_rate(now)) {
    const bool is_handed_on = !learned_at_ && known_before_.requests_per_minute;
    if (!is_handed_on || proved > rate_search_.accepted()) {
      learned.requests_per_minute = *proved * seconds_a_minute;
      learned.source = LimitSource::found;
    }
    if (learned_at_) learned.burst = rate_search_.found_burst();
  } else if (const auto accepted = rate_search_.accepted();
             accepted && learned.requests_per_minute && learned.source == LimitSource::found) {
    // Too little was seen of another rate, but enough of that one if it was refused.
    const auto taken = rate_proof_.taken_at_most(held_up_.time(now));
    learned.requests_per_minute = std::min(*learned.requests_per_minute,
                                           std::min(*accepted, taken.value_or(*accepted)) * seconds_a_minute);
  } else if (facts.requests && facts.requests->source == LimitSource::announced) {
    learned.requests_per_minute = facts.requests->per_minute;
    learned.source = LimitSource::announced;
    is_anew = true;
  }
  if (permits_.conditions().burst) learned.burst = permits_.conditions().burst;
  if (facts.found_concurrency) learned.in_flight = facts.found_concurrency;
  if (in_flight_limit_.found()) {
    learned.requests_per_minute.reset();
    learned.burst.reset();
    learned.source = LimitSource::found;
  }
  auto before = known_before_;
  before.age = learned.age;
  facts.learned_before = !is_anew && learned == before;
  if (other_runs_ == 0 || learned.source != LimitSource::found) return;
  // Of a rate all runs find the same; of the number in flight each finds its own part.
  if (!learned_at_ || !rate_search_.accepted() || !is_shared_) {
    learned = {};
  } else {
    learned.in_flight = known_before_.in_flight;
  }
}

BudgetFacts ProviderBudget::facts(BootTime now) const {
  BudgetFacts facts;
  facts.provider = name_;
  if (pause_.is_on(now)) {
    facts.hold = wire::HoldReason::named_delay;
    facts.hold_left = pause_.left(now);
  }
  facts.held_up_time = held_up_.time(now);
  facts.paused_time = pause_.time(now);
  limits_.describe(facts);
  describe_rate(facts, now);
  concurrency_.describe(facts);
  // Of calls that only fail nothing is found.
  if (!use_.was_answered()) facts.found_concurrency.reset();
  permits_.describe(facts);
  use_.describe(facts);
  facts.other_runs = other_runs_;
  if (facts.max_in_flight && now < left_until_) {
    facts.left_behind = left_behind_;
    facts.left_behind_for = left_until_ - now;
  }
  health_.describe(facts, now);
  describe_learned(facts, now);
  facts.waiting_has_queued = concurrency_.is_open() && !permits_.needed() && !health_.is_down();
  for (const auto& [worker, member] : members_) {
    facts.in_flight += member.account.in_flight();
    facts.waiting_calls += member.account.ready();
    facts.backing_off_calls += member.account.backing_off();
    facts.oldest_call = std::max(facts.oldest_call, member.account.oldest_call());
    if (member.account.ready() > 0) ++facts.waiting_workers;
  }
  return facts;
}

}  // namespace sluice
