#pragma once

#include "common/text/printable.hpp"
#include "common/text/terminal_lines.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

/// At most `width` columns of a printable text, with "…" if anything was cut.
std::string truncated_to(std::string_view text, std::size_t width);

/// The text filled up with spaces to `width` columns.
std::string padded_left(std::string_view text, std::size_t width);   ///< Spaces first: for numbers.
std::string padded_right(std::string_view text, std::size_t width);  ///< Spaces last: for words.

/// The text as `wrapped` lines, of which each ends with a line feed.
std::string paragraph(std::string_view text, std::size_t width);

}  // namespace sluice
