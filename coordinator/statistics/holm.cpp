#include "coordinator/statistics/holm.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace sluice {

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  std::vector<std::size_t> ascending(p_values.size());
  std::iota(ascending.begin(), ascending.end(), std::size_t{0});
  std::sort(ascending.begin(), ascending.end(), [&](std::size_t a, std::size_t b) {
    return p_values[a] != p_values[b] ? p_values[a] < p_values[b] : a < b;
  });
  std::vector<double> adjusted(p_values.size());
  double largest = 0.0;
  for (std::size_t rank = 0; rank < ascending.size(); ++rank) {
    const auto left = static_cast<double>(ascending.size() - rank);
    largest = std::max(largest, std::min(1.0, left * p_values[ascending[rank]]));
    adjusted[ascending[rank]] = largest;
  }
  return adjusted;
}

}  // namespace sluice
