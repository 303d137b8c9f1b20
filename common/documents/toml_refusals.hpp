#pragma once

#include "common/documents/toml_document.hpp"

#include <optional>
#include <string_view>

namespace sluice {

/// Looks over valid UTF-8 once, in linear time, for what the parser of the whole language must not see.
/// Refused are keys of more than 16 parts (the parser recurses over the tables that they make, and limits any
/// depth but theirs), and errors on which the parser breaks preconditions of its own: characters beyond ASCII
/// outside of quotes and comments, and quotes in the middle of a bare value, behind which such characters
/// would be missed. Exact up to the first syntax error, where the parser stops anyway.
std::optional<TomlError> refuse_toml(std::string_view text);

}  // namespace sluice
