#include "coordinator/statistics/intervals.hpp"

#include "coordinator/statistics/special_functions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace sluice {
namespace {

double two_sided_quantile(double confidence) {
  return normal_quantile(0.5 * (1.0 + confidence));
}

/// By the normal quantile, which takes longer than all the rest: a loop computes it once.
Interval wilson_of(double proportion, double trials, double z) {
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

}  // namespace

Interval wilson_interval(double proportion, double trials, double confidence) {
  if (!(trials > 0.0)) return {};
  return wilson_of(proportion, trials, two_sided_quantile(confidence));
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
  if (cluster.trials > 0.0) {
    const auto known = by_kind_.find(cluster);
    if (--known->second == 0) by_kind_.erase(known);
  }
  ++by_kind_[grown];
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

/// The least that the lower end is of its proportion, over the clusters with most failures: none of them,
/// one, and so on, but not all.
double ClusteredProportion::least_share(double confidence) const {
  const double z = two_sided_quantile(confidence);
  double least = wilson_of(1.0, trials_ * trials_ / trial_squares_, z).low;
  std::vector<std::pair<Cluster, std::uint64_t>> worst_first(by_kind_.begin(), by_kind_.end());
  std::ranges::sort(worst_first, [](const auto& a, const auto& b) {
    return a.first.successes * b.first.trials < b.first.successes * a.first.trials;
  });
  const double k = static_cast<double>(clusters_);
  double failures = 0.0;
  double squares = 0.0;
  double products = 0.0;
  std::uint64_t taken = 0;
  for (const auto& [cluster, count] : worst_first) {
    const double failed = cluster.trials - cluster.successes;
    if (failed <= 0.0) break;
    for (std::uint64_t i = 0; i < count && ++taken < clusters_; ++i) {
      failures += failed;
      squares += failed * failed;
      products += failed * cluster.trials;
      const double q = failures / trials_;
      const double scatter = squares - 2.0 * q * products + q * q * trial_squares_;
      const double design_effect = k / (k - 1.0) * scatter / (trials_ * q * (1.0 - q));
      const double trials = trials_ / std::max(1.0, design_effect);
      least = std::min(least, wilson_of(1.0 - q, trials, z).low / (1.0 - q));
    }
  }
  return least;
}

double ClusteredProportion::low(double confidence) const {
  const double p = *proportion();
  const double trials = trials_ / std::max(1.0, design_effect());
  return std::min(p * least_share(confidence), wilson_interval(p, trials, confidence).low);
}

Interval ClusteredProportion::interval(double confidence) const {
  if (clusters_ == 0) return {};
  const double p = *proportion();
  const double high = wilson_interval(p, trials_ / std::max(1.0, design_effect()), confidence).high;
  const double all_alike = wilson_interval(1.0, trials_ * trials_ / trial_squares_, confidence).low;
  return {low(confidence), std::max(high, 1.0 - (1.0 - p) * all_alike)};
}

double ClusteredProportion::effective_trials(double confidence) const {
  if (clusters_ == 0) return 0.0;
  const double most = trials_ / std::max(1.0, design_effect());
  const double p = *proportion();
  const double end = low(confidence);
  // Nothing to learn from: no success, or an end that rounding has made one with its proportion.
  if (p <= 0.0 || end >= p) return most;
  const double z = two_sided_quantile(confidence);
  return std::clamp(z * z * end * (1.0 - end) / ((p - end) * (p - end)), std::min(1.0, most), most);
}

}  // namespace sluice
