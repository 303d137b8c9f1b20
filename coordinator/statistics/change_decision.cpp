#include "coordinator/statistics/change_decision.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/statistics/holm.hpp"
#include "coordinator/statistics/special_functions.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

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

/// The share of the units that are as good as units of equal weight.
double evenness(const PairedComparison& comparison) {
  return comparison.effective_units / static_cast<double>(comparison.units);
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
    const Spread spread{sum / count, deviation, count, evenness(comparison) * count};
    return !at_least(upper_bound(spread, rules.confidence), rules.min_effect);
  });
}

/// How many units of this scatter exclude a drop of min_effect in four of five runs where there is none.
std::uint64_t units_excluding(const PairedComparison& comparison, const DecisionRules& rules) {
  const double power = defaults::statistics::power;
  const double luck = normal_quantile(rules.both_directions ? 0.5 * (1.0 + power) : power);
  // The bound is no less than that of the normal distribution, so that no fewer are enough.
  const double ratio = (luck + normal_quantile(rules.confidence)) * comparison.deviation / rules.min_effect;
  const auto least = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(ratio * ratio));
  return fewest_enough(least, [&](std::uint64_t more) {
    const auto count = static_cast<double>(more);
    const Spread spread{0.0, comparison.deviation, count, evenness(comparison) * count};
    const double drop = luck * comparison.deviation / std::sqrt(count);
    return !at_least(drop + upper_bound(spread, rules.confidence), rules.min_effect);
  });
}

/// The drop that runs of these units find in four of five: it must be significant, and be seen as min_effect
/// or more.
class FoundDrop {
 public:
  FoundDrop(const PairedComparison& comparison, const MetricDecision& decision, const DecisionRules& rules,
            std::size_t metrics)
      : units_(comparison.effective_units),
        variance_(comparison.deviation * comparison.deviation / static_cast<double>(comparison.units)),
        least_(rules.min_effect),
        significant_(normal_quantile(1.0 - (1.0 - rules.confidence) / static_cast<double>(metrics))),
        is_possible_(comparison.units >= decision.fewest_significant),
        is_whole_(decision.too_few_changed || comparison.test.method == PairedMethod::mcnemar) {}

  /// 1 where there is none.
  double smallest() const {
    if (!is_possible_ || !finds(1.0)) return 1.0;
    double low = 0.0;
    double high = 1.0;
    for (int step = 0; step < 50; ++step) {
      const double middle = 0.5 * (low + high);
      (finds(middle) ? high : low) = middle;
    }
    return high;
  }

 private:
  bool finds(double drop) const {
    // Units that are lost as a whole scatter no less than this, and come one at a time.
    const double variance = is_whole_ ? std::max(variance_, drop * (1.0 - drop) / units_) : variance_;
    const double step = is_whole_ ? 1.0 / units_ : 0.0;
    // Swaps scatter around 0 rather than around the drop.
    const double needed = significant_ * std::sqrt(variance + drop * drop / units_) + step;
    const double seen = drop - power_ * std::sqrt(variance);
    return seen >= std::max(needed, least_);
  }

  double units_;
  double variance_;  ///< Of the drop of a run.
  double least_;
  double significant_;
  double power_ = normal_quantile(defaults::statistics::power);
  bool is_possible_;
  bool is_whole_;
};

void add_power(MetricDecision& decision, const PairedComparison& comparison, const DecisionRules& rules,
               std::size_t metrics) {
  double effect = FoundDrop(comparison, decision, rules, metrics).smallest();
  effect = std::max(effect, unseen_share(comparison.effective_units, rules.confidence));
  if (decision.too_few_changed) effect = std::max(effect, *decision.drop_upper_bound);
  decision.minimum_detectable_effect = std::min(1.0, effect);
  if (rules.min_effect < 1e-6) return;  // No suite is large enough.
  decision.units_needed = units_excluding(comparison, rules);
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
