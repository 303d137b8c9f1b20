#include "worker/unit_result.hpp"

#include <utility>

namespace sluice {

UnitResult unit_result(const WorkUnit& unit, const Judges& judges, UnitOutcome outcome,
                       const EmbeddedTexts& embedded, const Spend& spend,
                       std::optional<std::vector<ParsedClaim>> claims) {
  UnitResult result;
  result.unit = unit.unit;
  result.key = unit.key;
  result.spend = spend;
  if (auto* error = std::get_if<Error>(&outcome)) {
    result.error = std::move(*error);
  } else {
    score_answer(std::get<Completion>(outcome), judges, unit, embedded, result, std::move(claims));
  }
  return result;
}

}  // namespace sluice
