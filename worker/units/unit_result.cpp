#include "worker/units/unit_result.hpp"

#include <utility>

namespace sluice {

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
    score_answer(completion, checks, unit, evidence.embedded, result, std::move(read.claims));
  }
  return result;
}

}  // namespace sluice
