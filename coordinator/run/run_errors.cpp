#include "coordinator/run/run_errors.hpp"

#include "common/text.hpp"

#include <algorithm>
#include <cstddef>

namespace sluice {

Error missing_answers(const Plan& plan, const std::vector<UnitId>& units) {
  std::vector<TrialId> trials;
  for (const auto unit : units) {
    const auto served = plan.trials_of(unit);
    trials.insert(trials.end(), served.begin(), served.end());
  }
  std::ranges::sort(trials);
  constexpr std::size_t named = 5;
  std::string names;
  for (std::size_t i = 0; i < std::min(named, trials.size()); ++i) {
    names += (i > 0 ? ", " : "") + plan.trial_name(trials[i]);
  }
  const bool one_trial_a_case = plan.trial_count() == plan.trials().case_count();
  if (trials.size() > named) names += " and " + std::to_string(trials.size() - named) + " more";
  return {Reason::cache_miss, "no cache holds the answers of " + std::to_string(trials.size()) + " of " +
                                  std::to_string(plan.trial_count()) +
                                  (one_trial_a_case ? " cases (" : " trials (") + names +
                                  "); fill it with `sluice run --mode live` and the same settings"};
}

Error no_worker_connected(std::chrono::milliseconds waited, const std::string& how_to_start_one) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(waited).count();
  return {Reason::no_workers,
          "no worker was connected for " + std::to_string(seconds) + " s; " + how_to_start_one};
}

Error deadline_reached(std::chrono::milliseconds deadline) {
  const auto seconds = std::chrono::duration<double>(deadline).count();
  return {Reason::deadline_reached,
          "the run's deadline (--deadline) of " + shortest(seconds) + " s was reached"};
}

}  // namespace sluice
