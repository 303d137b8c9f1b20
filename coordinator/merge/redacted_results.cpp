#include "coordinator/merge/redacted_results.hpp"

#include "common/checks/redact_claims.hpp"

#include <string>

namespace sluice {
namespace {

void redact(UnitResult& unit, const Redactor& redactor) {
  if (unit.error) redactor.apply(unit.error->message);
  redactor.apply(unit.shown_text);
  redact_claims(unit, redactor);
  for (TrialScore& score : unit.scores) {
    for (MetricOutcome& metric : score.metrics) redactor.apply(metric.detail);
    for (JudgeScore& judged : score.judged) redactor.apply(judged.rationale);
  }
  if (!unit.grade) return;
  for (std::string* text :
       {&unit.grade->grade.notes, &unit.grade->baseline.text, &unit.grade->candidate.text})
    redactor.apply(*text);
}

}  // namespace

Result<void> RedactedResults::visit_from(TrialId first, const VisitTrial& visit) const {
  return source_.visit_from(first, [&](const CommittedTrial& one) {
    CommittedTrial clean = one;
    redact(clean.unit, redactor_);
    visit(clean);
  });
}

}  // namespace sluice
