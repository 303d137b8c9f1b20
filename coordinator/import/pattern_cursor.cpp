#include "coordinator/import/pattern_cursor.hpp"

#include "common/text/printable.hpp"
#include "common/text/text.hpp"
#include "coordinator/suite/expectations/foreign_check.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace sluice {
namespace {

/// What is no blank of `\s`, no digit of `\d` and no letter of `\w`, up to U+FFFF.
constexpr std::string_view short_non_blanks =
    R"(\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e})"
    R"(\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{ffff})";
constexpr std::string_view short_non_digits = R"(\x{0}-/:-\x{ffff})";
constexpr std::string_view short_non_letters = R"(\x{0}-/:-@\[-\^\x60{-\x{ffff})";

PatternCharacter numbered(std::uint32_t code) {
  std::array<char, 8> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), code, 16).ptr;
  return {code, "\\x{" + std::string(digits.data(), end) + '}'};
}

}  // namespace

bool PatternCursor::take(std::string_view start) {
  if (!rest().starts_with(start)) return false;
  skip(start.size());
  return true;
}

void PatternCursor::stop_unread() {
  is_unread_ = is_unread_ || unsaid_.empty();
  at_ = text_.size();
}

void PatternCursor::stop_unsaid(std::string why) {
  if (!is_unread_ && unsaid_.empty()) unsaid_ = std::move(why);
  at_ = text_.size();
}

void PatternCursor::stop_at_half() {
  stop_unsaid(
      "looks for a half of a character beyond U+FFFF, which RE2 does not find: write it as a check "
      "javascript, `/.../u.test(output)`");
}

std::optional<std::uint32_t> PatternCursor::take_number() {
  constexpr std::uint32_t most = 1'000'000;
  if (!is_digit(next())) return std::nullopt;
  std::uint32_t value = 0;
  for (; is_digit(next()); skip(1))
    value = std::min(most, value * 10 + static_cast<std::uint32_t>(next() - '0'));
  return value;
}

std::optional<Repetition> PatternCursor::take_repetition() {
  std::optional<Repetition> count;
  if (take("*")) {
    count = Repetition{0, std::nullopt, "*"};
  } else if (take("+")) {
    count = Repetition{1, std::nullopt, "+"};
  } else if (take("?")) {
    count = Repetition{0, 1, "?"};
  } else {
    count = count_in_braces();
  }
  if (count && take("?")) count->text += '?';
  return count;
}

/// `{2}`, `{2,}` or `{2,3}`.
std::optional<Repetition> PatternCursor::count_in_braces() {
  const std::size_t start = at_;
  const auto least = take("{") ? take_number() : std::nullopt;
  const bool has_comma = least && take(",");
  const auto most = has_comma ? take_number() : least;
  if (!least || !take("}")) {
    at_ = start;
    return std::nullopt;
  }
  if (most && *most < *least) stop_unread();
  // RE2 takes no zero before a number.
  std::string text = '{' + std::to_string(*least);
  if (has_comma) text += ',' + (most ? std::to_string(*most) : std::string());
  return Repetition{*least, most, text + '}'};
}

std::optional<PatternCharacter> PatternCursor::take_set() {
  const char set = next(1);
  if (next() != '\\' || !has_next(1) || std::string_view("dwsDWS").find(set) == std::string_view::npos)
    return std::nullopt;
  skip(2);
  const std::string written{'\\', set};
  switch (set) {
    case 's': {
      const std::string blanks(foreign_space.substr(1, foreign_space.size() - 2));
      return PatternCharacter{0, blanks, set, blanks};
    }
    case 'S':
      return PatternCharacter{0, std::string(short_non_blanks) + std::string(long_characters), set,
                              std::string(short_non_blanks)};
    case 'D':
      return PatternCharacter{0, written, set, std::string(short_non_digits)};
    case 'W':
      return PatternCharacter{0, written, set, std::string(short_non_letters)};
    default:
      return PatternCharacter{0, written, set, written};
  }
}

PatternCharacter PatternCursor::take_character() {
  const Character found = first_character(rest());
  skip(found.bytes.size());
  return {found.code, std::string(found.bytes)};
}

PatternCharacter PatternCursor::take_escaped(bool is_in_class) {
  constexpr std::string_view controls = "t\tn\nv\vf\fr\r";
  skip(1);
  if (!has_next()) {
    stop_unread();
    return {};
  }
  const char kind = next();
  if (const auto found = controls.find(kind); is_ascii_letter(kind) && found != controls.npos) {
    skip(1);
    return {static_cast<std::uint32_t>(controls[found + 1]), {'\\', kind}};
  }
  if (kind >= '0' && kind <= '7') return numbered(octal());
  if (kind == 'c') return control(is_in_class);
  if (const auto code = hexadecimal(1, 2); kind == 'x' && code) {
    PatternCharacter character{*code, '\\' + std::string(rest().substr(0, 3))};
    skip(3);
    return character;
  }
  if (const auto code = hexadecimal(1, 4); kind == 'u' && code) return numbered(joined_halves(*code));
  return itself();
}

/// Up to three digits, up to 377.
std::uint32_t PatternCursor::octal() {
  constexpr std::uint32_t most = 0377;
  std::uint32_t code = 0;
  for (std::size_t i = 0; i < 3 && next() >= '0' && next() <= '7'; ++i) {
    const std::uint32_t with_next = code * 8 + static_cast<std::uint32_t>(next() - '0');
    if (with_next > most) break;
    code = with_next;
    skip(1);
  }
  return code;
}

/// `\cA`. Without a letter behind it the backslash is itself.
PatternCharacter PatternCursor::control(bool is_in_class) {
  const char letter = next(1);
  const bool is_control = is_ascii_letter(letter) || (is_in_class && (is_digit(letter) || letter == '_'));
  if (!is_control) return {'\\', "\\\\"};
  skip(2);
  return numbered(static_cast<std::uint32_t>(letter) % 32);
}

std::optional<std::uint32_t> PatternCursor::hexadecimal(std::size_t offset, std::size_t digits) const {
  if (!has_next(offset)) return std::nullopt;
  const std::string_view number = rest().substr(offset, digits);
  const char* const end = number.data() + number.size();
  std::uint32_t code = 0;
  const auto read = std::from_chars(number.data(), end, code, 16);
  return number.size() == digits && read.ptr == end ? std::optional(code) : std::nullopt;
}

/// Takes `ud83d`, and the second half behind it: both are one character.
std::uint32_t PatternCursor::joined_halves(std::uint32_t code) {
  skip(5);
  if (!is_half(code) || code >= first_second_half || !rest().starts_with("\\u")) return code;
  const auto second = hexadecimal(2, 4);
  if (!second || *second < first_second_half || *second > last_half) return code;
  skip(6);
  return last_short_character + 1 + ((code - first_half) << 10) + (*second - first_second_half);
}

PatternCharacter PatternCursor::itself() {
  PatternCharacter found = take_character();
  const char first = found.text.front();
  // Behind a brace a digit would count what stands before that.
  if (is_digit(first)) return numbered(found.code);
  if (found.code < 0x80 && !is_ascii_letter(first)) found.text.insert(0, "\\");
  return found;
}

}  // namespace sluice
