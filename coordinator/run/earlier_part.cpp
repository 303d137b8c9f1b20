#include "coordinator/run/earlier_part.hpp"

#include <algorithm>
#include <iterator>

namespace sluice {

EarlierPart::EarlierPart(const Plan& plan, const std::string& run_id)
    : plan_(plan), tally_(run_id, {}), workers_of_(plan.unit_count()) {}

Result<void> EarlierPart::add(const CommittedTrial& trial, const std::string& worker) {
  const UnitResult& result = trial.unit;
  if (trial.trial >= plan_.trial_count() || result.key != plan_.key(plan_.unit_of(trial.trial))) {
    return fail(Reason::ledger_failed,
                "the ledger has a result of trial " + std::to_string(trial.trial) +
                    " that is not of this plan: it is damaged; start a new run, which finds in the caches "
                    "what was answered");
  }
  const TrialScore* const score = result.scores.empty() ? nullptr : &result.scores.front();
  const bool is_error = score != nullptr ? is_undecided(*score) : result.error.has_value();
  tally_.on_settled(plan_, trial.trial, is_error, score != nullptr && has_failed(*score));
  const UnitId unit = plan_.unit_of(trial.trial);
  if (plan_.trials_of(unit).size() > 1) {
    Shared& shared = shared_[unit];
    if (shared.trials++ == 0) shared.spend = result.spend;
  }
  if (is_settled(unit)) return {};
  count(unit, result.spend);
  // Few names: those of the workers that there were.
  auto known = std::ranges::find(workers_, worker);
  if (known == workers_.end()) known = workers_.insert(workers_.end(), worker);
  workers_of_[unit] = static_cast<std::uint32_t>(std::distance(workers_.begin(), known)) + 1;
  return {};
}

void EarlierPart::add(const UnitSpend& spent) {
  if (spent.unit < plan_.unit_count()) count(spent.unit, spent.spend);
}

std::vector<UnitSpend> EarlierPart::torn() const {
  std::vector<UnitSpend> torn;
  for (const auto& [unit, shared] : shared_) {
    if (shared.trials < plan_.trials_of(unit).size()) torn.push_back({unit, shared.spend});
  }
  return torn;
}

void EarlierPart::count(UnitId unit, const Spend& spend) {
  tally_.on_spend(spend, plan_.arm_of(unit));
  if (spend.unmetered != 0) unmetered_.push_back({unit, spend});
}

}  // namespace sluice
