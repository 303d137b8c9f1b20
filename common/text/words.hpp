#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// The words of a text, A to Z as a to z: runs of letters and digits. Beyond ASCII all characters are taken
/// for letters but controls, signs and spaces (U+0080 to U+00BF), and the punctuation of U+2000 to U+206F and
/// U+3000 to U+303F. REQUIRES: valid UTF-8.
std::vector<std::string> words_of(std::string_view text);

}  // namespace sluice
