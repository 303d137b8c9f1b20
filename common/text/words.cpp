#include "common/text/words.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

/// One character, in UTF-8.
bool is_of_word(std::string_view character) {
  const char first = character.front();
  if (character.size() == 1) return (first >= 'a' && first <= 'z') || (first >= '0' && first <= '9');
  // Prefixes of their encodings: U+0080 to U+00BF, U+2000 to U+203F, and U+3000 to U+303F.
  constexpr std::string_view breaks[] = {"\xc2", "\xe2\x80", "\xe3\x80"};
  const bool is_rest_of_general_punctuation =
      character.starts_with("\xe2\x81") && character <= std::string_view("\xe2\x81\xaf");
  return !is_rest_of_general_punctuation &&
         std::ranges::none_of(breaks, [&](std::string_view one) { return character.starts_with(one); });
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  const std::string lower = to_lower(text);
  std::vector<std::string> words;
  bool in_word = false;
  for (std::size_t at = 0; at < lower.size();) {
    std::size_t end = at + 1;
    while (end < lower.size() && continues_utf8(lower[end])) ++end;
    const std::string_view character = std::string_view(lower).substr(at, end - at);
    const bool goes_on = is_of_word(character);
    if (goes_on && !in_word) words.emplace_back();
    if (goes_on) words.back() += character;
    in_word = goes_on;
    at = end;
  }
  return words;
}

bool says_not(std::string_view word) {
  constexpr std::array<std::string_view, 1> meant{"not"};
  return word != "note" && nearest(word, meant);
}

std::size_t negations_in(std::string_view name) {
  constexpr std::array<std::string_view, 4> joined{"doesnt", "dont", "isnt", "mustnt"};
  const auto words = words_of(name);
  return static_cast<std::size_t>(std::ranges::count_if(words, [&](std::string_view word) {
    const bool begins_so = word.starts_with("not") && word != "note" && word != "notes";
    return begins_so || says_not(word) || std::ranges::find(joined, word) != joined.end();
  }));
}

}  // namespace sluice
