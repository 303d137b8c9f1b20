#include "coordinator/suite/documents/yaml_scalar.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace sluice {
namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

std::size_t skip_sign(std::string_view text, std::size_t at) {
  return at < text.size() && (text[at] == '+' || text[at] == '-') ? at + 1 : at;
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
bool is_decimal(std::string_view text) {
  const std::size_t begin = skip_sign(text, 0);
  std::size_t at = skip_digits(text, begin);
  const bool has_whole = at > begin;
  if (at < text.size() && text[at] == '.') {
    const std::size_t end = skip_digits(text, at + 1);
    if (!has_whole && end == at + 1) return false;
    at = end;
  } else if (!has_whole) {
    return false;
  }
  if (at == text.size()) return true;
  if (text[at] != 'e' && text[at] != 'E') return false;
  const std::size_t exponent = skip_sign(text, at + 1);
  return exponent < text.size() && skip_digits(text, exponent) == text.size();
}

std::optional<std::int64_t> whole_number(std::string_view text, int base) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

double real_number(std::string_view text) {
  double number = 0.0;
  const auto error = std::from_chars(text.data(), text.data() + text.size(), number).ec;
  if (error != std::errc::result_out_of_range) return number;
  // Too large and too small look alike; only a negative exponent makes a number small.
  const auto exponent = text.find_first_of("eE");
  const bool tiny = exponent != std::string_view::npos && text.find('-', exponent) != std::string_view::npos;
  return tiny ? 0.0 : std::numeric_limits<double>::infinity();
}

constexpr std::string_view white_space = " \t\n";

/// Of the escape with which the text begins; 0 if it begins with none. An escaped line end counts as one of
/// the line ends behind it.
std::size_t escape_length(std::string_view text, char quote) {
  if (quote == '\'') return text.starts_with("''") ? 2 : 0;
  if (!text.starts_with('\\')) return 0;
  switch (text.size() > 1 ? text[1] : '\0') {
    case '\n':
      return 1;
    case 'x':
      return 4;
    case 'u':
      return 6;
    case 'U':
      return 10;
    default:
      return 2;
  }
}

}  // namespace

decltype(DocumentNode::value) resolve_plain_scalar(std::string_view text) {
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return DocumentNull{};
  if (is_one_of(text, {"true", "True", "TRUE"})) return true;
  if (is_one_of(text, {"false", "False", "FALSE"})) return false;
  if (is_one_of(text.substr(skip_sign(text, 0)), {".inf", ".Inf", ".INF"})) {
    const double infinity = std::numeric_limits<double>::infinity();
    return text.front() == '-' ? -infinity : infinity;
  }
  if (is_one_of(text, {".nan", ".NaN", ".NAN"})) return std::numeric_limits<double>::quiet_NaN();
  if (text.starts_with("0x") || text.starts_with("0o")) {
    const auto number = whole_number(text.substr(2), text[1] == 'x' ? 16 : 8);
    if (number && text[2] != '-') return *number;
    return std::string(text);
  }
  if (!is_decimal(text)) return std::string(text);
  const std::string_view unsigned_text = text.front() == '+' ? text.substr(1) : text;
  if (const auto number = whole_number(unsigned_text, 10)) return *number;
  return real_number(unsigned_text);
}

std::optional<std::string> with_whole_characters(std::string text) {
  std::string whole;
  std::string_view rest = text;
  while (const auto alone = invalid_utf8_at(rest)) {
    // All else is whole characters, so such a byte is no part of another.
    const char byte = rest[*alone];
    if (byte != '\x85' && byte != '\xa0') return std::nullopt;
    whole.append(rest.substr(0, *alone)).append({'\xc2', byte});
    rest.remove_prefix(*alone + 1);
  }
  return whole.empty() ? std::move(text) : whole.append(rest);
}

std::size_t begin_of_scalar(std::string_view text, std::size_t at) {
  const auto is_at = [&](char c) { return at < text.size() && text[at] == c; };
  while (is_at('&') || is_at('!') || is_at('#')) {
    if (text.substr(at).starts_with("!<")) at = std::min(text.find('>', at), text.size());
    at = std::min(text.find_first_of(is_at('#') ? "\n" : " \t\n,]}", at), text.size());
    at = text.find_first_not_of(white_space, at);
  }
  return std::min(at, text.size());
}

std::string folded_text(std::string_view literal) {
  std::string text;
  bool is_indented = false;  // The last line: it stands alone, as does one that follows it.
  for (std::size_t at = 0; at < literal.size();) {
    const std::size_t begin = std::min(literal.find_first_not_of('\n', at), literal.size());
    const std::size_t end = std::min(literal.find('\n', begin), literal.size());
    const std::size_t line_ends = begin - at;
    const bool is_last = begin == end;
    const bool was_indented =
        std::exchange(is_indented, !is_last && (literal[begin] == ' ' || literal[begin] == '\t'));
    if (text.empty() || is_last || was_indented || is_indented)
      text.append(line_ends, '\n');
    else
      line_ends == 1 ? text += ' ' : text.append(line_ends - 1, '\n');
    text += literal.substr(begin, end - begin);
    at = end;
  }
  return text;
}

std::optional<std::size_t> lost_line_ends(std::string_view text) {
  const char quote = text.front();
  std::size_t at = 1;
  std::size_t behind = 1;  // All that is no white space.
  bool is_escape = false;  // What stands before that.
  while (true) {
    if (at >= text.size()) return std::nullopt;
    const std::string_view rest = text.substr(at);
    const std::size_t escape = escape_length(rest, quote);
    if (rest.front() == quote && escape == 0) break;
    at += std::max<std::size_t>(escape, 1);
    if (escape == 0 && white_space.find(rest.front()) != white_space.npos) continue;
    behind = at;
    is_escape = escape > 0;
  }
  const auto line_ends = std::ranges::count(text.substr(behind, at - behind), '\n');
  const std::ptrdiff_t meant = std::max<std::ptrdiff_t>(line_ends - 1, 0);  // The first is folded.
  const std::ptrdiff_t kept = behind == 1 ? 0 : is_escape ? 2 : 1;
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(meant - kept, 0));
}

bool is_older_number(std::string_view text) {
  std::string digits(text.substr(skip_sign(text, 0)));
  if (digits.empty() || !is_digit(digits.front()) || digits.back() == '_') return false;
  std::erase(digits, '_');
  if (digits.starts_with("0b")) return digits.size() > 2 && digits.find_first_not_of("01", 2) == digits.npos;
  return digits != text && !std::holds_alternative<std::string>(resolve_plain_scalar(digits));
}

}  // namespace sluice
