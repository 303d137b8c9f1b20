#pragma once

#include "coordinator/statistics/intervals.hpp"

#include <optional>
#include <span>
#include <vector>

namespace sluice {

/// One way in which a judge may be biased: by length, by format, by position.
struct BiasEvidence {
  double p = 1.0;  ///< Two-sided.
  /// That of a correlation. A permutation test assumes that without bias the trait has nothing to do with
  /// scores; where it only makes them scatter more, the interval knows, and has to exclude 0 as well. Empty
  /// where the test alone decides, as for position.
  std::optional<Interval> interval;
};

struct BiasDecision {
  double adjusted_p = 1.0;     ///< By Holm over all that were measured.
  bool beyond_chance = false;  ///< adjusted_p <= 1 - confidence, and the interval, if any, excludes 0.
};

/// Decides on all measures of a judge together: among them, a false alarm is no more likely than 1 -
/// confidence. Give only what could be measured; in the order given. REQUIRES: 0 < confidence < 1.
std::vector<BiasDecision> decide_biases(std::span<const BiasEvidence> evidence, double confidence);

}  // namespace sluice
