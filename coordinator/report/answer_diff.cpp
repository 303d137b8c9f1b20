#include "coordinator/report/answer_diff.hpp"

#include <set>

namespace sluice {
namespace {

std::vector<std::string> claims_without(const UnitResult& answer, const UnitResult& other) {
  std::set<std::string> known;
  for (const FinalClaim& claim : other.claims) known.insert(canonical_form(claim));
  std::vector<std::string> texts;
  for (const FinalClaim& claim : answer.claims) {
    // What was shown once is known.
    if (known.insert(canonical_form(claim)).second) {
      texts.push_back(to_text(claim.concept_path, claim.predicate, claim.value));
    }
  }
  return texts;
}

std::optional<Reason> why_none(const TrialResult& trial) {
  return trial.error != nullptr ? std::optional(trial.error->reason) : std::nullopt;
}

std::vector<std::string> shown_text(const TrialResult& trial) {
  if (trial.error != nullptr) return {};
  return {trial.unit->shown_text};
}

}  // namespace

AnswerDiff diff_of(const Case& fixture, const Flip& flip) {
  AnswerDiff diff;
  diff.unperturbed_reason = why_none(*flip.unperturbed);
  diff.perturbed_reason = why_none(*flip.perturbed);
  if (fixture.kind == CaseKind::text) {
    diff.only_unperturbed = shown_text(*flip.unperturbed);
    diff.only_perturbed = shown_text(*flip.perturbed);
  } else {
    diff.only_unperturbed = claims_without(*flip.unperturbed->unit, *flip.perturbed->unit);
    diff.only_perturbed = claims_without(*flip.perturbed->unit, *flip.unperturbed->unit);
  }
  return diff;
}

}  // namespace sluice
