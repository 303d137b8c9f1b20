#include "coordinator/run/result_check.hpp"

#include <algorithm>

namespace sluice {
namespace {

bool fits(const UnitResult& result, const Plan& plan) {
  if (result.unit >= plan.unit_count() || result.key != plan.key(result.unit)) return false;
  if (result.error) return result.scores.empty();
  return std::ranges::equal(result.scores, plan.trials_of(result.unit), {}, &TrialScore::trial);
}

}  // namespace

ResultStep check_result(const UnitResult& result, const Plan& plan) {
  if (!fits(result, plan)) return ResultStep::refuse;
  if (!result.error) return ResultStep::record;
  if (result.error->reason == Reason::cache_miss) return ResultStep::miss;
  return stops_run(result.error->reason) ? ResultStep::fail : ResultStep::record;
}

bool concerns_worker_alone(Reason reason) {
  return reason == Reason::provider_unreachable || reason == Reason::cache_failed;
}

}  // namespace sluice
