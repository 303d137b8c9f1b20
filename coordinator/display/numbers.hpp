#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Numbers and times as people are shown them.
namespace sluice::wording {

inline constexpr const char* dash = "–";  ///< Where there is no number.

std::string fixed(double number, int decimals, bool with_sign = false);  ///< `0.870`, `+0.870`
std::string score(const std::optional<double>& score);                   ///< `0.87`; an en dash if undefined.
std::string grouped(std::uint64_t number);                               ///< `125,430`
/// `95 %`, `99.9 %`: with as many digits as it has, since 0.999 is not certain.
std::string in_percent(double confidence);
/// `0.031`; `< 0.001`; a dash if there was no test.
std::string p_value(const std::optional<double>& p);
std::string dollars(double amount);  ///< `$0.12`; small amounts with more digits.
std::string counted(std::uint64_t number, std::string_view noun);  ///< `1 fixture`, `2 fixtures`
/// `1 of 2 fixtures`; `the only fixture` where there is no other.
std::string counted_of(std::uint64_t part, std::uint64_t whole, std::string_view noun);
std::string date(std::int64_t unix_ms);     ///< `2026-02-05 14:30:00 UTC`
std::string rfc3339(std::int64_t unix_ms);  ///< `2026-02-05T14:30:00.000Z`
std::string duration(double seconds);       ///< `12.3 s`, `4 min 05 s`, `1 h 02 min`
std::string seconds(double seconds);        ///< `12.345`, for programs.

}  // namespace sluice::wording
