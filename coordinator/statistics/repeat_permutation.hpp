#pragma once

#include "coordinator/statistics/swap_test.hpp"

#include <cstdint>

namespace sluice {

/// Tests whether base and current differ where a case may have more repeats on one side than on the other.
/// If they do not differ, which of a case's answers stand in the base is chance: p is the share of labellings
/// permuted within each case whose drop, over its own standard error, is at least (for an improvement: at
/// most) the observed one. Exact in that sense for any number of repeats, by draws with p = (1 + hits) / (1 +
/// draws), or label_tail_bound where no draw was a hit and that is less; beyond `drawn_units` cases or
/// `picked_answers` the studentised drop is compared with the normal distribution. A labelling with an
/// undefined side counts as a hit.
///
/// Studentising (Janssen 1997; Chung and Romano 2013) keeps the power where the side with fewer repeats
/// scatters less than the answers of both together, and the level for many cases where a change mends some
/// and breaks others.
///
/// REQUIRES: the drop is defined, repeats are not equal. Neither the order of cases nor that of answers
/// matters; swapping base and current swaps the two p-values, to the last bit. Time: O(answers + draws x
/// picked answers).
SwapTestResult permute_repeats(const PairedSample& sample, const SwapLimits& limits, std::uint64_t seed);

}  // namespace sluice
