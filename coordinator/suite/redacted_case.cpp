#include "coordinator/suite/redacted_case.hpp"

#include "common/checks/redact_claims.hpp"

#include <string>
#include <vector>

namespace sluice {
namespace {

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

Expectation redacted(const Expectation& expectation, const Redactor& redactor) {
  Expectation clean = expectation;
  redact(clean.what, redactor);
  if (!clean.judge) return clean;
  for (std::string* text : {&clean.judge->reference, &clean.judge->criteria, &clean.judge->context})
    redactor.apply(*text);
  return clean;
}

Case redacted(const Case& test_case, const Redactor& redactor) {
  Case clean = test_case;
  for (std::string* text : {&clean.content, &clean.context, &clean.system}) redactor.apply(*text);
  redact(clean.must_contain, redactor);
  redact(clean.must_not_contain, redactor);
  for (Expectation& one : clean.expectations) one = redacted(one, redactor);
  if (clean.known_failure) redactor.apply(*clean.known_failure);
  return clean;
}

}  // namespace sluice
