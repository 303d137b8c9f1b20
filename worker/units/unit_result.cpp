#include "worker/units/unit_result.hpp"

#include <utility>

namespace sluice {

namespace {

/// A vote may quote what a cache holds of an answer.
void mask_rationales(TrialScore& score, const KeyMask& keys) {
  for (JudgeScore& judged : score.judged) keys.apply(judged.rationale);
  for (MetricOutcome& outcome : score.metrics) {
    if (is_judge_metric(outcome.id)) keys.apply(outcome.detail);
  }
}

}  // namespace

UnitResult unit_result(const WorkUnit& unit, const Checks& checks, UnitOutcome outcome,
                       const Evidence& evidence, const Spend& spend, ReadAnswer read, const KeyMask& keys) {
  UnitResult result;
  result.unit = unit.unit;
  result.key = unit.key;
  result.spend = spend;
  if (auto* error = std::get_if<Error>(&outcome)) {
    result.error = std::move(*error);
  } else {
    auto& completion = std::get<Completion>(outcome);
    // The answer is known by what the cache holds; nothing else holds a key.
    result.answer = answer_digest(completion);
    if (keys.apply(completion.text)) read = {};
    if (completion.non_answer) keys.apply(completion.non_answer->message);
    score_answer(completion, checks, unit, evidence, result, std::move(read.claims));
    for (TrialScore& score : result.scores) mask_rationales(score, keys);
  }
  return result;
}

}  // namespace sluice
