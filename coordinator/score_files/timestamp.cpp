#include "coordinator/score_files/timestamp.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace sluice {
namespace {

bool is_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

/// `shape` with a 0 for each digit.
bool has_shape(std::string_view text, std::string_view shape) {
  return std::ranges::equal(
      text, shape, [](char byte, char wanted) { return wanted == '0' ? is_digit(byte) : byte == wanted; });
}

/// REQUIRES: digits.
int number(std::string_view digits) {
  int value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

bool is_date(std::string_view text) {
  if (!has_shape(text, "0000-00-00")) return false;
  const std::chrono::year_month_day date{std::chrono::year(number(text.substr(0, 4))),
                                         std::chrono::month(static_cast<unsigned>(number(text.substr(5, 2)))),
                                         std::chrono::day(static_cast<unsigned>(number(text.substr(8, 2))))};
  return date.ok();
}

bool is_time(std::string_view text) {
  constexpr int leap_second = 60;
  return has_shape(text, "00:00:00") && number(text.substr(0, 2)) <= 23 && number(text.substr(3, 2)) <= 59 &&
         number(text.substr(6, 2)) <= leap_second;
}

bool is_zone(std::string_view text) {
  if (text == "Z" || text == "z") return true;
  return (has_shape(text, "+00:00") || has_shape(text, "-00:00")) && number(text.substr(1, 2)) <= 23 &&
         number(text.substr(4, 2)) <= 59;
}

}  // namespace

bool is_rfc3339(std::string_view text) {
  constexpr std::size_t date_length = 10;
  constexpr std::size_t time_end = 19;
  if (text.size() <= time_end) return false;
  constexpr std::string_view separators = "Tt ";
  if (separators.find(text[date_length]) == std::string_view::npos) return false;
  if (!is_date(text.substr(0, date_length)) || !is_time(text.substr(date_length + 1, 8))) return false;
  std::string_view rest = text.substr(time_end);
  if (rest.front() == '.') {
    rest.remove_prefix(1);
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (digits == 0) return false;
    rest.remove_prefix(digits);
  }
  return is_zone(rest);
}

}  // namespace sluice
