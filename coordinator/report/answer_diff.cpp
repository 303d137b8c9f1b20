#include "coordinator/report/answer_diff.hpp"

#include <set>

namespace sluice {
namespace {

std::vector<std::string> claims_without(const UnitResult& answer, const UnitResult& other) {
  std::set<std::string> known;
  for (const FinalClaim& claim : other.claims) known.insert(canonical_form(claim));
  std::vector<std::string> texts;
  for (const FinalClaim& claim : answer.claims) {
    // What was told once is known.
    if (known.insert(canonical_form(claim)).second) {
      texts.push_back(to_text(claim.concept_path, claim.predicate, claim.value));
    }
  }
  return texts;
}

}  // namespace

AnswerDiff diff_of(const Case& fixture, const Flip& flip) {
  const UnitResult& unperturbed = *flip.unperturbed->unit;
  const UnitResult& perturbed = *flip.perturbed->unit;
  if (fixture.kind == CaseKind::text) return {{unperturbed.shown_text}, {perturbed.shown_text}};
  return {claims_without(unperturbed, perturbed), claims_without(perturbed, unperturbed)};
}

}  // namespace sluice
