#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

/// Foreign text for a message of one line: control characters escaped as JSON does, invalid UTF-8 replaced,
/// cut when it is long.
std::string escaped_excerpt(std::string_view text);
/// As `escaped_excerpt`, in backquotes.
std::string backquoted(std::string_view text);
/// The text as one word of a POSIX shell: quoted where it would be anything else as it is.
std::string shell_word(const std::string& text);

/// Of what a JSON parser stopped at, which begins with the last text if there is one: where it goes on behind
/// that text; 0 if it ends with or in it, or begins with none.
std::size_t behind_text(std::string_view token);
/// The parser stopped in the midst of a character, which is no UTF-8 error: it takes single bytes. (In a text
/// it takes characters, and stops only at a wrong one.)
bool stops_in_character(std::string_view token);
/// The end of a text, at most so many bytes, from the beginning of a character on.
std::string_view end_of(std::string_view text, std::size_t most_bytes);

}  // namespace sluice
