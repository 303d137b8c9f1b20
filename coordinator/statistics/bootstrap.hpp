#pragma once

#include "coordinator/defaults.hpp"
#include "coordinator/statistics/intervals.hpp"
#include "coordinator/statistics/paired_sample.hpp"

#include <cstdint>
#include <optional>

namespace sluice {

struct BootstrapRules {
  double confidence = defaults::statistics::confidence;  ///< Two-sided.
  std::uint32_t resamples = defaults::statistics::bootstrap_resamples;
  /// Beyond so many units the interval is the normal one around the estimate: there both agree to within
  /// what is printed, and resampling would cost units x resamples.
  std::uint32_t resampled_units = defaults::statistics::resampled_units;
};

/// Two-sided intervals, for display only: no decision comes from them (a percentile bootstrap of 100 cases
/// had 7.7 % false alarms at a nominal 5 %).
struct DisplayIntervals {
  std::optional<Interval> base;     ///< Of the metric in the base; empty where it is undefined.
  std::optional<Interval> current;  ///< Of the metric now; empty where it is undefined.
  /// Of base - current; empty where that is undefined, and where fewer than
  /// defaults::statistics::fewest_interval_units changed: of tests of which 95 and 90 % pass, ten gave an
  /// interval that held the true drop in 60 % of runs.
  std::optional<Interval> drop;
};

/// Bias-corrected and accelerated bootstrap (BCa; Efron 1987) over units; the acceleration comes from the
/// jackknife. Resamples where a value is 0/0 are left out. One unit, or units without any scatter, have no
/// interval: it would have no width, and say nothing of other units. Same seed, same result. Time: O(units x
/// resamples); memory: O(units + resamples).
DisplayIntervals bootstrap_intervals(const PairedSample& sample, const BootstrapRules& rules,
                                     std::uint64_t seed);

}  // namespace sluice
