#include "worker/providers/retry_hints.hpp"

#include "common/text/text.hpp"
#include "common/text/timestamp.hpp"
#include "worker/defaults.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

namespace sluice {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;
using TimePoint = system_clock::time_point;

/// Reads digits with an optional fraction from the front of `text`, in units of 1e-9: exact where a double
/// would turn 1.1 s into 1101 ms. Saturates far above defaults::max_named_delay.
std::optional<std::int64_t> take_decimal(std::string_view& text) {
  constexpr std::int64_t billion = 1'000'000'000;
  constexpr std::int64_t whole_limit = 9 * billion;
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  std::int64_t whole = 0;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
    whole = std::min(whole * 10 + (text.front() - '0'), whole_limit - 1);
  }
  std::int64_t fraction = 0;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    if (text.empty() || !is_digit(text.front())) return std::nullopt;
    std::int64_t unit = billion / 10;
    bool more = false;
    for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
      fraction += (text.front() - '0') * unit;
      more = more || (unit == 0 && text.front() != '0');
      unit /= 10;
    }
    if (more) ++fraction;
  }
  return whole * billion + fraction;
}

/// Nanoseconds become a delay: rounded up, bounded, and nothing at all if there is nothing to wait for.
std::optional<milliseconds> as_delay(long double nanos) {
  if (!(nanos > 0)) return std::nullopt;
  const long double millis = std::ceil(nanos / 1e6L);
  if (millis >= static_cast<long double>(defaults::max_named_delay.count())) return defaults::max_named_delay;
  return milliseconds(static_cast<std::int64_t>(millis));
}

/// In long doubles, which hold the nanoseconds to any year that a date can name.
template <class Moment>
std::optional<milliseconds> until(Moment then, TimePoint now) {
  using Nanos = std::chrono::duration<long double, std::nano>;
  return as_delay((Nanos(then.time_since_epoch()) - Nanos(now.time_since_epoch())).count());
}

/// A plain decimal number of `unit_nanos` each, and nothing else.
std::optional<long double> whole_number(std::string_view text, long double unit_nanos) {
  const auto value = take_decimal(text);
  if (!value || !text.empty()) return std::nullopt;
  return static_cast<long double>(*value) * unit_nanos / 1e9L;
}

// Of moments in 2001; as delays they would be 31 years.
constexpr double first_second = 1e9;
constexpr double first_millisecond = 1e12;

/// Until a moment that is written as a number since 1970: of seconds, or from 1e12 on of milliseconds.
/// Nothing for a number below `least`.
std::optional<long double> nanos_until_number(std::string_view text, TimePoint now,
                                              double least = first_second) {
  double value = 0;
  const char* const end = text.data() + text.size();
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  const auto read = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (read.ec != std::errc() || read.ptr != end || value < least) return std::nullopt;
  const long double unit = value < first_millisecond ? 1e9L : 1e6L;
  using Nanos = std::chrono::duration<long double, std::nano>;
  return static_cast<long double>(value) * unit - Nanos(now.time_since_epoch()).count();
}

std::optional<int> small_number(std::string_view digits) {
  int value = 0;
  if (digits.empty() || digits.size() > 4 || !std::all_of(digits.begin(), digits.end(), is_digit))
    return std::nullopt;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

/// "hh:mm:ss".
std::optional<std::chrono::seconds> time_of_day(std::string_view text) {
  if (text.size() != 8 || text[2] != ':' || text[5] != ':') return std::nullopt;
  const auto hour = small_number(text.substr(0, 2));
  const auto minute = small_number(text.substr(3, 2));
  const auto second = small_number(text.substr(6, 2));
  if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  return std::chrono::hours(*hour) + std::chrono::minutes(*minute) + std::chrono::seconds(*second);
}

/// Years that nanoseconds since 1970 can hold; any others are no dates to wait for.
std::optional<TimePoint> day_at(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (year < 1900 || year > 2200 || month < 1 || day < 1 || !date.ok()) return std::nullopt;
  return TimePoint(std::chrono::sys_days(date));
}

int month_number(std::string_view word) {
  constexpr std::array<std::string_view, 12> names = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto found = std::find(names.begin(), names.end(), word);
  return found == names.end() ? 0 : static_cast<int>(found - names.begin()) + 1;
}

/// Two-digit years stand in RFC 850 dates only.
int full_year(int year) {
  if (year >= 100) return year;
  return year < 70 ? 2000 + year : 1900 + year;
}

/// Takes "+0300" off the end, which mail has and HTTP should not: how much later the time is there.
std::chrono::minutes take_offset(std::string_view& text) {
  constexpr std::size_t length = 6;
  if (text.size() < length) return {};
  const auto zone = text.substr(text.size() - length);
  const auto hours = small_number(zone.substr(2, 2));
  const auto minutes = small_number(zone.substr(4, 2));
  if (zone[0] != ' ' || (zone[1] != '+' && zone[1] != '-') || !hours || !minutes) return {};
  text.remove_suffix(length);
  const auto offset = std::chrono::hours(*hours) + std::chrono::minutes(*minutes);
  return zone[1] == '+' ? offset : -offset;
}

bool names_utc(std::string_view text) {
  const auto word = to_lower(text);
  return word.empty() || word == "gmt" || word == "utc" || word == "ut" || word == "z";
}

struct UnitLength {
  std::string_view name;
  long double nanos;
};

/// Longer names first where one begins another.
constexpr std::array<UnitLength, 8> units = {{{"ms", 1e6L},
                                              {"us", 1e3L},
                                              {"\xc2\xb5s", 1e3L},
                                              {"ns", 1.0L},
                                              {"s", 1e9L},
                                              {"m", 60e9L},
                                              {"h", 3600e9L},
                                              {"d", 86400e9L}}};

constexpr std::array<std::string_view, 6> limits = {"x-ratelimit-%-requests",
                                                    "x-ratelimit-%-tokens",
                                                    "anthropic-ratelimit-requests-%",
                                                    "anthropic-ratelimit-tokens-%",
                                                    "anthropic-ratelimit-input-tokens-%",
                                                    "anthropic-ratelimit-output-tokens-%"};

const std::string* limit_header(const HttpHeaders& headers, std::string_view limit, std::string_view what) {
  std::string name(limit);
  name.replace(name.find('%'), 1, what);
  return find_header(headers, name);
}

std::optional<milliseconds> until_reset(std::string_view reset, TimePoint now) {
  if (const auto moment = parse_rfc3339(reset)) return until(*moment, now);
  if (const auto nanos = nanos_until_number(reset, now)) return as_delay(*nanos);
  return parse_delay(reset);
}

/// A moment is one of the server's clock, which `date` shows: this machine's may be another. But a proxy may
/// have written that header, or a clock that was never set. Of two delays that they come to the shorter one
/// counts.
template <class Read>
std::optional<milliseconds> by_both_clocks(const HttpHeaders& headers, TimePoint arrived, Read read) {
  const auto here = read(headers, arrived);
  const std::string* date = find_header(headers, "date");
  const auto sent = date == nullptr ? std::nullopt : parse_http_date(*date);
  if (!sent) return here;
  const auto there = read(headers, *sent);
  return here && there ? std::min(here, there) : std::max(here, there);
}

std::optional<milliseconds> named_delay(const HttpHeaders& headers, TimePoint now) {
  if (const std::string* text = find_header(headers, "retry-after-ms")) {
    if (const auto nanos = nanos_until_number(*text, now, first_millisecond)) return as_delay(*nanos);
    if (const auto nanos = whole_number(*text, 1e6L)) return as_delay(*nanos);
  }
  if (const std::string* text = find_header(headers, "retry-after")) {
    if (const auto moment = parse_http_date(*text)) return until(*moment, now);
    return until_reset(*text, now);
  }
  return std::nullopt;
}

bool nothing_remains(const std::string& remaining) {
  return !remaining.empty() && remaining.find_first_not_of('0') == std::string::npos;
}

std::optional<milliseconds> latest_reset(const HttpHeaders& headers, TimePoint now) {
  std::optional<milliseconds> latest;
  for (const std::string_view limit : limits) {
    const std::string* remaining = limit_header(headers, limit, "remaining");
    const std::string* reset = limit_header(headers, limit, "reset");
    if (remaining == nullptr || reset == nullptr || !nothing_remains(*remaining)) continue;
    latest = std::max(latest, until_reset(*reset, now));
  }
  return latest;
}

}  // namespace

std::optional<milliseconds> parse_delay(std::string_view text) {
  if (const auto seconds = whole_number(text, 1e9L)) return as_delay(*seconds);
  long double nanos = 0;
  do {
    const auto value = take_decimal(text);
    if (!value) return std::nullopt;
    const auto unit = std::find_if(units.begin(), units.end(),
                                   [&](const UnitLength& u) { return text.starts_with(u.name); });
    if (unit == units.end()) return std::nullopt;
    text.remove_prefix(unit->name.size());
    nanos += static_cast<long double>(*value) * unit->nanos / 1e9L;
  } while (!text.empty());
  return as_delay(nanos);
}

std::optional<TimePoint> parse_http_date(std::string_view text) {
  std::optional<std::chrono::seconds> time;
  std::optional<int> day;
  std::optional<int> year;
  int month = 0;
  const auto offset = take_offset(text);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" ,-"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.find(':') != std::string_view::npos) {
      time = time_of_day(word);
    } else if (const auto number = small_number(word)) {
      (day ? year : day) = number;
    } else if (const int found = month_number(word); found != 0) {
      month = found;
    } else if (time && !names_utc(word)) {
      return std::nullopt;  // What is "EST" elsewhere?
    }
  }
  if (!time || !day || !year) return std::nullopt;
  const auto date = day_at(full_year(*year), month, *day);
  if (!date) return std::nullopt;
  return *date + *time - offset;
}

std::optional<milliseconds> retry_after(const HttpHeaders& headers, TimePoint arrived) {
  return by_both_clocks(headers, arrived, named_delay);
}

std::optional<milliseconds> limit_reset(const HttpHeaders& headers, TimePoint arrived) {
  return by_both_clocks(headers, arrived, latest_reset);
}

std::optional<bool> should_retry(const HttpHeaders& headers) {
  const std::string* text = find_header(headers, "x-should-retry");
  if (text == nullptr) return std::nullopt;
  if (*text == "true") return true;
  if (*text == "false") return false;
  return std::nullopt;
}

}  // namespace sluice
