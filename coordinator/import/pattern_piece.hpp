#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a pattern of JavaScript consists of, as RE2 has it. To JavaScript a long character, beyond U+FFFF, is
/// two code units: its halves, which it finds one by one, and RE2 both together or not at all.
namespace sluice {

/// All long characters, in a class.
inline constexpr std::string_view long_characters = R"(\x{10000}-\x{10ffff})";
inline constexpr std::uint32_t last_short_character = 0xffff;
inline constexpr std::uint32_t first_half = 0xd800;
inline constexpr std::uint32_t first_second_half = 0xdc00;
inline constexpr std::uint32_t last_half = 0xdfff;

constexpr bool is_half(std::uint32_t code) {
  return code >= first_half && code <= last_half;
}

/// How many halves the pieces at an end may find: one, at least one, any number. A set of bits.
using HalfFinders = unsigned;
inline constexpr HalfFinders finds_one = 1;
inline constexpr HalfFinders finds_some = 2;
inline constexpr HalfFinders finds_any = 4;

struct PatternPiece {
  std::string text{};        ///< A unit finds no long character here: its neighbours find none of the halves.
  std::string beside_any{};  ///< Where any text follows it does, since that has the other half.
  HalfFinders first{};
  HalfFinders last{};
  std::size_t finders = 0;  ///< Of halves, in all of it.
  bool may_be_empty = false;
  bool is_unit = false;  ///< Finds one code unit.
  bool is_long = false;  ///< Finds one long character.
};

/// A quantifier.
struct Repetition {
  std::uint32_t least = 0;
  std::optional<std::uint32_t> most{};
  std::string text{};
};

/// Of a unit that finds no halves.
PatternPiece unit_piece(std::string text);
/// Of one that finds each half.
PatternPiece half_finder(std::string text, std::string beside_any);
/// The same of a class of all but these.
PatternPiece all_but(std::string_view characters);
/// A class of everything, or of nothing.
PatternPiece everything_piece(bool is_negated);

/// These find what RE2 finds, unless `counts_halves` is set: then other texts, if they have long characters.
PatternPiece joined_pieces(const std::vector<PatternPiece>& pieces, bool& counts_halves);
void add_alternative(PatternPiece& piece, const PatternPiece& other);
void repeat_piece(PatternPiece& piece, const Repetition& count, bool& counts_halves);

}  // namespace sluice
