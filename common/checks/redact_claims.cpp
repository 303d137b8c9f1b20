#include "common/checks/redact_claims.hpp"

#include "common/hash.hpp"
#include "common/text/text.hpp"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sluice {
namespace {

/// Of the claims as a set: equal for the same claims in any order, however often each.
Digest identity_of(const std::vector<FinalClaim>& claims) {
  std::set<std::string> forms;
  for (const FinalClaim& claim : claims) forms.insert(canonical_form(claim));
  FieldHasher hasher;
  for (const std::string& form : forms) hasher.field(form);
  return hasher.finish();
}

}  // namespace

bool redact_value(ClaimValue& value, const Redactor& redactor) {
  if (auto* text = std::get_if<std::string>(&value)) return redactor.apply(*text);
  const auto* number = std::get_if<double>(&value);
  auto shown = number != nullptr ? redactor.redacted(in_digits(*number)) : std::nullopt;
  if (!shown) return false;
  value = std::move(*shown);
  return true;
}

void redact_claims(UnitResult& result, const Redactor& redactor) {
  for (ParsedClaim& claim : result.parsed) {
    redactor.apply(claim.subject);
    redactor.apply(claim.predicate);
    redact_value(claim.value, redactor);
  }
  const Digest identity =
      is_zero(result.claims_identity) ? identity_of(result.claims) : result.claims_identity;
  bool has_changed = false;
  for (FinalClaim& claim : result.claims) {
    has_changed |= redactor.apply(claim.concept_path);
    has_changed |= redactor.apply(claim.predicate);
    has_changed |= redact_value(claim.value, redactor);
  }
  if (has_changed) result.claims_identity = identity;
}

}  // namespace sluice
