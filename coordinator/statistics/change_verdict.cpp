#include "coordinator/statistics/change_verdict.hpp"

#include "coordinator/statistics/holm.hpp"
#include "coordinator/statistics/intervals.hpp"
#include "coordinator/statistics/special_functions.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

/// The chance to find a drop of the minimum detectable effect.
constexpr double power = 0.8;

/// Units with less than in the base, beside what their size alone explains where the metric is a ratio.
std::size_t count_drops(const PairedSample& sample) {
  const auto base = sample.totals.base();
  const auto current = sample.totals.current();
  if (!base || !current) return 0;
  const double level = 0.5 * (*base + *current);
  return static_cast<std::size_t>(
      std::count_if(sample.units.begin(), sample.units.end(), [&](const SwapUnit& unit) {
        const auto gained = static_cast<double>(unit.current_numerator - unit.base_numerator);
        const auto grown = static_cast<double>(unit.current_denominator - unit.base_denominator);
        return gained < level * grown;
      }));
}

bool at_least(double value, double limit) {
  return std::llround(value * 1e9) >= std::llround(limit * 1e9);
}

/// The bound where too few units changed for a deviation to mean anything: were more units than this to drop,
/// by a whole point each, more of them would have shown, with confidence.
double few_changes_bound(const PairedComparison& comparison, double confidence) {
  return clopper_pearson_upper(comparison.dropped_units, comparison.units, confidence);
}

double upper_bound(const PairedComparison& comparison, double confidence) {
  if (comparison.changed_units < fewest_significant(confidence)) {
    return std::max(few_changes_bound(comparison, confidence), *comparison.drop);
  }
  const auto units = static_cast<double>(comparison.units);
  const double t = student_t_quantile(confidence, units - 1.0);
  return std::min(1.0, *comparison.drop + t * comparison.deviation / std::sqrt(units));
}

/// How many units bound the share of drops below `effect` if no more of them drop than now.
std::uint64_t units_bounding(double effect, std::uint64_t dropped, double confidence) {
  const auto is_enough = [&](std::uint64_t units) {
    return clopper_pearson_upper(dropped, units, confidence) < effect;
  };
  std::uint64_t enough = dropped + 1;
  while (!is_enough(enough)) enough *= 2;
  std::uint64_t too_few = dropped;
  while (enough - too_few > 1) {
    const std::uint64_t middle = too_few + (enough - too_few) / 2;
    (is_enough(middle) ? enough : too_few) = middle;
  }
  return enough;
}

void add_power(MetricVerdict& verdict, const PairedComparison& comparison, const VerdictRules& rules,
               std::size_t metrics) {
  const double alpha = 1.0 - rules.confidence;
  const double z = normal_quantile(1.0 - alpha / static_cast<double>(metrics)) + normal_quantile(power);
  double effect = z * comparison.deviation / std::sqrt(static_cast<double>(comparison.units));
  if (verdict.too_few_changed) effect = std::max(effect, few_changes_bound(comparison, rules.confidence));
  verdict.minimum_detectable_effect = std::min(1.0, effect);
  if (rules.min_effect < 1e-6) return;  // No suite is large enough.
  const double ratio = z * comparison.deviation / rules.min_effect;
  const double needed = std::ceil(ratio * ratio);
  verdict.units_needed = static_cast<std::uint64_t>(needed);
  if (verdict.too_few_changed) {
    const auto dropped = static_cast<std::uint64_t>(comparison.dropped_units);
    verdict.units_needed =
        std::max(*verdict.units_needed, units_bounding(rules.min_effect, dropped, rules.confidence));
  }
}

ChangeVerdict verdict_of(const MetricVerdict& found, double drop, const VerdictRules& rules) {
  const double alpha = 1.0 - rules.confidence + 1e-12;  // p-values in decimals may meet the level exactly.
  if (found.adjusted_p.drop <= alpha && drop > 0.0 && at_least(drop, rules.min_effect)) {
    return ChangeVerdict::regression;
  }
  if (found.adjusted_p.improvement <= alpha && drop < 0.0 && at_least(-drop, rules.min_effect)) {
    return ChangeVerdict::improvement;
  }
  return at_least(*found.drop_upper_bound, rules.min_effect) ? ChangeVerdict::underpowered
                                                             : ChangeVerdict::no_regression;
}

}  // namespace

PairedComparison compare_paired(const PairedSample& sample, const SwapLimits& limits, std::uint64_t seed) {
  PairedComparison comparison;
  comparison.pairs = sample.pairs;
  comparison.units = sample.units.size();
  comparison.changed_units = sample.changed_units;
  comparison.dropped_units = count_drops(sample);
  comparison.base = sample.totals.base();
  comparison.current = sample.totals.current();
  comparison.drop = sample.totals.drop();
  comparison.deviation = drop_deviation(sample);
  comparison.equal_repeats = sample.equal_repeats;
  comparison.left_out = sample.left_out;
  if (sample.changed_units > 0 && sample.single_pass_fail && !sample.clustered) {
    comparison.test = {PairedMethod::mcnemar, mcnemar_exact(sample.lost, sample.gained), 0};
  } else {
    comparison.test = swap_test(sample, limits, seed);
  }
  return comparison;
}

PairedComparison compare_paired(std::span<const PairedCase> cases, bool clustered, const SwapLimits& limits,
                                std::uint64_t seed) {
  return compare_paired(pair_cases(cases, clustered), limits, seed);
}

std::string_view to_string(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::regression:
      return "regression";
    case ChangeVerdict::improvement:
      return "improvement";
    case ChangeVerdict::no_regression:
      return "no_regression";
    case ChangeVerdict::underpowered:
      return "underpowered";
  }
  return "underpowered";
}

std::uint32_t fewest_significant(double confidence) {
  std::uint32_t units = 1;
  double p = 0.5;
  while (p > 1.0 - confidence + 1e-12) {
    p *= 0.5;
    ++units;
  }
  return units;
}

std::vector<MetricVerdict> judge_changes(std::span<const PairedComparison> comparisons,
                                         const VerdictRules& rules) {
  std::vector<double> drops;
  std::vector<double> improvements;
  for (const PairedComparison& comparison : comparisons) {
    if (!comparison.drop) continue;
    drops.push_back(comparison.test.p.drop);
    improvements.push_back(comparison.test.p.improvement);
  }
  const std::vector<double> adjusted_drops = holm_adjusted(drops);
  const std::vector<double> adjusted_improvements = holm_adjusted(improvements);
  std::vector<MetricVerdict> verdicts;
  verdicts.reserve(comparisons.size());
  std::size_t compared = 0;
  for (const PairedComparison& comparison : comparisons) {
    MetricVerdict& verdict = verdicts.emplace_back();
    verdict.too_few_changed = comparison.changed_units < fewest_significant(rules.confidence);
    if (!comparison.drop) continue;
    verdict.adjusted_p = {adjusted_drops[compared], adjusted_improvements[compared]};
    ++compared;
    verdict.drop_upper_bound = upper_bound(comparison, rules.confidence);
    add_power(verdict, comparison, rules, drops.size());
    verdict.verdict = verdict_of(verdict, *comparison.drop, rules);
  }
  return verdicts;
}

std::optional<ChangeVerdict> overall_verdict(std::span<const MetricVerdict> verdicts) {
  const auto any = [&](ChangeVerdict wanted) {
    return std::any_of(verdicts.begin(), verdicts.end(),
                       [&](const MetricVerdict& verdict) { return verdict.verdict == wanted; });
  };
  if (verdicts.empty()) return std::nullopt;
  for (const auto verdict :
       {ChangeVerdict::regression, ChangeVerdict::underpowered, ChangeVerdict::improvement}) {
    if (any(verdict)) return verdict;
  }
  return ChangeVerdict::no_regression;
}

}  // namespace sluice
