#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace sluice {

/// How far a scored metric moves: |score of a perturbed answer - score of an unperturbed one|, averaged over
/// the pairs of each perturbed answer and then over the perturbed answers; and beside it the same between
/// unperturbed repeats, which is what noise alone does. One for each metric (and perturbation or category)
/// that is reported. Constant memory.
class ScoreChange {
 public:
  /// The defined scores of one case. Time: O(n log n).
  void add(std::span<const double> unperturbed, std::span<const double> perturbed);

  std::uint64_t answers() const { return answers_; }  ///< Perturbed ones that were compared.
  /// Empty without perturbed answers that have an unperturbed one to compare with.
  std::optional<double> mean_absolute() const;
  /// Empty where no case has two unperturbed scores.
  std::optional<double> noise() const;

 private:
  std::uint64_t answers_ = 0;
  double change_ = 0.0;
  double repeat_pairs_ = 0.0;
  double repeat_change_ = 0.0;
};

}  // namespace sluice
