#pragma once

#include "coordinator/statistics/paired_sample.hpp"

#include <vector>

namespace sluice {

/// What each changed unit adds to the drop, in billionths; swapping the unit turns its sign. Exact for means
/// of scores, first order for a ratio whose denominators change.
struct SwapParts {
  std::vector<double> sizes;  ///< Without their signs.
  double dropped = 0.0;       ///< Sum of the sizes of those that dropped.
  double gained = 0.0;        ///< Of those that gained.
  double squares = 0.0;       ///< Sum of squares: the variance of the sum under random swaps.
  double largest = 0.0;
  bool is_exact = true;

  double sum() const { return dropped - gained; }
  /// Whether no unit has more than this share of the variance, so that the sum is close to normal.
  bool is_balanced(double share) const { return largest * largest <= share * squares; }
};

/// REQUIRES: the drop is defined. Time: O(units).
SwapParts swap_parts(const PairedSample& sample);

}  // namespace sluice
