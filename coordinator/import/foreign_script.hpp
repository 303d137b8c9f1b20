#pragma once

#include "coordinator/suite/expectations/foreign_check.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice {

/// A JavaScript expression that asks for texts alone, as a check: `output.includes('a')`, several of these
/// joined by `&&` or by `||`, with `toLowerCase()` before it, or `startsWith`. Nothing for any other program.
std::optional<ForeignCheck> check_of_script(std::string_view script, std::uint32_t line);

/// The text without what means nothing at the ends of a script: blanks and semicolons.
std::string_view trimmed_script(std::string_view text);
/// Takes the start off the text; false if it begins otherwise.
bool take_start(std::string_view& text, std::string_view start);

}  // namespace sluice
