#include "coordinator/run/result_check.hpp"

#include <algorithm>
#include <string_view>

namespace sluice {
namespace {

bool fits(const UnitResult& result, const Plan& plan) {
  if (result.unit >= plan.unit_count() || result.key != plan.key(result.unit)) return false;
  const auto trials = plan.trials_of(result.unit);
  if (!result.error) return std::ranges::equal(result.scores, trials, {}, &TrialScore::trial);
  if (result.error->reason != Reason::refusal) return result.scores.empty();
  // Of trials that take a refusal, each once and in their order; whether they do, visit_cases sees.
  return std::ranges::includes(trials, result.scores, {}, {}, &TrialScore::trial);
}

/// Whether a message of a provider speaks of the parameter, by any name that it has there.
bool names(std::string_view message, const RequestParam& parameter) {
  if (message.find(parameter.name) != std::string_view::npos) return true;
  return parameter.name == "max_output_tokens" && message.find("max_") != std::string_view::npos;
}

/// A parameter of the test's own concerns no other test. Where an answer came, a vote was refused, or an
/// embedding, which carry none of the test's.
bool is_its_own(const UnitResult& result, const Plan& plan) {
  if (result.error->reason != Reason::parameter_refused || !is_zero(result.answer)) return false;
  const auto asked = plan.case_of_trial(plan.trials_of(result.unit).front());
  return asked && std::ranges::any_of((*asked)->extras.params, [&](const RequestParam& one) {
           return names(result.error->message, one);
         });
}

}  // namespace

ResultStep check_result(const UnitResult& result, const Plan& plan) {
  if (!fits(result, plan)) return ResultStep::refuse;
  if (!result.error) return ResultStep::record;
  if (result.error->reason == Reason::cache_miss) return ResultStep::miss;
  const bool stops = stops_run(result.error->reason) && !is_its_own(result, plan);
  return stops ? ResultStep::fail : ResultStep::record;
}

bool concerns_worker_alone(Reason reason) {
  // Each has a key and files of its own.
  return reason == Reason::provider_unreachable || reason == Reason::cache_failed ||
         reason == Reason::key_refused || reason == Reason::provider_changed;
}

}  // namespace sluice
