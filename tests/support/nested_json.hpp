#pragma once

#include <cstddef>
#include <string>

namespace sluice::support {

/// JSON that nests far deeper than a recursion can go.
inline const std::string nested_json = [] {
  constexpr std::size_t depth = 200'000;
  return std::string(depth, '[') + std::string(depth, ']');
}();

}  // namespace sluice::support
