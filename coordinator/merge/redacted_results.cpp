#include "coordinator/merge/redacted_results.hpp"

#include "common/checks/redact_claims.hpp"

#include <string>
#include <vector>

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

void redact(std::vector<ExpectedClaim>& claims, const Redactor& redactor) {
  for (ExpectedClaim& claim : claims) {
    redactor.apply(claim.subject);
    redactor.apply(claim.predicate);
    redact_value(claim.value, redactor);
    if (claim.rationale) redactor.apply(*claim.rationale);
  }
}

void redact(TextExpectation& what, const Redactor& redactor) {
  for (std::string& text : what.texts) redactor.apply(text);
  for (TextExpectation& part : what.parts) redact(part, redactor);
}

}  // namespace

Result<void> RedactedResults::visit_from(TrialId first, const VisitTrial& visit) const {
  return source_.visit_from(first, [&](const CommittedTrial& one) {
    CommittedTrial clean = one;
    redact(clean.unit, redactor_);
    visit(clean);
  });
}

Case redacted(const Case& test_case, const Redactor& redactor) {
  Case clean = test_case;
  for (std::string* text : {&clean.content, &clean.context, &clean.system}) redactor.apply(*text);
  redact(clean.must_contain, redactor);
  redact(clean.must_not_contain, redactor);
  for (Expectation& one : clean.expectations) {
    redact(one.what, redactor);
    if (!one.judge) continue;
    redactor.apply(one.judge->reference);
    redactor.apply(one.judge->criteria);
    redactor.apply(one.judge->context);
  }
  if (clean.known_failure) redactor.apply(*clean.known_failure);
  return clean;
}

}  // namespace sluice
