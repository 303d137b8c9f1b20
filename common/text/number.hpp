#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace sluice {

/// The number that a text is from its beginning to its end, whatever the locale; nothing if it is none, or
/// one that does not fit. "inf" and "nan" are floating numbers.
template <class Number>
std::optional<Number> number_from(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace sluice
