#include "coordinator/statistics/change_decision.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/statistics/holm.hpp"
#include "coordinator/statistics/special_functions.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace sluice {
namespace {

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

/// What n units, none of which showed it, leave for the share of units of some kind.
double unseen_share(double units, double confidence) {
  return units > 0.0 ? 1.0 - std::pow(1.0 - confidence, 1.0 / units) : 1.0;
}

struct Spread {
  double drop = 0.0;
  double deviation = 0.0;
  double units = 0.0;
  double effective_units = 0.0;
};

double upper_bound(const Spread& spread, double confidence) {
  const double unseen = (1.0 - spread.drop) * unseen_share(spread.effective_units, confidence);
  double error = 0.0;
  if (spread.deviation > 0.0) {
    const double t = student_t_quantile(confidence, std::max(1.0, spread.effective_units - 1.0));
    error = t * spread.deviation / std::sqrt(spread.units);
  }
  return std::min(1.0, spread.drop + 0.5 * unseen + std::sqrt(0.25 * unseen * unseen + error * error));
}

/// The smallest number from `least` on that is enough. REQUIRES: enough stays enough.
std::uint64_t fewest_enough(std::uint64_t least, const std::function<bool(std::uint64_t)>& is_enough) {
  if (is_enough(least)) return least;
  std::uint64_t too_few = least;
  std::uint64_t enough = 2 * least;
  while (!is_enough(enough)) {
    too_few = enough;
    enough *= 2;
  }
  while (enough - too_few > 1) {
    const std::uint64_t middle = too_few + (enough - too_few) / 2;
    (is_enough(middle) ? enough : too_few) = middle;
  }
  return enough;
}

/// How many units would bring the bound below min_effect if no more of them changed than now.
std::uint64_t units_bounding(const PairedComparison& comparison, const DecisionRules& rules) {
  const auto units = static_cast<double>(comparison.units);
  const double sum = *comparison.drop * units;
  const double squares = comparison.deviation * comparison.deviation * (units - 1.0) + sum * sum / units;
  return fewest_enough(std::max<std::uint64_t>(1, comparison.changed_units), [&](std::uint64_t more) {
    const auto count = static_cast<double>(more);
    const double variance = more < 2 ? 0.0 : (squares - sum * sum / count) / (count - 1.0);
    const double deviation = std::sqrt(std::max(0.0, variance));
    return !at_least(upper_bound({sum / count, deviation, count, count}, rules.confidence), rules.min_effect);
  });
}

void add_power(MetricDecision& decision, const PairedComparison& comparison, const DecisionRules& rules,
               std::size_t metrics) {
  const double alpha = 1.0 - rules.confidence;
  const double z = normal_quantile(1.0 - alpha / static_cast<double>(metrics)) +
                   normal_quantile(defaults::statistics::power);
  double effect = z * comparison.deviation / std::sqrt(static_cast<double>(comparison.units));
  effect = std::max(effect, unseen_share(comparison.effective_units, rules.confidence));
  if (decision.too_few_changed) effect = std::max(effect, *decision.drop_upper_bound);
  decision.minimum_detectable_effect = std::min(1.0, effect);
  if (rules.min_effect < 1e-6) return;  // No suite is large enough.
  const double ratio = z * comparison.deviation / rules.min_effect;
  const std::uint64_t unseen = fewest_enough(1, [&](std::uint64_t units) {
    return unseen_share(static_cast<double>(units), rules.confidence) < rules.min_effect;
  });
  decision.units_needed = std::max(static_cast<std::uint64_t>(std::ceil(ratio * ratio)), unseen);
  if (decision.too_few_changed) {
    decision.units_needed = std::max(*decision.units_needed, units_bounding(comparison, rules));
  }
}

/// The smallest k for which 2^-k in place of this p-value is significant, the others being what they are.
std::uint32_t fewest_significant_beside(const HolmBeside& p_values, std::size_t own) {
  for (std::uint32_t units = 1; units < 1000; ++units) {
    if (p_values.is_significant(own, std::ldexp(1.0, -static_cast<int>(units)))) return units;
  }
  return 1000;
}

/// p-values in decimals may meet the level exactly.
double level_of(double confidence) {
  return 1.0 - confidence + 1e-12;
}

ChangeDecision decision_of(const MetricDecision& found, double drop, const DecisionRules& rules) {
  const double alpha = level_of(rules.confidence);
  if (found.adjusted_p.drop <= alpha && drop > 0.0 && at_least(drop, rules.min_effect)) {
    return ChangeDecision::regression;
  }
  if (found.adjusted_p.improvement <= alpha && drop < 0.0 && at_least(-drop, rules.min_effect)) {
    return ChangeDecision::improvement;
  }
  return at_least(*found.drop_upper_bound, rules.min_effect) ? ChangeDecision::underpowered
                                                             : ChangeDecision::no_regression;
}

}  // namespace

PairedComparison compare_paired(const PairedSample& sample, const SwapLimits& limits, std::uint64_t seed) {
  PairedComparison comparison;
  comparison.pairs = sample.pairs;
  comparison.left_out = sample.left_out;
  comparison.units = sample.units.size();
  comparison.changed_units = sample.changed_units;
  comparison.dropped_units = count_drops(sample);
  comparison.base = sample.totals.base();
  comparison.current = sample.totals.current();
  comparison.drop = sample.totals.drop();
  comparison.deviation = drop_deviation(sample);
  comparison.effective_units = sample.effective_units();
  comparison.equal_repeats = sample.equal_repeats;
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

std::string_view to_string(ChangeDecision decision) {
  switch (decision) {
    case ChangeDecision::regression:
      return "regression";
    case ChangeDecision::improvement:
      return "improvement";
    case ChangeDecision::no_regression:
      return "no_regression";
    case ChangeDecision::underpowered:
      return "underpowered";
  }
  return "underpowered";
}

double drop_upper_bound(const PairedComparison& comparison, double confidence) {
  return upper_bound({*comparison.drop, comparison.deviation, static_cast<double>(comparison.units),
                      comparison.effective_units},
                     confidence);
}

std::uint32_t fewest_significant(double confidence) {
  const double alone = 1.0;
  return fewest_significant_beside(HolmBeside({&alone, 1}, level_of(confidence)), 0);
}

std::vector<MetricDecision> assess_changes(std::span<const PairedComparison> comparisons,
                                           const DecisionRules& rules) {
  std::vector<double> drops;
  std::vector<double> improvements;
  for (const PairedComparison& comparison : comparisons) {
    if (!comparison.drop) continue;
    drops.push_back(comparison.test.p.drop);
    improvements.push_back(comparison.test.p.improvement);
  }
  const std::vector<double> adjusted_drops = holm_adjusted(drops);
  const std::vector<double> adjusted_improvements = holm_adjusted(improvements);
  const HolmBeside beside(drops, level_of(rules.confidence));
  std::vector<MetricDecision> decisions;
  decisions.reserve(comparisons.size());
  std::size_t compared = 0;
  for (const PairedComparison& comparison : comparisons) {
    MetricDecision& decision = decisions.emplace_back();
    decision.fewest_significant =
        comparison.drop ? fewest_significant_beside(beside, compared) : fewest_significant(rules.confidence);
    decision.too_few_changed = comparison.changed_units < decision.fewest_significant;
    if (!comparison.drop) continue;
    decision.adjusted_p = {adjusted_drops[compared], adjusted_improvements[compared]};
    ++compared;
    decision.drop_upper_bound = drop_upper_bound(comparison, rules.confidence);
    add_power(decision, comparison, rules, drops.size());
    decision.decision = decision_of(decision, *comparison.drop, rules);
  }
  return decisions;
}

std::optional<ChangeDecision> overall_decision(std::span<const MetricDecision> decisions) {
  const auto any = [&](ChangeDecision wanted) {
    return std::any_of(decisions.begin(), decisions.end(),
                       [&](const MetricDecision& decision) { return decision.decision == wanted; });
  };
  if (decisions.empty()) return std::nullopt;
  for (const auto decision :
       {ChangeDecision::regression, ChangeDecision::underpowered, ChangeDecision::improvement}) {
    if (any(decision)) return decision;
  }
  return ChangeDecision::no_regression;
}

}  // namespace sluice
