#include "coordinator/statistics/holm.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace sluice {

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  std::vector<std::size_t> ascending(p_values.size());
  std::iota(ascending.begin(), ascending.end(), std::size_t{0});
  std::sort(ascending.begin(), ascending.end(), [&](std::size_t a, std::size_t b) {
    return p_values[a] != p_values[b] ? p_values[a] < p_values[b] : a < b;
  });
  std::vector<double> adjusted(p_values.size());
  double largest = 0.0;
  for (std::size_t rank = 0; rank < ascending.size(); ++rank) {
    const auto left = static_cast<double>(ascending.size() - rank);
    largest = std::max(largest, std::min(1.0, left * p_values[ascending[rank]]));
    adjusted[ascending[rank]] = largest;
  }
  return adjusted;
}

HolmBeside::HolmBeside(std::span<const double> p_values, double alpha)
    : p_values_(p_values.begin(), p_values.end()),
      alpha_(alpha),
      sorted_(p_values_),
      next_insignificant_(p_values_.size() + 1, p_values_.size()) {
  std::ranges::sort(sorted_);
  while (significant_ < sorted_.size() && level(significant_, sorted_[significant_]) <= alpha_)
    ++significant_;
  for (std::size_t at = sorted_.size(); at-- > 1;) {
    const bool is_significant = level(at - 1, sorted_[at]) <= alpha_;
    next_insignificant_[at] = is_significant ? next_insignificant_[at + 1] : at;
  }
}

std::size_t HolmBeside::below(double p) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(sorted_, p) - sorted_.begin());
}

bool HolmBeside::is_significant(std::size_t own, double p) const {
  const std::size_t place = below(p_values_[own]);
  const std::size_t rank = below(p) - (p_values_[own] < p ? 1 : 0);
  // Those behind its old place move up by one.
  const std::size_t others = significant_ < place ? significant_ : next_insignificant_[place + 1] - 1;
  return rank <= others && level(rank, p) <= alpha_;
}

}  // namespace sluice
