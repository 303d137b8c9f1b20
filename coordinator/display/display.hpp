#pragma once

#include "common/text/printable.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// The columns that a terminal needs for the text: 0 for combining characters, 2 for wide ones (CJK, emoji),
/// else 1.
std::size_t display_width(std::string_view text);

/// At most `width` columns of a printable text, with "…" if anything was cut.
std::string truncated_to(std::string_view text, std::size_t width);

/// The text filled up with spaces to `width` columns.
std::string padded_left(std::string_view text, std::size_t width);   ///< Spaces first: for numbers.
std::string padded_right(std::string_view text, std::size_t width);  ///< Spaces last: for words.

/// The text in lines of at most `width` columns, broken at spaces where there are any. At least one line; a
/// character wider than `width` stands alone. None is a command to a build server. REQUIRES: width > 0.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);
/// The same as one text, in which each line ends with a line feed.
std::string paragraph(std::string_view text, std::size_t width);
/// The same of a text that begins at `column` of its first line: others are indented, and the last has no
/// line feed. As it is where no column is left.
std::string hanging(std::string_view text, std::size_t column, std::size_t width);

}  // namespace sluice
