#include "coordinator/statistics/bootstrap.hpp"

#include "coordinator/statistics/random_stream.hpp"
#include "coordinator/statistics/special_functions.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sluice {
namespace {

/// Scores are whole billionths: what is less is rounding.
constexpr double least_width = 1e-9;

/// The value that `sums` comes to; empty for 0/0.
using Estimate = std::optional<double> (SwapSums::*)() const;

/// The quantile of sorted values at which a share `rank` of them lies below, between neighbours linearly.
double quantile(const std::vector<double>& sorted, double rank) {
  const double position = std::clamp(rank, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto index = static_cast<std::size_t>(position);
  if (index + 1 >= sorted.size()) return sorted.back();
  const double part = position - static_cast<double>(index);
  return sorted[index] + part * (sorted[index + 1] - sorted[index]);
}

/// Values of the estimate with each unit left out in turn.
std::vector<double> jackknife(const PairedSample& sample, Estimate estimate) {
  std::vector<double> values;
  values.reserve(sample.units.size());
  for (const SwapUnit& unit : sample.units) {
    SwapSums sums = sample.totals;
    sums.subtract(unit);
    if (const auto value = (sums.*estimate)()) values.push_back(*value);
  }
  return values;
}

/// A sixth of the skewness of the units' influence.
double acceleration(const std::vector<double>& jackknifed) {
  double mean = 0.0;
  for (const double value : jackknifed) mean += value;
  mean /= static_cast<double>(jackknifed.size());
  double squares = 0.0;
  double cubes = 0.0;
  for (const double value : jackknifed) {
    const double influence = mean - value;
    squares += influence * influence;
    cubes += influence * influence * influence;
  }
  return squares > 0.0 ? cubes / (6.0 * std::pow(squares, 1.5)) : 0.0;
}

/// How far the bootstrap's median is off the estimate, in normal deviates. Ties count by half.
double bias_correction(const std::vector<double>& sorted, double estimate) {
  const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), estimate);
  const double below = static_cast<double>(first - sorted.begin()) + 0.5 * static_cast<double>(last - first);
  const auto count = static_cast<double>(sorted.size());
  // Within the resamples' own resolution, so that it stays finite.
  return normal_quantile(std::clamp(below / count, 0.5 / count, 1.0 - 0.5 / count));
}

Interval bca(std::vector<double> resampled, const PairedSample& sample, Estimate estimate,
             double confidence) {
  const double observed = *(sample.totals.*estimate)();
  const std::vector<double> jackknifed = jackknife(sample, estimate);
  if (resampled.empty() || jackknifed.empty()) return {observed, observed};
  std::sort(resampled.begin(), resampled.end());
  const double bias = bias_correction(resampled, observed);
  const double skew = acceleration(jackknifed);
  const auto end = [&](double z) {
    const double shifted = bias + z;
    return quantile(resampled, normal_cdf(bias + shifted / (1.0 - skew * shifted)));
  };
  const double z = normal_quantile(0.5 * (1.0 + confidence));
  return {end(-z), end(z)};
}

/// By the jackknife's variance, which for ratios of sums is that of the delta method.
Interval around_estimate(const PairedSample& sample, Estimate estimate, double confidence) {
  const double observed = *(sample.totals.*estimate)();
  const std::vector<double> values = jackknife(sample, estimate);
  const auto count = static_cast<double>(values.size());
  double mean = 0.0;
  for (const double value : values) mean += value / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double half_width =
      normal_quantile(0.5 * (1.0 + confidence)) * std::sqrt(squares * (count - 1.0) / count);
  return {observed - half_width, observed + half_width};
}

struct Resampled {
  std::vector<double> base;
  std::vector<double> current;
  std::vector<double> drop;
};

Resampled resample(const PairedSample& sample, std::uint32_t resamples, std::uint64_t seed) {
  RandomStream random(seed);
  const auto count = static_cast<std::uint32_t>(sample.units.size());
  Resampled values;
  for (std::uint32_t drawn = 0; drawn < resamples; ++drawn) {
    SwapSums sums;
    for (std::uint32_t i = 0; i < count; ++i) sums.add(sample.units[random.below(count)]);
    if (const auto base = sums.base()) values.base.push_back(*base);
    if (const auto current = sums.current()) values.current.push_back(*current);
    if (const auto drop = sums.drop()) values.drop.push_back(*drop);
  }
  return values;
}

}  // namespace

DisplayIntervals bootstrap_intervals(const PairedSample& sample, const BootstrapRules& rules,
                                     std::uint64_t seed) {
  DisplayIntervals intervals;
  const bool resampling = sample.units.size() <= rules.resampled_units;
  Resampled values;
  if (resampling && !sample.units.empty()) values = resample(sample, rules.resamples, seed);
  const auto interval = [&](std::vector<double>& resampled, Estimate estimate) -> std::optional<Interval> {
    if (!(sample.totals.*estimate)()) return std::nullopt;
    const Interval found = resampling ? bca(std::move(resampled), sample, estimate, rules.confidence)
                                      : around_estimate(sample, estimate, rules.confidence);
    return found.high - found.low < least_width ? std::nullopt : std::optional(found);
  };
  intervals.base = interval(values.base, &SwapSums::base);
  intervals.current = interval(values.current, &SwapSums::current);
  if (sample.changed_units >= defaults::statistics::fewest_interval_units)
    intervals.drop = interval(values.drop, &SwapSums::drop);
  return intervals;
}

}  // namespace sluice
