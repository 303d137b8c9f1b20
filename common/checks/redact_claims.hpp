#pragma once

#include "common/checks/redactor.hpp"
#include "common/model/claim.hpp"
#include "common/model/result.hpp"

namespace sluice {

/// Redacts a claim's value: a text, or a number by its digits, of which a text is left then. True if that
/// changed it.
bool redact_value(ClaimValue& value, const Redactor& redactor);
/// Redacts the claims of a result, parsed and final. Where that changes a final one, the result keeps the
/// identity of all of them as they were first (UnitResult::claims_identity).
void redact_claims(UnitResult& result, const Redactor& redactor);

}  // namespace sluice
