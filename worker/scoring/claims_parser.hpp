#pragma once

#include "common/error.hpp"
#include "common/model/claim.hpp"

#include <string_view>
#include <vector>

namespace sluice {

/// Reads the claims of an answer: `{"claims":[{"subject","predicate","value","confidence","line"}]}` as
/// config/schemas/claims.schema.json has it, with white space or a Markdown code fence (```json) around it.
/// `line` may be null or absent, unknown keys are ignored; `value` is a boolean, a text or a number (an
/// integer beyond 2^53, which a double cannot distinguish from its neighbours, is refused), `confidence` lies
/// in 0..1. Whatever else stands there is Reason::unparsable_answer, with a message that names the place.
/// Pure and thread-safe; linear in the text.
Result<std::vector<ParsedClaim>> parse_claims(std::string_view text);

}  // namespace sluice
