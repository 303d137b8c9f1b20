#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace sluice {

/// A pattern of RE2 that finds something where one of promptfoo does.
struct TranslatedPattern {
  std::string text;
  std::string difference{};  ///< A clause on what it finds otherwise than there; empty: nothing.
};

/// Reads it as JavaScript does without flags: `\p{L}` is the text `p{L}`, `[[:alpha:]]` a class and a
/// bracket,
/// `\s` knows all blanks, `.` stops at more line ends, and a character beyond U+FFFF is two. What RE2 reads
/// alike stays as it is written, and so does a pattern that JavaScript does not read. A `(?i)` at the
/// beginning, as patterns of ours have it, stays too. The error is a clause that says what RE2 does not find.
tl::expected<TranslatedPattern, std::string> translate_pattern(std::string_view pattern);

}  // namespace sluice
