#pragma once

#include "coordinator/statistics/intervals.hpp"

#include <cstdint>

namespace sluice {

/// The one-sided limits of Clopper and Pearson: the proportion is above (below) with at least this
/// confidence.
inline double clopper_pearson_lower(std::uint64_t successes, std::uint64_t trials, double confidence) {
  return clopper_pearson_interval(static_cast<double>(successes), static_cast<double>(trials - successes),
                                  2.0 * confidence - 1.0)
      .low;
}
inline double clopper_pearson_upper(std::uint64_t successes, std::uint64_t trials, double confidence) {
  return clopper_pearson_interval(static_cast<double>(successes), static_cast<double>(trials - successes),
                                  2.0 * confidence - 1.0)
      .high;
}

}  // namespace sluice
