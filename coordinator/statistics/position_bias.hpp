#pragma once

#include "coordinator/statistics/intervals.hpp"
#include "coordinator/statistics/swap_test.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sluice {

/// A pair of answers that was judged in both orders: what one and the same answer of it got, from 0 (the
/// other one is better) over 0.5 (a tie) to 1.
struct PositionPair {
  std::uint32_t case_number = 0;  ///< Pairs with the same number are repeats of one case.
  double when_first = 0.0;
  double when_second = 0.0;
};

struct PositionBias {
  std::size_t pairs = 0;
  std::size_t cases = 0;
  std::size_t flips = 0;          ///< Pairs whose winner depends on the order; a tie in one order counts too.
  std::size_t toward_first = 0;   ///< Of the flips, those where standing first helped.
  std::size_t toward_second = 0;  ///< The others.
  /// Half of what an answer gets more when it stands first, on average; of wins and losses alone how often
  /// the first position wins, less one half (a tie is half a win). -0.5..0.5; empty without pairs.
  std::optional<double> bias;
  Interval interval{-0.5, 0.5};  ///< Two-sided.
  double p = 1.0;                ///< Two-sided: so much bias, in either direction, by chance.
  PairedMethod method = PairedMethod::none;
};

/// Flips alone are noise: a judge who throws a coin flips every second pair. Bias is that they go one way, or
/// that scores do which flip nothing. What is judged twice without bias may change its places, so that the
/// test is the exact one of paired comparisons (compare_paired): McNemar's for wins and losses, swaps for
/// ties and scores. Pairs of one case are averaged and swapped as one.
///
/// The interval takes drop_upper_bound on both sides, which has room for pairs of a kind that so few did not
/// show: it may hold 0 where the test is significant. REQUIRES: values in 0..1; 0.5 < confidence < 1.
/// Same seed, same result, whatever the order of the pairs.
PositionBias position_bias(std::span<const PositionPair> pairs, double confidence, const SwapLimits& limits,
                           std::uint64_t seed);

}  // namespace sluice
