#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// The strings, or views of strings, with the separator between them.
template <class Strings>
std::string joined(const Strings& strings, std::string_view separator = ", ") {
  std::string text;
  bool is_first = true;
  for (const std::string_view one : strings) {
    if (!is_first) text += separator;
    text += one;
    is_first = false;
  }
  return text;
}

}  // namespace sluice
