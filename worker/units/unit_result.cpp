#include "worker/units/unit_result.hpp"

#include <utility>

namespace sluice {

namespace {

/// A vote may quote what a cache holds of an answer. Before anything is cut: half a key is not known as one.
Evidence without_keys(Evidence evidence, const KeyMask& keys) {
  for (auto& of_task : evidence.votes) {
    for (auto& of_metric : of_task) {
      for (Vote& vote : of_metric.votes) keys.apply(vote.rationale);
    }
  }
  return evidence;
}

/// What the enricher did not know of the candidate's answer. A cache may hold keys of either.
GradingResult finished(GradingResult grade, const Completion& candidate, const Spend& spend,
                       const KeyMask& keys) {
  grade.candidate.served_model = candidate.served_model;
  grade.candidate.usage = candidate.usage;
  grade.candidate.cache_hit = spend.cache_hit;
  grade.candidate.latency_ms = spend.cache_hit ? 0 : spend.latency_ms;
  keys.apply(grade.grade.notes);
  keys.apply(grade.baseline.text);
  keys.apply(grade.candidate.text);
  return grade;
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
    const bool judged = !evidence.votes.empty();
    score_answer(completion, checks, unit, judged ? without_keys(evidence, keys) : evidence, result,
                 std::move(read.claims));
    if (evidence.grade) result.grade = finished(*evidence.grade, completion, spend, keys);
  }
  return result;
}

}  // namespace sluice
