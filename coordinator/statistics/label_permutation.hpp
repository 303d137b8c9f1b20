#pragma once

#include "coordinator/statistics/random_stream.hpp"

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice {

/// The answers of one case as a permutation test sees them: how many are unperturbed, how many perturbed, and
/// how many of both together are identical with each other.
struct AnswerPattern {
  std::uint32_t unperturbed = 0;           ///< At least 2, else there is no floor.
  std::uint32_t perturbed = 0;             ///< At least 1.
  std::vector<std::uint32_t> class_sizes;  ///< Descending; their sum is unperturbed + perturbed.

  /// All answers are identical: no labels can tell them apart.
  bool is_uniform() const { return class_sizes.size() <= 1; }
  friend auto operator<=>(const AnswerPattern&, const AnswerPattern&) = default;
};

/// The statistic of a case, T = agreement over pairs of unperturbed answers - agreement over all unperturbed
/// x perturbed pairs, as whole numbers over a common denominator. It adds up over classes of answers.
class AgreementExcess {
 public:
  /// REQUIRES: unperturbed >= 2, perturbed >= 1.
  AgreementExcess(std::uint32_t unperturbed, std::uint32_t perturbed);

  std::int64_t denominator() const { return denominator_; }
  /// What a class of `size` identical answers adds, of which `unperturbed` are unperturbed.
  std::int64_t of_class(std::uint32_t unperturbed, std::uint32_t size) const;

 private:
  std::int64_t denominator_;
  std::int64_t per_equal_pair_;  ///< Of unperturbed answers.
  std::int64_t per_cross_pair_;
};

/// Draws labels at random: an excess a draw.
class LabelSampler {
 public:
  /// Draws depend on the seed and the pattern alone, so that results do not depend on the order of the cases.
  LabelSampler(const AnswerPattern& pattern, std::uint64_t seed);

  /// Time: O(unperturbed + classes).
  std::int64_t draw();

 private:
  AgreementExcess scale_;
  std::uint32_t unperturbed_;
  std::vector<std::uint32_t> class_sizes_;
  std::vector<std::uint32_t> answers_;  ///< The class of each.
  std::vector<std::uint32_t> chosen_;   ///< Of each class, in the draw at hand.
  RandomStream random_;
};

/// P(T >= excess) by draws that end early once enough of them reached the excess (Besag and Clifford 1991):
/// p = hits / draws then, else (1 + hits) / (1 + draws). As valid as with all draws, and many times cheaper
/// where there is nothing to see.
double drawn_upper_tail(const AnswerPattern& pattern, std::int64_t excess, std::uint32_t draws,
                        std::uint64_t seed);

/// How T of one case is distributed if perturbing changes nothing, so that any of its answers may be the
/// unperturbed ones. Exact, by how many unperturbed answers each class gets and not by the C(n + m, n) ways
/// to label them, as long as that takes no more than `max_states` states a class; beyond that drawn.
class LabelPermutation {
 public:
  struct Outcome {
    std::int64_t excess = 0;  ///< T times denominator().
    double probability = 0.0;
  };
  struct Limits {
    std::uint64_t max_states = 1u << 16;
    std::uint32_t draws = 9999;
  };

  /// Time: O(classes x states), or O(repeats x draws).
  LabelPermutation(const AnswerPattern& pattern, const Limits& limits, std::uint64_t seed);

  bool is_exact() const { return is_exact_; }
  std::int64_t denominator() const { return scale_.denominator(); }
  /// Ascending; of the draws if not exact.
  std::span<const Outcome> outcomes() const { return outcomes_; }
  /// P(T >= excess), (1 + hits) / (1 + draws) if not exact.
  double upper_tail(std::int64_t excess) const;
  /// Of T; its mean is 0.
  double variance() const;
  /// A random outcome.
  std::int64_t draw(RandomStream& random) const;

 private:
  bool enumerate(const AnswerPattern& pattern, const Limits& limits);
  void sample(LabelSampler sampler, std::uint32_t draws);
  void prepare_draws();

  AgreementExcess scale_;
  bool is_exact_ = true;
  std::uint32_t draws_ = 0;
  std::vector<Outcome> outcomes_;
  std::vector<double> cumulative_;    ///< Up to and including each outcome.
  std::vector<std::uint32_t> guide_;  ///< For each part of 0..1 the first outcome that it can draw.
};

}  // namespace sluice
