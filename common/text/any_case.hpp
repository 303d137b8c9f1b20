#pragma once

#include "common/error.hpp"

#include <string>
#include <string_view>

namespace sluice {

/// The text with the letters of every alphabet as small ones, one character for one: texts that differ in
/// case alone become the same. The small sigma at a word's end counts as the other one, and the long s as s;
/// `ß` stays, and what is no UTF-8 becomes U+FFFD. By the tables of the C library. check_undecided: the
/// machine has no locale C.UTF-8. Thread-safe.
Result<std::string> in_small_letters(std::string_view text);

}  // namespace sluice
