#include "common/text/timestamp.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace sluice {
namespace {

using std::chrono::milliseconds;

/// `shape` with a 0 for each digit.
bool has_shape(std::string_view text, std::string_view shape) {
  return std::ranges::equal(text, shape, [](char byte, char wanted) {
    return wanted == '0' ? byte >= '0' && byte <= '9' : byte == wanted;
  });
}

/// REQUIRES: digits.
int number(std::string_view digits) {
  int value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::optional<std::chrono::sys_days> date_of(std::string_view text) {
  if (!has_shape(text, "0000-00-00")) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(number(text.substr(0, 4))),
                                         std::chrono::month(static_cast<unsigned>(number(text.substr(5, 2)))),
                                         std::chrono::day(static_cast<unsigned>(number(text.substr(8, 2))))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date);
}

std::optional<std::chrono::seconds> time_of(std::string_view text) {
  constexpr int leap_second = 60;
  if (!has_shape(text, "00:00:00")) return std::nullopt;
  const int hour = number(text.substr(0, 2));
  const int minute = number(text.substr(3, 2));
  const int second = number(text.substr(6, 2));
  if (hour > 23 || minute > 59 || second > leap_second) return std::nullopt;
  return std::chrono::hours(hour) + std::chrono::minutes(minute) + std::chrono::seconds(second);
}

std::optional<std::chrono::minutes> offset_of(std::string_view zone) {
  if (zone == "Z" || zone == "z") return std::chrono::minutes(0);
  if (!has_shape(zone, "+00:00") && !has_shape(zone, "-00:00")) return std::nullopt;
  const int hours = number(zone.substr(1, 2));
  const int minutes = number(zone.substr(4, 2));
  if (hours > 23 || minutes > 59) return std::nullopt;
  const std::chrono::minutes offset = std::chrono::hours(hours) + std::chrono::minutes(minutes);
  return zone.front() == '-' ? -offset : offset;
}

/// REQUIRES: digits.
milliseconds fraction_of(std::string_view digits) {
  int value = 0;
  for (std::size_t i = 0; i < 3; ++i) value = value * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  const bool more = digits.find_first_not_of('0', 3) != std::string_view::npos;
  return milliseconds(value + (more ? 1 : 0));
}

}  // namespace

std::optional<std::chrono::sys_time<milliseconds>> parse_rfc3339(std::string_view text) {
  constexpr std::size_t date_length = 10;
  constexpr std::size_t time_end = 19;
  if (text.size() <= time_end) return std::nullopt;
  constexpr std::string_view separators = "Tt ";
  if (separators.find(text[date_length]) == std::string_view::npos) return std::nullopt;
  const auto date = date_of(text.substr(0, date_length));
  const auto time = time_of(text.substr(date_length + 1, time_end - date_length - 1));
  if (!date || !time) return std::nullopt;
  std::chrono::sys_time<milliseconds> moment = *date + *time;
  std::string_view rest = text.substr(time_end);
  if (rest.front() == '.') {
    rest.remove_prefix(1);
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (digits == 0) return std::nullopt;
    moment += fraction_of(rest.substr(0, digits));
    rest.remove_prefix(digits);
  }
  const auto offset = offset_of(rest);
  if (!offset) return std::nullopt;
  return moment - *offset;
}

std::string rfc3339(std::chrono::sys_time<milliseconds> time) {
  const auto midnight = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(midnight);
  const std::chrono::hh_mm_ss<milliseconds> clock(time - midnight);
  std::array<char, 64> buffer{};
  const int length =
      std::snprintf(buffer.data(), buffer.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", int(date.year()),
                    unsigned(date.month()), unsigned(date.day()), static_cast<int>(clock.hours().count()),
                    static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
                    static_cast<int>(clock.subseconds().count()));
  return {buffer.data(), static_cast<std::size_t>(std::max(0, length))};
}

}  // namespace sluice
