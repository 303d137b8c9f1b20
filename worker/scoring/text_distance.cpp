#include "worker/scoring/text_distance.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

// Bit-parallel (Myers 1999, as Hyyro 2003 has it), in a band around the diagonal (Ukkonen 1985).

namespace sluice {
namespace {

using Word = std::uint64_t;
/// Of a table's rows and columns, and what they differ by: the lengths of texts fit.
using Count = std::int64_t;
constexpr Count word_bits = 64;

std::u32string characters_of(std::string_view text) {
  std::u32string characters;
  characters.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    char32_t character = static_cast<unsigned char>(text[at++]);
    // The bytes of one are enough to tell it from others.
    while (at < text.size() && continues_utf8(text[at]))
      character = character << 8 | static_cast<unsigned char>(text[at++]);
    characters += character;
  }
  return characters;
}

void strip_shared_ends(std::u32string_view& a, std::u32string_view& b) {
  const auto front = std::ranges::mismatch(a, b).in1 - a.begin();
  a.remove_prefix(static_cast<std::size_t>(front));
  b.remove_prefix(static_cast<std::size_t>(front));
  const auto back = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first - a.rbegin();
  a.remove_suffix(static_cast<std::size_t>(back));
  b.remove_suffix(static_cast<std::size_t>(back));
}

/// Where each character of a text stands, 64 places to a word. Characters have numbers, of which each digit
/// is kept by itself: a row of words for each character would take too much memory.
class Places {
 public:
  explicit Places(std::u32string_view text)
      : length_(static_cast<Count>(text.size())), words_((text.size() + word_bits - 1) / word_bits) {
    for (const char32_t one : text) numbers_.try_emplace(one, static_cast<char32_t>(numbers_.size()));
    const auto digits = (std::bit_width(numbers_.size()) + digit_bits - 1) / digit_bits;
    rows_.resize(static_cast<std::size_t>(digits) << digit_bits);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char32_t number = numbers_.at(text[i]);
      for (std::size_t digit = 0; digit < rows_.size() >> digit_bits; ++digit) {
        std::vector<Word>& row = rows_[row_of(number, digit)];
        row.resize(words_);
        row[i / word_bits] |= Word{1} << i % word_bits;
      }
    }
  }

  Count length() const { return length_; }
  std::size_t words() const { return words_; }
  /// One that no character of the text has, if this one does not occur in it.
  char32_t number_of(char32_t character) const {
    const auto found = numbers_.find(character);
    return found == numbers_.end() ? static_cast<char32_t>(numbers_.size()) : found->second;
  }
  /// Into `found`: the words from `first` to `last` of where the character of this number stands.
  void find(char32_t number, std::size_t first, std::size_t last, std::vector<Word>& found) const {
    found.assign(last - first + 1, ~Word{0});
    for (std::size_t digit = 0; digit < rows_.size() >> digit_bits; ++digit) {
      const std::vector<Word>& row = rows_[row_of(number, digit)];
      if (row.empty()) return found.assign(found.size(), 0);
      for (std::size_t i = 0; i < found.size(); ++i) found[i] &= row[first + i];
    }
  }

 private:
  static constexpr int digit_bits = 4;

  static std::size_t row_of(char32_t number, std::size_t digit) {
    constexpr char32_t values = 1u << digit_bits;
    return digit << digit_bits | (number >> digit * digit_bits) % values;
  }

  Count length_;
  std::size_t words_;
  std::unordered_map<char32_t, char32_t> numbers_;
  std::vector<std::vector<Word>> rows_;  ///< By digit and its value; empty if no character has it.
};

/// The table of the distances between the beginnings of two texts, one of which goes down and one across, a
/// column at a time. Only the words of the band are computed: where so few changes can lead from the table's
/// first place to its last. What lies beyond counts as too far by as much as it can, so that no place has
/// less than its distance, and those on a way of at most `most` changes have exactly that.
class Band {
 public:
  Band(const Places& down, Count width, Count most)
      : down_(down), most_(most), rises_(down.words(), ~Word{0}), falls_(down.words()) {
    const Count longer = width - down.length();
    const Count beside = (most - std::abs(longer)) / 2;
    lowest_ = std::min<Count>(longer, 0) - beside;
    highest_ = std::max<Count>(longer, 0) + beside;
    last_ = word_at(1 - lowest_);
    score_ = end_of(last_);
  }

  /// Computes the next column, of the character with this number.
  void step(char32_t number) {
    ++column_;
    first_ = word_at(column_ - highest_);
    if (const std::size_t last = word_at(column_ - lowest_); last != last_) {
      score_ += end_of(last) - end_of(last_);
      last_ = last;
    }
    down_.find(number, first_, last_, equal_);
    // From the column before to this one. Above the band a place has one more: that is the most.
    Word rise_above = 1;
    Word fall_above = 0;
    Word rise = 0;
    Word fall = 0;
    for (std::size_t i = first_; i <= last_; ++i) {
      const Word up = rises_[i];
      const Word carried = equal_[i - first_] | fall_above;
      const Word as_diagonal = (((carried & up) + up) ^ up) | carried | falls_[i];
      rise = falls_[i] | ~(as_diagonal | up);
      fall = up & as_diagonal;
      const Word right = rise << 1 | rise_above;
      const Word left = fall << 1 | fall_above;
      rise_above = rise >> (word_bits - 1);
      fall_above = fall >> (word_bits - 1);
      rises_[i] = left | ~(as_diagonal | right);
      falls_[i] = right & as_diagonal;
    }
    const Count end_bit = (end_of(last_) - 1) % word_bits;
    score_ += static_cast<Count>(rise >> end_bit & 1) - static_cast<Count>(fall >> end_bit & 1);
  }

  /// Of the last row of the band: of the table where it ends.
  Count score() const { return score_; }

  /// Whether no place of this column is within `most`.
  bool is_beyond() const {
    Count score = score_;
    Count lowest = score;
    for (std::size_t i = last_; i > first_; --i) {
      const Word rows = ~Word{0} >> (word_bits * static_cast<Count>(i + 1) - end_of(i));
      score += std::popcount(falls_[i] & rows) - std::popcount(rises_[i] & rows);
      lowest = std::min(lowest, score);
    }
    // Places above one another differ by 1 at most, and these are the last rows of the words.
    return lowest - (word_bits - 1) > most_;
  }

 private:
  /// The word of a row from 1; of rows beyond the table that of its first or last.
  std::size_t word_at(Count row) const {
    return static_cast<std::size_t>((std::clamp<Count>(row, 1, down_.length()) - 1) / word_bits);
  }
  /// Its last row.
  Count end_of(std::size_t word) const {
    return std::min(down_.length(), word_bits * static_cast<Count>(word + 1));
  }

  const Places& down_;
  Count most_;
  Count lowest_ = 0;   ///< Diagonals: columns less rows.
  Count highest_ = 0;  ///< The same.
  Count column_ = 0;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  Count score_ = 0;
  std::vector<Word> rises_;  ///< Rows that have one more than the row above.
  std::vector<Word> falls_;  ///< Rows that have one less.
  std::vector<Word> equal_;
};

std::optional<std::size_t> within_band(const Places& down, std::u32string_view across, Count most) {
  const auto width = static_cast<Count>(across.size());
  if (std::abs(width - down.length()) > most) return std::nullopt;
  Band band(down, width, most);
  for (std::size_t i = 0; i < across.size(); ++i) {
    band.step(across[i]);
    if (i % word_bits == 0 && band.is_beyond()) return std::nullopt;
  }
  return band.score() <= most ? std::optional(static_cast<std::size_t>(band.score())) : std::nullopt;
}

}  // namespace

std::optional<std::size_t> distance_within(std::string_view one, std::string_view other, std::size_t most) {
  const std::u32string characters = characters_of(one);
  const std::u32string others = characters_of(other);
  std::u32string_view a = characters;
  std::u32string_view b = others;
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most) return std::nullopt;
  strip_shared_ends(a, b);
  const std::size_t longer = std::max(a.size(), b.size());
  if (a.empty() || b.empty() || most == 0) return longer <= most ? std::optional(longer) : std::nullopt;
  const Places down(a);
  std::u32string across(b);
  for (char32_t& character : across) character = down.number_of(character);
  // Texts are mostly nearer than they may be, or much further: narrow bands tell the first, and any the last.
  constexpr std::size_t narrow = 256;
  const std::size_t widest = std::min(most, longer);
  int halvings = 0;
  while (widest >> halvings > narrow) halvings += 2;
  for (; halvings >= 0; halvings -= 2) {
    const auto distance = within_band(down, across, static_cast<Count>(widest >> halvings));
    if (distance) return distance;
  }
  return std::nullopt;
}

}  // namespace sluice
