#pragma once

#include <span>
#include <vector>

namespace sluice {

/// Holm's step-down adjustment (1979): each p-value as it may be compared with alpha so that among all of
/// them a false alarm is no more likely than alpha. In the order given. Time: O(m log m).
std::vector<double> holm_adjusted(std::span<const double> p_values);

}  // namespace sluice
