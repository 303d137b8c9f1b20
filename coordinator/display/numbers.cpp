#include "coordinator/display/numbers.hpp"

#include "common/text/text.hpp"
#include "common/text/timestamp.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace sluice::wording {
namespace {

template <class... Arguments>
std::string formatted(const char* format, Arguments... arguments) {
  std::array<char, 96> buffer{};
  const int length = std::snprintf(buffer.data(), buffer.size(), format, arguments...);
  return {buffer.data(), static_cast<std::size_t>(std::max(0, length))};
}

}  // namespace

std::string fixed(double number, int decimals, bool with_sign) {
  return formatted(with_sign ? "%+.*f" : "%.*f", decimals, number);
}

std::string score(const std::optional<double>& score) {
  return score ? fixed(*score, 2) : dash;
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string in_percent(double confidence) {
  return shortest(std::round(confidence * 1e9) / 1e7) + " %";
}

std::string p_value(const std::optional<double>& p) {
  if (!p) return dash;
  return *p < 0.001 ? "< 0.001" : fixed(*p, 3);
}

std::string dollars(double amount) {
  if (amount == 0.0 || amount >= 0.01) return formatted("$%.2f", amount);
  return amount >= 0.0001 ? formatted("$%.4f", amount) : "under $0.0001";
}

std::string counted(std::uint64_t number, std::string_view noun) {
  return grouped(number) + ' ' + std::string(noun) + (number == 1 ? "" : "s");
}

std::string counted_of(std::uint64_t part, std::uint64_t whole, std::string_view noun) {
  if (part == 1 && whole == 1) return "the only " + std::string(noun);
  return grouped(part) + " of " + counted(whole, noun);
}

std::string date(std::int64_t unix_ms) {
  // `2026-02-05T14:30:00.000Z`; years have as many digits as they need.
  std::string text = rfc3339(unix_ms);
  text.replace(text.find('T'), 1, " ");
  return text.substr(0, text.rfind('.')) + " UTC";
}

std::string rfc3339(std::int64_t unix_ms) {
  return sluice::rfc3339(
      std::chrono::sys_time<std::chrono::milliseconds>{std::chrono::milliseconds(unix_ms)});
}

std::string duration(double seconds) {
  if (seconds < 59.95) return formatted("%.1f s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 3600) return formatted("%lld min %02lld s", whole / 60, whole % 60);
  return formatted("%lld h %02lld min", whole / 3600, whole % 3600 / 60);
}

std::string seconds(double seconds) {
  return fixed(seconds, 3);
}

}  // namespace sluice::wording
