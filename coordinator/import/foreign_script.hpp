#pragma once

#include "common/documents/document.hpp"
#include "coordinator/suite/expectations/foreign_check.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice {

/// A JavaScript expression that asks for texts alone, as a check: `output.includes('a')`, several of these
/// joined by `&&` or by `||`, with `toLowerCase()` before it, or `startsWith`. Nothing for any other program.
std::optional<ForeignCheck> check_of_script(std::string_view script, std::uint32_t line);

/// Whether a `transform` makes of an answer what checks take for the same: blanks around it do not count.
bool keeps_answer(const DocumentNode& transform);

}  // namespace sluice
