#pragma once

#include "coordinator/defaults.hpp"
#include "coordinator/statistics/mcnemar.hpp"
#include "coordinator/statistics/paired_sample.hpp"

#include <cstdint>
#include <string_view>

namespace sluice {

/// How a paired p-value came about.
enum class PairedMethod : std::uint8_t {
  none,         ///< Nothing to compare, or no unit changed.
  mcnemar,      ///< Exact, from the discordant pairs.
  enumeration,  ///< Exact: all assignments of the changed units.
  draws,        ///< Random assignments: p = (1 + hits) / (1 + draws), or a bound where none was a hit.
  normal,       ///< The drop over its standard deviation against the normal distribution.
};

std::string_view to_string(PairedMethod method);

/// Where one method ends and the next begins.
struct SwapLimits {
  std::uint32_t enumerated_units =
      defaults::statistics::enumerated_units;  ///< Changed units up to here: 2^20 assignments. At most 30.
  std::uint32_t drawn_units = defaults::statistics::drawn_units;  ///< Up to here assignments are drawn.
  std::uint32_t draws = defaults::statistics::draws;  ///< p-values are then multiples of 1/10,000, or below.
  /// Answers that draws of unequal repeats may pick in all (some 0.2 s); the normal beyond.
  std::uint64_t picked_answers = defaults::statistics::picked_answers;
  /// Beyond drawn_units: the largest share of a unit in the variance with which the sum is taken for normal.
  double normal_share = defaults::statistics::normal_share;
};

struct SwapTestResult {
  PairedMethod method = PairedMethod::none;
  OneSidedPs p;
  std::uint64_t assignments = 0;  ///< Enumerated or drawn; with unequal repeats, by the less exact test.
};

/// Tests whether base and current differ. If they do not, which side an answer stands on is chance, so that
/// the two sides of each unit may be swapped: p is the share of assignments whose drop is at least (for an
/// improvement: whose gain is at least) the observed one. The metric is recomputed under each. Exact for
/// equal repeats, ties and ratios like F1 included. An assignment with an undefined side counts as a hit.
///
/// Where a case has not as many repeats on both sides, its means are not alike even if nothing changed: that
/// of the fewer scatters more, and skewed. There the answers' labels are permuted within the cases as well
/// (repeat_permutation.hpp), and the larger p counts: docs/adr/0007-unequal-repeats-and-all-clears.md.
///
/// Beyond drawn_units the sum of the units' parts (SwapParts) is normal with a mean of 0, unless a few units
/// carry it: then the largest are drawn, and what the others add is normal. Where no draw is as extreme as
/// what was observed, swap_tail_bound is p if that is less: many comparisons need a p that draws cannot
/// reach.
///
/// Swapping base and current swaps the two p-values, to the last bit. Same seed, same result. Time: O(2^k)
/// for k enumerated units, else O(units x draws) or O(units); memory: 24 bytes a changed unit.
SwapTestResult swap_test(const PairedSample& sample, const SwapLimits& limits, std::uint64_t seed);

/// Drops that differ by less are the same, but for the rounding of scores and means to billionths.
inline constexpr double rounding_of_drops = 4e-9;

/// The drop over its standard error against the normal distribution. REQUIRES: the drop is defined.
SwapTestResult studentised_normal(const PairedSample& sample);

/// Standard deviation of the units' drops (PairedSample::unit_drops), with n - 1; 0 for fewer than two units.
double drop_deviation(const PairedSample& sample);

}  // namespace sluice
