#include "coordinator/statistics/intervals.hpp"

#include "coordinator/statistics/special_functions.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {

Interval wilson_interval(double proportion, double trials, double confidence) {
  if (!(trials > 0.0)) return {};
  const double z = normal_quantile(0.5 * (1.0 + confidence));
  const double weight = z * z / trials;
  const double middle = (proportion + 0.5 * weight) / (1.0 + weight);
  const double half_width =
      z / (1.0 + weight) * std::sqrt(proportion * (1.0 - proportion) / trials + 0.25 * weight / trials);
  Interval interval{std::max(0.0, middle - half_width), std::min(1.0, middle + half_width)};
  // Rounding must not shift an end off the bound that it meets exactly.
  if (proportion <= 0.0) interval.low = 0.0;
  if (proportion >= 1.0) interval.high = 1.0;
  return interval;
}

Interval clopper_pearson_interval(double successes, double failures, double confidence) {
  const double tail = 0.5 * (1.0 - confidence);
  Interval interval;
  if (successes > 0.0) interval.low = inverse_incomplete_beta(successes, failures + 1.0, tail);
  if (failures > 0.0) interval.high = inverse_incomplete_beta(successes + 1.0, failures, 1.0 - tail);
  return interval;
}

void ClusteredProportion::add(double successes, double trials) {
  Cluster own;
  grow(own, successes, trials);
}

void ClusteredProportion::grow(Cluster& cluster, double successes, double trials) {
  if (!(trials > 0.0)) return;
  if (!(cluster.trials > 0.0)) ++clusters_;
  const Cluster grown{cluster.successes + successes, cluster.trials + trials};
  successes_ += successes;
  trials_ += trials;
  success_squares_ += grown.successes * grown.successes - cluster.successes * cluster.successes;
  trial_squares_ += grown.trials * grown.trials - cluster.trials * cluster.trials;
  products_ += grown.successes * grown.trials - cluster.successes * cluster.trials;
  cluster = grown;
}

std::optional<double> ClusteredProportion::proportion() const {
  if (clusters_ == 0) return std::nullopt;
  return std::clamp(successes_ / trials_, 0.0, 1.0);
}

double ClusteredProportion::design_effect() const {
  if (clusters_ == 0) return 1.0;
  const double p = *proportion();
  const double independent = p * (1.0 - p) / trials_;
  if (clusters_ < 2 || independent <= 1e-15 / trials_) return trial_squares_ / trials_;
  const double k = static_cast<double>(clusters_);
  const double residuals = std::max(0.0, success_squares_ - 2.0 * p * products_ + p * p * trial_squares_);
  const double clustered = k / (k - 1.0) * residuals / (trials_ * trials_);
  return clustered / independent;
}

Interval ClusteredProportion::interval(double confidence) const {
  if (clusters_ == 0) return {};
  return wilson_interval(*proportion(), trials_ / std::max(1.0, design_effect()), confidence);
}

}  // namespace sluice
