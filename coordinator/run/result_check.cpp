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
  // Of trials that take it for an answer, each once and in their order; whether they do, visit_cases sees.
  return std::ranges::includes(trials, result.scores, {}, {}, &TrialScore::trial);
}

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Whether a message of a provider speaks of the parameter, by any name that it has there.
bool names(std::string_view message, std::string_view parameter) {
  for (auto at = message.find(parameter); at != std::string_view::npos;
       at = message.find(parameter, at + 1)) {
    const auto end = at + parameter.size();
    const bool is_word =
        (at == 0 || !is_of_word(message[at - 1])) && (end == message.size() || !is_of_word(message[end]));
    if (is_word) return true;
  }
  return parameter == "max_output_tokens" && message.find("max_") != std::string_view::npos;
}

/// A parameter of the test's own, or of its arm's beside others, concerns no other. Where an answer came, a
/// vote was refused, or an embedding, which carry none of these.
bool is_its_own(const UnitResult& result, const Plan& plan) {
  if (result.error->reason != Reason::parameter_refused || !is_zero(result.answer)) return false;
  const auto is_named = [&](const std::string& one) { return names(result.error->message, one); };
  const auto asked = plan.case_of_trial(plan.trials_of(result.unit).front());
  if (asked && std::ranges::any_of((*asked)->extras.params, is_named, &RequestParam::name)) return true;
  return plan.arm_count() > 1 && std::ranges::any_of(plan.own_params(plan.arm_of(result.unit)), is_named);
}

}  // namespace

ResultStep check_result(const UnitResult& result, const Plan& plan) {
  if (!fits(result, plan)) return ResultStep::refuse;
  if (!result.error) return ResultStep::record;
  if (is_miss(result.error->reason)) return ResultStep::miss;
  const bool stops = stops_run(result.error->reason) && !is_its_own(result, plan);
  return stops ? ResultStep::fail : ResultStep::record;
}

}  // namespace sluice
