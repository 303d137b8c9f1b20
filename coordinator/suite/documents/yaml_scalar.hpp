#pragma once

#include "common/documents/document.hpp"

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

/// Whether a plain scalar that is a text is a number by the rules of YAML 1.1 that many readers keep: with
/// `_` among its digits, in binary, or with a sign before `0x` and `0o`.
bool is_older_number(std::string_view text);

}  // namespace sluice
