#include "coordinator/statistics/swap_parts.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {

SwapParts swap_parts(const PairedSample& sample) {
  const SwapUnit& sums = sample.totals.sums;
  const double level = static_cast<double>(sums.base_numerator + sums.current_numerator) /
                       static_cast<double>(sums.base_denominator + sums.current_denominator);
  SwapParts parts;
  parts.sizes.reserve(sample.changed_units);
  for (const SwapUnit& unit : sample.units) {
    if (!unit.changed()) continue;
    const auto lost = static_cast<double>(unit.base_numerator - unit.current_numerator);
    const auto shrunk = static_cast<double>(unit.base_denominator - unit.current_denominator);
    parts.is_exact = parts.is_exact && unit.base_denominator == unit.current_denominator;
    const double part = lost - level * shrunk;
    const double size = std::abs(part);
    parts.sizes.push_back(size);
    (part > 0.0 ? parts.dropped : parts.gained) += size;
    parts.squares += size * size;
    parts.largest = std::max(parts.largest, size);
  }
  return parts;
}

}  // namespace sluice
