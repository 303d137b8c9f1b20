#pragma once

#include "coordinator/defaults.hpp"
#include "coordinator/statistics/intervals.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sluice {

/// An answer, what a judge gave it, and a trait that should not matter: its length, or its share of markup.
struct RankedAnswer {
  std::uint32_t case_number = 0;  ///< Answers with the same number are repeats of one case.
  double trait = 0.0;             ///< Finite. Only its order counts.
  double score = 0.0;             ///< Finite. Only its order counts.
};

/// Where one way to a p-value ends and the next begins.
struct RankLimits {
  std::uint32_t drawn_cases =
      defaults::statistics::drawn_units;  ///< Permutations are drawn up to here; then the normal.
  std::uint32_t draws = defaults::statistics::draws;
};

struct RankCorrelation {
  std::size_t answers = 0;
  std::size_t cases = 0;
  /// Spearman's rank correlation; empty with fewer than `fewest_ranked_cases` cases, or if the trait or the
  /// score is the same everywhere.
  std::optional<double> rho;
  Interval interval{-1.0, 1.0};  ///< Two-sided; -1..1 without rho.
  double p = 1.0;                ///< Two-sided: so much correlation, in either direction, by chance.
};

/// Fewer cases show nothing at 95 %: of the 24 orders of four, two are perfect.
inline constexpr std::size_t fewest_ranked_cases = 5;

/// Spearman's rank correlation of trait and score over the cases: answers of one case are averaged first, so
/// that repeats do not count as independent. Equal values share the mean of their ranks.
///
/// p: by permutation of whole cases, exact under ties; p = (1 + hits) / (1 + draws). Beyond `drawn_cases` the
/// normal with the permutation's own variance, 1 / (n - 1).
/// Interval: on Fisher's scale, the wider of two. Bonett and Wright's (2000) has the standard error sqrt((1 +
/// rho^2 / 2) / (n - 3)); the other, with Student's t, that of each case's influence on rho, which knows of
/// ties and of scores that scatter more for some traits than for others.
/// Same seed, same result, whatever the order of the answers. Time: O(n log n), and cases x draws steps.
RankCorrelation rank_correlation(std::span<const RankedAnswer> answers, double confidence,
                                 const RankLimits& limits, std::uint64_t seed);

}  // namespace sluice
