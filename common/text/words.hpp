#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// The words of a text, A to Z as a to z: runs of letters and digits. Beyond ASCII all characters are taken
/// for letters but controls, signs and spaces (U+0080 to U+00BF), and the punctuation of U+2000 to U+206F and
/// U+3000 to U+303F. REQUIRES: valid UTF-8.
std::vector<std::string> words_of(std::string_view text);

/// Whether a word is "not", or a slip of it.
bool says_not(std::string_view word);
/// How many words of a name say so, alone or joined to another. A hint that says it more or less often than
/// what it is for asks for the opposite.
std::size_t negations_in(std::string_view name);

}  // namespace sluice
