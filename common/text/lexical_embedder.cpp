#include "common/text/lexical_embedder.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace sluice {

namespace {

constexpr std::size_t shortest_gram = 3;
constexpr std::size_t longest_gram = 5;

/// Upper-case letters whose lower-case forms lie at one distance from them.
struct CaseRange {
  char32_t first;
  char32_t last;
  char32_t distance;
};
constexpr CaseRange shifted[] = {
    {U'A', U'Z', 32},   {0xC0, 0xD6, 32},   {0xD8, 0xDE, 32},   {0x388, 0x38A, 37}, {0x391, 0x3A1, 32},
    {0x3A3, 0x3AB, 32}, {0x400, 0x40F, 80}, {0x410, 0x42F, 32}, {0x531, 0x556, 48}, {0xFF21, 0xFF3A, 32},
    {0x386, 0x386, 38}, {0x38C, 0x38C, 64}, {0x38E, 0x38F, 63}};
/// Ranges in which upper and lower case take turns, the upper-case letter first.
struct AlternatingRange {
  char32_t first;
  char32_t last;
};
constexpr AlternatingRange alternating[] = {{0x100, 0x12F}, {0x132, 0x137},   {0x139, 0x148},  {0x14A, 0x177},
                                            {0x179, 0x17E}, {0x370, 0x373},   {0x460, 0x481},  {0x48A, 0x4BF},
                                            {0x4D0, 0x52F}, {0x1E00, 0x1E95}, {0x1EA0, 0x1EFF}};

char32_t lower(char32_t c) {
  for (const auto& range : shifted) {
    if (c >= range.first && c <= range.last) return c + range.distance;
  }
  for (const auto& range : alternating) {
    if (c >= range.first && c <= range.last) return (c - range.first) % 2 == 0 ? c + 1 : c;
  }
  return c == 0x178 ? 0xFF : c;
}

bool is_white_space(char32_t c) {
  return c == U' ' || (c >= 0x09 && c <= 0x0D) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

/// The code point at the start of valid UTF-8, which it moves past.
char32_t take_code_point(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  char32_t c = length == 1 ? first : first & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) c = (c << 6) | (static_cast<unsigned char>(text[i]) & 0x3F);
  text.remove_prefix(length);
  return c;
}

std::u32string folded_characters(std::string_view text) {
  std::u32string characters = U" ";
  characters.reserve(text.size() + 2);
  while (!text.empty()) {
    const auto c = take_code_point(text);
    if (!is_white_space(c)) {
      characters += lower(c);
    } else if (characters.back() != U' ') {
      characters += U' ';
    }
  }
  if (characters.back() != U' ') characters += U' ';
  return characters;
}

/// The finaliser of SplitMix64: every bit of the input affects every bit of the output.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace

std::vector<float> lexical_embedding(std::string_view text) {
  const auto characters =
      invalid_utf8_at(text) ? folded_characters(to_valid_utf8(text)) : folded_characters(text);
  std::vector<double> sums(lexical_dimension, 0.0);
  for (std::size_t from = 0; from < characters.size(); ++from) {
    const auto longest = std::min(longest_gram, characters.size() - from);
    std::uint64_t hash = 0x9e3779b97f4a7c15ull;
    for (std::size_t length = 1; length <= longest; ++length) {
      hash = mixed(hash + characters[from + length - 1]);
      if (length < shortest_gram) continue;
      sums[hash % lexical_dimension] += (hash >> 63) != 0 ? 1.0 : -1.0;
    }
  }
  double square = 0.0;
  for (const double x : sums) square += x * x;
  std::vector<float> vector(lexical_dimension, 0.0f);
  if (square == 0.0) return vector;
  const double norm = std::sqrt(square);
  std::ranges::transform(sums, vector.begin(), [norm](double x) { return static_cast<float>(x / norm); });
  return vector;
}

}  // namespace sluice
