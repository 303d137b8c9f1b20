#include "coordinator/suite/documents/yaml_scalar.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace sluice {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& words) {
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

}  // namespace

decltype(DocumentNode::value) resolve_plain_scalar(std::string_view text) {
  static constexpr std::array<std::string_view, 5> nulls{"", "~", "null", "Null", "NULL"};
  static constexpr std::array<std::string_view, 3> trues{"true", "True", "TRUE"};
  static constexpr std::array<std::string_view, 3> falses{"false", "False", "FALSE"};
  static constexpr std::array<std::string_view, 3> infinities{".inf", ".Inf", ".INF"};
  static constexpr std::array<std::string_view, 3> nans{".nan", ".NaN", ".NAN"};
  if (is_one_of(text, nulls)) return DocumentNull{};
  if (is_one_of(text, trues)) return true;
  if (is_one_of(text, falses)) return false;
  if (is_one_of(text.substr(skip_sign(text, 0)), infinities)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return text.front() == '-' ? -infinity : infinity;
  }
  if (is_one_of(text, nans)) return std::numeric_limits<double>::quiet_NaN();
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

bool is_older_number(std::string_view text) {
  std::string digits(text.substr(skip_sign(text, 0)));
  if (digits.empty() || !is_digit(digits.front()) || digits.back() == '_') return false;
  std::erase(digits, '_');
  if (digits.starts_with("0b")) return digits.size() > 2 && digits.find_first_not_of("01", 2) == digits.npos;
  return digits != text && !std::holds_alternative<std::string>(resolve_plain_scalar(digits));
}

}  // namespace sluice
