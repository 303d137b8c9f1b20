#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sluice {

/// Holm's step-down adjustment (1979): each p-value as it may be compared with alpha so that among all of
/// them a false alarm is no more likely than alpha. In the order given. Time: O(m log m).
std::vector<double> holm_adjusted(std::span<const double> p_values);

/// What would be significant by Holm at `alpha` beside given p-values. Time: O(m log m), and O(log m) for
/// each question: to adjust all of them for each of thousands of comparisons took half a minute.
class HolmBeside {
 public:
  HolmBeside(std::span<const double> p_values, double alpha);

  /// Whether the adjusted p-value at `own` would be at most alpha if `p` stood in its place.
  bool is_significant(std::size_t own, double p) const;

 private:
  double level(std::size_t rank, double p) const { return static_cast<double>(sorted_.size() - rank) * p; }
  std::size_t below(double p) const;

  std::vector<double> p_values_;
  double alpha_;
  std::vector<double> sorted_;
  std::size_t significant_ = 0;  ///< How many of them are.
  /// By place in sorted_: the first from there on that is not significant if one before it is taken away.
  std::vector<std::size_t> next_insignificant_;
};

}  // namespace sluice
