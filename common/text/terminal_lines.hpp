#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Lines of the width that a terminal has.
namespace sluice {

/// The columns that a terminal needs for the text: 0 for combining characters, 2 for wide ones (CJK, emoji),
/// else 1.
std::size_t display_width(std::string_view text);
/// The longest beginning of the text that fits into `width` columns.
std::string_view fitting(std::string_view text, std::size_t width);

/// The text in lines of at most `width` columns, broken at spaces where there are any. At least one line; a
/// character wider than `width` stands alone. None is a command to a build server. REQUIRES: width > 0.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);
/// The same as one text that begins at `column` of its first line: others are indented, and the last has no
/// line feed. As it is where no column is left.
std::string hanging(std::string_view text, std::size_t column, std::size_t width);

/// How wide the terminal behind a descriptor is; nothing where it is none, or its width is not known.
std::optional<std::size_t> columns_of(int descriptor);
/// What a line of stderr has from `column` on: on a terminal in lines of its width (hanging), else as it is.
std::string broken_on_stderr(std::string_view text, std::size_t column);

}  // namespace sluice
