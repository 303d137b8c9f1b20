#pragma once

#include "common/error.hpp"

#include <string>
#include <string_view>

namespace sluice {

/// The text with the letters of every alphabet as small ones, one character for one: texts that differ in
/// case alone become the same. Of several small forms of a letter one counts for all: the sigma at a word's
/// end is a sigma, the long s an s, the micro sign a mu (Unicode's simple case folding); `ß` stays, and what
/// is no UTF-8 becomes U+FFFD. By the tables of the C library. check_undecided: the machine has no locale
/// C.UTF-8. Thread-safe.
Result<std::string> in_small_letters(std::string_view text);

}  // namespace sluice
