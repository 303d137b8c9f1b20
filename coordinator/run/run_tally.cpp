#include "coordinator/run/run_tally.hpp"

#include <algorithm>
#include <chrono>

namespace sluice {

void RunTally::on_settled(const Plan& plan, const ResultsRecorded::Item& item) {
  for (const TrialId trial : plan.trials_of(item.unit)) {
    const auto is_of = [&](const std::vector<TrialId>& trials) {
      return std::ranges::find(trials, trial) != trials.end();
    };
    on_settled(plan, trial, item.error || is_of(item.undecided), is_of(item.failed));
  }
}

void RunTally::on_settled(const Plan& plan, TrialId trial, bool error, bool failed) {
  if (error) {
    ++trials_.errors;
  } else if (plan.trials().place(trial).perturbation > 0) {
    ++trials_.perturbed;
  } else {
    ++(failed ? trials_.failed : trials_.passed);
  }
}

void RunTally::on_spend(const Spend& spend, std::size_t arm) {
  facts_.requests += spend.calls;
  facts_.retries += spend.retries;
  facts_.rate_limited += spend.rate_limited;
  facts_.cache_hits += spend.cache_hit ? 1 : 0;
  facts_.paid += spend.paid;
  facts_.paid_by_arm.add(arm, spend.paid);
  facts_.unmetered |= spend.unmetered;
  facts_.waited_permit += std::chrono::milliseconds(spend.waited_permit_ms);
  facts_.waited_pause += std::chrono::milliseconds(spend.waited_pause_ms);
  facts_.waited_retry += std::chrono::milliseconds(spend.waited_retry_ms);
}

std::chrono::milliseconds RunTally::time_until(TimePoint last_result) const {
  // There may be no result after it.
  if (!first_lease_ || last_result < *first_lease_) return before_;
  return before_ + std::chrono::duration_cast<std::chrono::milliseconds>(last_result - *first_lease_);
}

RunFacts RunTally::facts() const {
  auto facts = facts_;
  const auto time = time_until(last_result_);
  facts.duration_seconds = std::chrono::duration<double>(time).count();
  facts.part_time = time - before_;
  return facts;
}

}  // namespace sluice
