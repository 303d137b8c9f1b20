#include "coordinator/session/flag_values.hpp"

#include "common/text/joined.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <span>
#include <system_error>

namespace sluice {
namespace {

tl::unexpected<Error> wrong(std::string_view flag, const std::string& expected, std::string_view given) {
  return fail(Reason::usage_invalid, std::string(flag) + " must be " + expected + ", not \"" +
                                         excerpt(given, defaults::quoted_flag_bytes) + "\"");
}

template <class Number>
bool reads_whole(std::string_view text, Number& number) {
  const auto end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return !text.empty() && read.ec == std::errc() && read.ptr == end;
}

}  // namespace

Result<std::size_t> choice_of(std::string_view flag, std::string_view word,
                              std::initializer_list<std::string_view> names) {
  const auto found = std::ranges::find(names, word);
  if (found != names.end()) return static_cast<std::size_t>(std::distance(names.begin(), found));
  auto error = wrong(flag, "one of " + joined(names), word);
  error.value().message += did_you_mean(word, std::span(names.begin(), names.size()));
  return error;
}

Result<std::uint32_t> number_of(std::string_view flag, std::string_view text, std::uint32_t low,
                                std::uint32_t high) {
  std::uint32_t number = 0;
  if (reads_whole(text, number) && number >= low && number <= high) return number;
  return wrong(flag, "a whole number from " + std::to_string(low) + " to " + std::to_string(high), text);
}

Result<std::uint32_t> count_of(std::string_view flag, std::string_view text, std::uint32_t most) {
  return number_of(flag, text, 1, most);
}

Result<std::vector<std::string>> names_of(std::string_view flag, const std::vector<std::string>& lists,
                                          std::string_view example) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    auto parts = comma_parts(list);
    if (std::ranges::find(parts, "") != parts.end()) {
      return wrong(flag, "names with a comma between them, like " + std::string(example), list);
    }
    names.insert(names.end(), std::move_iterator(parts.begin()), std::move_iterator(parts.end()));
  }
  return names;
}

Result<std::chrono::milliseconds> age_of(std::string_view flag, std::string_view text) {
  const auto refuse = [&] {
    return fail(Reason::usage_invalid, std::string(flag) + " \"" +
                                           excerpt(text, defaults::quoted_flag_bytes) +
                                           "\" is no age; give a whole number of days or hours, such as 30d "
                                           "or 12h, at most 100 years");
  };
  std::int64_t number = 0;
  if (text.empty() || !reads_whole(text.substr(0, text.size() - 1), number)) return refuse();
  if (number < 0 || number > defaults::max_age_hours) return refuse();
  const char unit = text.back();
  if (unit == 'd') number *= 24;
  if ((unit != 'd' && unit != 'h') || number > defaults::max_age_hours) return refuse();
  return std::chrono::hours(number);
}

Result<double> dollars_of(std::string_view flag, std::string_view text) {
  double number = 0.0;
  if (reads_whole(text, number) && number >= 0.0 && number <= defaults::max_dollars) return number;
  return wrong(flag, "an amount of US dollars such as 5 or 0.50", text);
}

Result<double> fraction_of(std::string_view flag, std::string_view text) {
  double number = 0.0;
  // Written so that NaN, which is not less than anything, is refused.
  if (reads_whole(text, number) && number >= 0.0 && number <= 1.0) return number;
  return wrong(flag, "a number from 0 to 1", text);
}

}  // namespace sluice
