#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace sluice {

inline constexpr std::size_t lexical_dimension = 2048;

/// The built-in embedder `lexical-ngrams-v1`: a unit vector of hashed character n-grams. It knows nothing of
/// meaning; the cosine of two such vectors is lexical overlap, how many pieces of three to five characters
/// two texts share. A paraphrase in other words scores low.
///
/// Invalid UTF-8 counts as U+FFFD; code points are lower-cased (Latin, Greek, Cyrillic, Armenian and
/// full-width letters, each code point by itself), each run of white space is one blank, and a blank is put
/// at both ends. Each n-gram of 3, 4 and 5 code points adds +1 or -1 (signed feature hashing, which lets
/// collisions cancel out instead of adding up) to one of lexical_dimension places; the sum is scaled to
/// length 1. A text of white space alone is the zero vector. Pure: the same vector on every machine; any
/// change takes a new name.
std::vector<float> lexical_embedding(std::string_view text);

}  // namespace sluice
