#include "coordinator/import/pattern_piece.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice {
namespace {

/// Two pieces side by side may find one half each. RE2 finds the same if one of them can do without its half
/// and the other take both.
bool share_halves(HalfFinders left, HalfFinders right) {
  return left != 0 && right != 0 && (((left | right) & finds_one) != 0 || (left & right & finds_some) != 0);
}

}  // namespace

PatternPiece unit_piece(std::string text) {
  return {.text = text, .beside_any = text, .is_unit = true};
}

PatternPiece half_finder(std::string text, std::string beside_any) {
  return {.text = std::move(text),
          .beside_any = std::move(beside_any),
          .first = finds_one,
          .last = finds_one,
          .finders = 1,
          .is_unit = true};
}

PatternPiece all_but(std::string_view characters) {
  const std::string start = "[^" + std::string(characters);
  return half_finder(start + std::string(long_characters) + ']', start + ']');
}

PatternPiece everything_piece(bool is_negated) {
  return is_negated ? unit_piece(R"([^\s\S])") : half_finder(all_but("").text, R"([\s\S])");
}

PatternPiece joined_pieces(const std::vector<PatternPiece>& pieces, bool& counts_halves) {
  PatternPiece whole{.may_be_empty = true};
  const auto is_there = [](const PatternPiece& piece) { return !piece.may_be_empty; };
  const auto last_there = std::find_if(pieces.rbegin(), pieces.rend(), is_there);
  std::ptrdiff_t before_end = std::distance(last_there, pieces.rend()) - 1;
  for (const PatternPiece& piece : pieces) {
    counts_halves = counts_halves || share_halves(whole.last, piece.first);
    if (whole.may_be_empty) whole.first |= piece.first;
    whole.last = piece.last | (piece.may_be_empty ? whole.last : 0);
    whole.finders += piece.finders;
    whole.may_be_empty = whole.may_be_empty && piece.may_be_empty;
    whole.text += piece.text;
    whole.beside_any += before_end-- > 0 ? piece.text : piece.beside_any;
  }
  return whole;
}

void add_alternative(PatternPiece& piece, const PatternPiece& other) {
  piece.text += '|' + other.text;
  piece.beside_any += '|' + other.beside_any;
  piece.first |= other.first;
  piece.last |= other.last;
  piece.finders += other.finders;
  piece.may_be_empty = piece.may_be_empty || other.may_be_empty;
  piece.is_unit = piece.is_unit && other.is_unit;
}

void repeat_piece(PatternPiece& piece, const Repetition& count, bool& counts_halves) {
  const bool is_loop = count.most != 1u;
  if (piece.is_long) {
    // The quantifier is that of the second half.
    counts_halves = counts_halves || is_loop || count.least == 0;
  } else if (is_loop && piece.is_unit && piece.first != 0) {
    counts_halves = counts_halves || count.most || count.least > 1;
    piece.text = piece.beside_any;
    piece.first = piece.last = count.least == 0 ? finds_any : finds_some;
  } else if (is_loop && !piece.is_unit) {
    // Two rounds that share halves may be one.
    const bool may_be_fewer = piece.finders == 1 && count.least <= 1;
    counts_halves = counts_halves || ((piece.first | piece.last) & finds_one) != 0 ||
                    (share_halves(piece.last, piece.first) && !may_be_fewer);
  }
  piece.text += count.text;
  piece.beside_any += count.text;
  piece.may_be_empty = piece.may_be_empty || count.least == 0;
  piece.is_unit = piece.is_long = false;
}

}  // namespace sluice
