#pragma once

#include <cstdint>
#include <limits>

namespace sluice {

/// Sums of numbers that come from elsewhere stay at the greatest one instead of wrapping to a small one.
constexpr std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  return a > most - b ? most : a + b;
}
constexpr std::uint64_t saturating_subtract(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : 0;
}

}  // namespace sluice
