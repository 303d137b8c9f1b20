#pragma once

#include "common/documents/document.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// What a plain (unquoted) YAML scalar stands for by the core schema of YAML 1.2: null, a boolean, a number
/// (one beyond the range of a double is infinite) or else the text itself.
decltype(DocumentNode::value) resolve_plain_scalar(std::string_view text);

/// The text of a scalar, of which yaml-cpp writes the escapes `\N` (U+0085) and `\_` (U+00A0) as one byte
/// each. Nothing if anything else in it is no UTF-8. REQUIRES: what was parsed is valid UTF-8.
std::optional<std::string> with_whole_characters(std::string text);

/// Where the scalar begins that yaml-cpp finds at `at`: its anchor and tag may stand before it. The text's
/// size if there is none.
std::size_t begin_of_scalar(std::string_view text, std::size_t at);

/// The literal text (`|`) as a folded one (`>`): line ends within paragraphs are blanks.
std::string folded_text(std::string_view literal);

/// Of the line ends with which a text in quotes ends, how many yaml-cpp drops: it keeps one, two behind an
/// escape, and none where nothing else is in it. Nothing if no quote closes the text. REQUIRES: `text` begins
/// with the quote that opens it.
std::optional<std::size_t> lost_line_ends(std::string_view text);

/// Whether a plain scalar that is a text is a number by the rules of YAML 1.1 that many readers keep: with
/// `_` among its digits, in binary, or with a sign before `0x` and `0o`.
bool is_older_number(std::string_view text);

}  // namespace sluice
