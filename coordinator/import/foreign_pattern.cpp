#include "coordinator/import/foreign_pattern.hpp"

#include "common/text/text.hpp"
#include "coordinator/import/defaults.hpp"
#include "coordinator/import/pattern_cursor.hpp"
#include "coordinator/import/pattern_piece.hpp"
#include "coordinator/suite/expectations/foreign_check.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace sluice {
namespace {

constexpr std::string_view unread_pattern =
    "has a pattern that JavaScript does not read, or in few versions: there no answer passes, and here it is "
    "read as RE2 does";
constexpr std::string_view counted_halves =
    "takes a character beyond U+FFFF, such as most emoji, for one, and there it is two";

class PatternTranslator {
 public:
  explicit PatternTranslator(std::string_view pattern) : source_(pattern), cursor_(pattern) {
    count_groups();
  }

  tl::expected<TranslatedPattern, std::string> translate() {
    constexpr std::string_view flag = "(?i)";
    const bool has_flag = cursor_.take(flag);
    const PatternPiece whole = alternatives(true);
    if (cursor_.has_next()) cursor_.stop_unread();
    if (cursor_.is_unread()) return TranslatedPattern{std::string(source_), std::string(unread_pattern)};
    if (!cursor_.unsaid().empty()) return tl::unexpected(cursor_.unsaid());
    if (has_flag) return TranslatedPattern{std::string(flag) + whole.beside_any, std::string(unread_pattern)};
    return TranslatedPattern{whole.beside_any, std::string(counts_halves_ ? counted_halves : "")};
  }

 private:
  /// A number behind a backslash refers to a group that there is, `\k` to a name if there are any.
  void count_groups() {
    bool is_in_class = false;
    for (std::size_t i = 0; i < source_.size(); ++i) {
      const std::string_view rest = source_.substr(i);
      const bool is_group = !is_in_class && rest.starts_with('(');
      const char behind_sign = rest.size() > 3 ? rest[3] : '=';
      const bool is_named = is_group && rest.starts_with("(?<") && behind_sign != '=' && behind_sign != '!';
      has_names_ = has_names_ || is_named;
      if (is_named || (is_group && !rest.starts_with("(?"))) ++groups_;
      if (rest.starts_with('[')) is_in_class = true;
      if (rest.starts_with(']')) is_in_class = false;
      if (rest.starts_with('\\')) ++i;
    }
  }

  PatternPiece stop_unread() {
    cursor_.stop_unread();
    return {};
  }

  PatternPiece stop_at_reference(std::string_view what) {
    cursor_.stop_unsaid(
        "cannot be said: its pattern has \"" + std::string(what) +
        "\", and RE2 has no look-arounds and no back-references: write what must not be found "
        "as not-regex, or the pattern as a check javascript, `/.../.test(output)`");
    return {};
  }

  /// `at_start`: any text may come before.
  PatternPiece alternatives(bool at_start) {
    if (++depth_ > defaults::max_pattern_depth) {
      cursor_.stop_unsaid("has groups within each other that are too deep");
      return {};
    }
    PatternPiece whole = row(at_start);
    while (cursor_.take("|")) add_alternative(whole, row(at_start));
    --depth_;
    return whole;
  }

  PatternPiece row(bool at_start) {
    std::vector<PatternPiece> pieces;
    while (cursor_.has_next() && cursor_.next() != '|' && cursor_.next() != ')') {
      pieces.push_back(piece(at_start));
      at_start = at_start && pieces.back().may_be_empty;
    }
    if (pieces.size() != 1) return joined_pieces(pieces, counts_halves_);
    pieces.front().is_long = false;
    return std::move(pieces.front());
  }

  PatternPiece piece(bool at_start) {
    for (const std::string_view place : {"^", "$", "\\b", "\\B"}) {
      if (!cursor_.take(place)) continue;
      if (cursor_.take_repetition()) return stop_unread();
      PatternPiece piece{.text = std::string(place), .beside_any = std::string(place)};
      if (place != "\\B") return piece;
      piece.first = piece.last = finds_one;  // It is between two halves, too.
      piece.may_be_empty = true;
      return piece;
    }
    PatternPiece piece = cursor_.next() == '(' ? group(at_start) : character();
    if (at_start && piece.is_unit) piece.text = piece.beside_any;
    if (const auto count = cursor_.take_repetition()) repeat_piece(piece, *count, counts_halves_);
    return piece;
  }

  PatternPiece group(bool at_start) {
    for (const std::string_view around : {"(?=", "(?!", "(?<=", "(?<!"}) {
      if (cursor_.rest().starts_with(around)) return stop_at_reference(around);
    }
    const auto opening = take_opening();
    if (!opening) return stop_unread();
    PatternPiece piece = alternatives(at_start);
    if (!cursor_.take(")")) return stop_unread();
    piece.text = *opening + piece.text + ')';
    piece.beside_any = *opening + piece.beside_any + ')';
    return piece;
  }

  /// A name that RE2 does not take is left out: nothing refers to it.
  std::optional<std::string> take_opening() {
    if (cursor_.take("(?:")) return "(?:";
    if (!cursor_.rest().starts_with("(?")) {
      cursor_.skip(1);
      return "(";
    }
    if (!cursor_.take("(?<")) return std::nullopt;
    const std::string name(cursor_.rest().substr(0, cursor_.rest().find('>')));
    const auto is_plain = [](char c) { return is_ascii_letter(c) || is_digit(c) || c == '_'; };
    const auto may_stand = [&](char c) { return is_plain(c) || c == '$' || c == '\\' || (c & 0x80) != 0; };
    cursor_.skip(name.size());
    const bool is_name = !name.empty() && !is_digit(name.front()) && std::ranges::all_of(name, may_stand);
    if (!cursor_.take(">") || !is_name) return std::nullopt;
    return std::ranges::all_of(name, is_plain) ? "(?<" + name + ">" : "(";
  }

  PatternPiece character() {
    if (cursor_.next() == '[') return char_class();
    if (cursor_.next() == '\\') return escape();
    if (cursor_.take_repetition()) return stop_unread();
    if (cursor_.take(".")) return all_but(R"(\n\r\x{2028}\x{2029})");
    return piece_of(cursor_.take_character());
  }

  static PatternPiece piece_of(PatternCharacter character) {
    PatternPiece piece = unit_piece(std::move(character.text));
    piece.is_long = character.code > last_short_character;
    piece.is_unit = !piece.is_long;
    return piece;
  }

  PatternPiece escape() {
    if (const auto set = cursor_.take_set()) return piece_of_set(*set);
    if (cursor_.rest().starts_with("\\k") && has_names_) return stop_at_reference("\\k");
    if (refers_to_group()) return stop_at_reference("\\" + std::string(1, cursor_.next(1)));
    PatternCharacter found = cursor_.take_escaped(false);
    if (is_half(found.code)) cursor_.stop_at_half();
    return piece_of(std::move(found));
  }

  static PatternPiece piece_of_set(const PatternCharacter& set) {
    switch (set.set) {
      case 'S':
        return all_but(foreign_space.substr(1, foreign_space.size() - 2));
      case 'D':
        return half_finder(all_but("\\d").text, set.text);
      case 'W':
        return half_finder(all_but("\\w").text, set.text);
      case 's':
        return unit_piece(std::string(foreign_space));
      default:
        return unit_piece(set.text);
    }
  }

  bool refers_to_group() const {
    PatternCursor ahead = cursor_;
    ahead.skip(1);
    if (ahead.next() == '0') return false;
    const auto group = ahead.take_number();
    return group && *group <= groups_;
  }

  /// What has been read of a class.
  struct ClassMembers {
    std::string text{};
    std::string without_long{};
    std::string sets{};
    bool has_halves = false;  ///< All of them, by a range.
  };

  PatternPiece char_class() {
    cursor_.take("[");
    const bool is_negated = cursor_.take("^");
    ClassMembers members;
    while (!cursor_.take("]")) {
      if (!cursor_.has_next()) return stop_unread();
      read_members(members);
    }
    const auto has = [&](char set) { return members.sets.find(set) != std::string::npos; };
    const bool is_empty = members.text.empty();
    const bool has_all = (has('s') && has('S')) || (has('d') && has('D')) || (has('w') && has('W'));
    if (is_empty || has_all) return everything_piece(is_negated != is_empty);
    const bool has_set = has('S') || has('D') || has('W');
    if (members.has_halves && !has_set) members.text += long_characters;
    if (is_negated && !members.has_halves && !has_set) return all_but(members.text);
    const std::string start = is_negated ? "[^" : "[";
    if (is_negated || (!members.has_halves && !has_set)) return unit_piece(start + members.text + ']');
    return half_finder(start + members.without_long + ']', start + members.text + ']');
  }

  /// A member or a range; what looks like a range of a set is no range.
  void read_members(ClassMembers& members) {
    const PatternCharacter first = class_member(members.text.empty(), members);
    const bool has_sign = cursor_.next() == '-' && cursor_.has_next(1) && cursor_.next(1) != ']';
    if (!has_sign) return add_member(first, members);
    cursor_.skip(1);
    const PatternCharacter last = class_member(false, members);
    if (first.set == '\0' && last.set == '\0') return add_range(first, last, members);
    add_member(first, members);
    add_text("\\-", members);
    add_member(last, members);
  }

  PatternCharacter class_member(bool is_first, ClassMembers& members) {
    if (auto set = cursor_.take_set()) {
      members.sets += set->set;
      return std::move(*set);
    }
    if (cursor_.take("\\b")) return {'\b', "\\x08"};
    if (cursor_.next() == '\\') return cursor_.take_escaped(true);
    PatternCharacter found = cursor_.take_character();
    const bool may_be_range = found.text == "-" && !is_first && cursor_.next() != ']';
    if (found.text == "[" || found.text == "^" || may_be_range) found.text.insert(0, "\\");
    return found;
  }

  void add_range(const PatternCharacter& first, const PatternCharacter& last, ClassMembers& members) {
    const bool has_long = first.code > last_short_character || last.code > last_short_character;
    const bool has_halves = first.code <= last_half && last.code >= first_half;
    const bool has_all_halves = first.code <= first_half && last.code >= last_half;
    if (has_long || (has_halves && !has_all_halves)) return cursor_.stop_at_half();
    if (first.code > last.code) return cursor_.stop_unread();
    members.has_halves = members.has_halves || has_all_halves;
    add_text(first.text + '-' + last.text, members);
  }

  void add_member(const PatternCharacter& one, ClassMembers& members) {
    if (one.set == '\0') {
      if (is_half(one.code)) return cursor_.stop_at_half();
      // Each of its halves is a member there.
      counts_halves_ = counts_halves_ || one.code > last_short_character;
      return add_text(one.text, members);
    }
    members.text += one.text;
    members.without_long += one.without_long;
  }

  static void add_text(const std::string& text, ClassMembers& members) {
    members.text += text;
    members.without_long += text;
  }

  std::string_view source_;
  PatternCursor cursor_;
  std::size_t depth_ = 0;
  std::size_t groups_ = 0;
  bool has_names_ = false;
  bool counts_halves_ = false;
};

}  // namespace

tl::expected<TranslatedPattern, std::string> translate_pattern(std::string_view pattern) {
  return PatternTranslator(pattern).translate();
}

}  // namespace sluice
