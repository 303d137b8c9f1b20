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

  std::uint32_t answers() const { return unperturbed + perturbed; }
  /// All answers are identical: no labels can distinguish them.
  bool is_uniform() const { return class_sizes.size() <= 1; }
  /// No more ways than this to share out the unperturbed answers over classes: what exactness may cost.
  double states_at_most() const;
  friend auto operator<=>(const AnswerPattern&, const AnswerPattern&) = default;
};

/// The statistic of a case, T = agreement over pairs of unperturbed answers - agreement over all unperturbed
/// x perturbed pairs, as whole numbers over a common denominator. It adds up over classes of answers.
class AgreementExcess {
 public:
  /// REQUIRES: unperturbed >= 2, perturbed >= 1.
  AgreementExcess(std::uint32_t unperturbed, std::uint32_t perturbed);

  std::int64_t denominator() const { return denominator_; }
  /// The variance of T over all labellings, in closed form; its mean is 0. Time: O(classes).
  double variance(const AnswerPattern& pattern) const;
  /// T itself.
  double value(std::int64_t excess) const {
    return static_cast<double>(excess) / static_cast<double>(denominator_);
  }
  /// What a class of `size` identical answers adds, of which `unperturbed` are unperturbed.
  std::int64_t of_class(std::uint32_t unperturbed, std::uint32_t size) const;
  /// By how much more that is with one more of them unperturbed.
  std::int64_t of_next(std::uint32_t unperturbed, std::uint32_t size) const {
    const std::int64_t first = unperturbed;
    return first * per_equal_pair_ - (static_cast<std::int64_t>(size) - 1 - 2 * first) * per_cross_pair_;
  }

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

  /// Time: O(unperturbed).
  std::int64_t draw();

 private:
  AgreementExcess scale_;
  std::uint32_t unperturbed_;
  std::vector<std::uint32_t> class_sizes_;
  std::vector<std::uint32_t> answers_;  ///< The class of each.
  std::vector<std::uint32_t> chosen_;   ///< Of each class, in the draw at hand; else 0.
  RandomStream random_;
};

/// How T of one case is distributed if perturbing changes nothing, so that any of its answers may be the
/// unperturbed ones: by how many unperturbed answers each class gets, and not by the C(n + m, n) ways to
/// label them.
class LabelPermutation {
 public:
  struct Outcome {
    std::int64_t excess = 0;  ///< T times denominator().
    double probability = 0.0;
  };

  /// Time: O(classes x states). Without outcomes where a class would take more than `max_states`.
  LabelPermutation(const AnswerPattern& pattern, std::uint64_t max_states);

  bool is_exact() const { return !outcomes_.empty(); }
  /// States that were tried, whether or not that came to an end: its cost.
  std::uint64_t tried_states() const { return tried_states_; }
  std::int64_t denominator() const { return scale_.denominator(); }
  std::span<const Outcome> outcomes() const { return outcomes_; }  ///< Ascending.
  /// P(T >= excess); 1 if it is not exact.
  double upper_tail(std::int64_t excess) const;

 private:
  AgreementExcess scale_;
  std::uint64_t tried_states_ = 0;
  std::vector<Outcome> outcomes_;
};

}  // namespace sluice
