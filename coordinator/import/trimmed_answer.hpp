#pragma once

#include "coordinator/suite/expectations/foreign_check.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// Whether a text has characters, and no white space at its ends.
bool has_clean_ends(std::string_view text);

/// The pattern of JavaScript that finds something in a text where, and only where, `pattern` does in the same
/// text without white space at its ends. Nothing if what it finds may begin or end with white space that must
/// be there
/// (`.+`), or if it holds what is not read here.
std::optional<std::string> pattern_of_untrimmed(std::string_view pattern);

/// The check that says of an answer what `check` says of the answer without white space at its ends; nothing
/// if there is none. A `{{name}}` at an end of a text counts as no white space.
std::optional<ForeignCheck> check_of_untrimmed(ForeignCheck check);

}  // namespace sluice
