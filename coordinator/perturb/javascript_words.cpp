#include "coordinator/perturb/javascript_words.hpp"

#include "coordinator/perturb/cursor.hpp"

#include <algorithm>
#include <array>

namespace sluice {

namespace {

constexpr std::array<std::string_view, 17> operator_words{
    "return", "typeof", "case", "in",    "delete", "void",    "throw",   "new", "instanceof",
    "do",     "else",   "if",   "while", "for",    "default", "extends", "with"};
constexpr std::array<std::string_view, 4> unsure_words{"of", "yield", "await", "async"};
constexpr std::array<std::string_view, 4> statement_heads{"if", "while", "for", "with"};
constexpr std::array<std::string_view, 6> block_heads{"if", "while", "for", "with", "switch", "catch"};

bool contains(auto const& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

bool is_operator_word(std::string_view word) {
  return contains(operator_words, word);
}

bool is_unsure_word(std::string_view word) {
  return contains(unsure_words, word);
}

bool is_statement_head(std::string_view word) {
  return contains(statement_heads, word);
}

bool is_block_head(std::string_view word) {
  return contains(block_heads, word);
}

bool is_name_byte(char c) {
  return is_word_byte(c) || c == '$';
}

bool is_tag_byte(char c) {
  return is_name_byte(c) || c == '.' || c == '-';
}

bool holds_wide_space(std::string_view word) {
  if (std::ranges::all_of(word, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return false;
  constexpr std::array<std::string_view, 8> spaces{"\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\xA8",
                                                   "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F",
                                                   "\xE3\x80\x80", "\xEF\xBB\xBF"};
  const bool known =
      std::ranges::any_of(spaces, [&](auto space) { return word.find(space) != std::string_view::npos; });
  if (known) return true;
  constexpr std::string_view general = "\xE2\x80";  // U+2000 to U+200A.
  for (auto at = word.find(general); at != std::string_view::npos; at = word.find(general, at + 1)) {
    const auto last = at + 2 < word.size() ? static_cast<unsigned char>(word[at + 2]) : 0;
    if (last >= 0x80 && last <= 0x8A) return true;
  }
  return false;
}

}  // namespace sluice
