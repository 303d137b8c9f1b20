#pragma once

#include "common/document.hpp"

#include <optional>
#include <string>

namespace sluice {

/// What is wrong with a JSON Schema (draft 7), as the rest of a sentence that begins with the schema; nothing
/// if answers can be checked by it. Refused are also: a "$ref" out of the schema; schemas that lead back to
/// themselves without going deeper into the value, which no check would ever be through with; "pattern" and
/// "format", whose matching has no bound in time; and keywords that are newer than draft 7 and would go
/// unheard.
/// REQUIRES: has_only_json_values (canonical_json.hpp).
std::optional<std::string> problem_with_schema(const DocumentNode& schema);

}  // namespace sluice
