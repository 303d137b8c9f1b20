#include "coordinator/statistics/score_change.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <vector>

namespace sluice {
namespace {

/// Sum of |value - each of sorted|, by the sums of those below and above.
double distance_to_all(const std::vector<double>& sorted, const std::vector<double>& prefix_sums,
                       double value) {
  const auto below =
      static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin());
  const double sum_below = prefix_sums[below];
  const double sum_above = prefix_sums.back() - sum_below;
  const auto above = static_cast<double>(sorted.size() - below);
  return value * static_cast<double>(below) - sum_below + sum_above - value * above;
}

}  // namespace

void ScoreChange::add(std::span<const double> unperturbed, std::span<const double> perturbed) {
  if (unperturbed.empty()) return;
  std::vector<double> sorted(unperturbed.begin(), unperturbed.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> prefix_sums{0.0};
  std::partial_sum(sorted.begin(), sorted.end(), std::back_inserter(prefix_sums));
  const auto repeats = static_cast<double>(sorted.size());
  for (const double score : perturbed) change_ += distance_to_all(sorted, prefix_sums, score) / repeats;
  answers_ += perturbed.size();
  for (const double score : sorted) repeat_change_ += 0.5 * distance_to_all(sorted, prefix_sums, score);
  repeat_pairs_ += 0.5 * repeats * (repeats - 1.0);
}

std::optional<double> ScoreChange::mean_absolute() const {
  if (answers_ == 0) return std::nullopt;
  return std::max(0.0, change_) / static_cast<double>(answers_);
}

std::optional<double> ScoreChange::noise() const {
  if (repeat_pairs_ <= 0.0) return std::nullopt;
  return std::max(0.0, repeat_change_) / repeat_pairs_;
}

}  // namespace sluice
