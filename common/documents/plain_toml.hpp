#pragma once

#include "common/documents/document.hpp"

#include <optional>
#include <string_view>

namespace sluice {

/// Reads TOML as people mostly write it, in one pass: bare keys, tables of bare keys, arrays of tables,
/// strings without escapes beyond the short ones, decimal numbers, booleans, arrays and inline tables on top
/// of each other up to eight deep. Null for anything else, be it wrong or only rare: the parser of the whole
/// language decides then, and has the words for what is wrong. What is read is exactly what that one reads.
/// REQUIRES: valid UTF-8.
std::optional<DocumentNode> read_plain_toml(std::string_view text);

}  // namespace sluice
