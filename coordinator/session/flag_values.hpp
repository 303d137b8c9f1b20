#pragma once

#include "common/error.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// The values of flags as they were typed. Errors are usage_invalid and name the flag and what it takes.

/// usage_invalid with the message.
inline tl::unexpected<Error> usage_error(std::string message) {
  return fail(Reason::usage_invalid, std::move(message));
}

/// The place of the word among the names.
Result<std::size_t> choice_of(std::string_view flag, std::string_view word,
                              std::initializer_list<std::string_view> names);
/// A whole number from `low` to `high`.
Result<std::uint32_t> number_of(std::string_view flag, std::string_view text, std::uint32_t low,
                                std::uint32_t high);
/// A whole number from 1 to `most`.
Result<std::uint32_t> count_of(std::string_view flag, std::string_view text, std::uint32_t most);
/// The names in lists with commas, without the blanks around them. `example` shows such a list.
Result<std::vector<std::string>> names_of(std::string_view flag, const std::vector<std::string>& lists,
                                          std::string_view example);
/// An age of whole days or hours, from an hour to 100 years: `30d`, `12h`.
Result<std::chrono::milliseconds> age_of(std::string_view flag, std::string_view text);
/// An amount of US dollars, 0 or more.
Result<double> dollars_of(std::string_view flag, std::string_view text);
/// A number from 0 to 1.
Result<double> fraction_of(std::string_view flag, std::string_view text);

}  // namespace sluice
