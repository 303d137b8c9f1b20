#pragma once

#include "coordinator/defaults.hpp"
#include "coordinator/statistics/mcnemar.hpp"
#include "coordinator/statistics/paired_sample.hpp"
#include "coordinator/statistics/swap_test.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace sluice {

/// What the comparison of one metric with its baseline brought to light.
struct PairedComparison {
  std::size_t pairs = 0;          ///< Cases with both sides.
  std::size_t left_out = 0;       ///< Cases that are undefined on a side.
  std::size_t units = 0;          ///< What was swapped: as many as pairs, or clusters.
  std::size_t changed_units = 0;  ///< With any difference between the sides.
  std::size_t dropped_units = 0;  ///< Of these with less than in the base.
  std::optional<double> base;     ///< The metric over the pairs; empty for 0/0 or without pairs.
  std::optional<double> current;  ///< The same now.
  std::optional<double> drop;     ///< base - current; negative for a gain.
  double deviation = 0.0;         ///< Standard deviation of the drop within a unit.
  double effective_units = 0.0;   ///< PairedSample::effective_units: fewer than units of unequal weight.
  bool equal_repeats = true;      ///< Without, two tests must agree (swap_test.hpp).
  SwapTestResult test;
};

/// Compares a metric on both sides: McNemar's exact test for pass/fail with one repeat a side and without
/// clusters, else the swap test. The seed decides only where assignments are drawn. Pure.
PairedComparison compare_paired(const PairedSample& sample, const SwapLimits& limits, std::uint64_t seed);
PairedComparison compare_paired(std::span<const PairedCase> cases, bool clustered, const SwapLimits& limits,
                                std::uint64_t seed);

enum class ChangeDecision : std::uint8_t {
  regression,     ///< Worse, beyond chance, and by at least min_effect.
  improvement,    ///< Better, beyond chance, and by at least min_effect.
  no_regression,  ///< A drop of min_effect can be excluded.
  underpowered,   ///< Neither can be decided: more cases or repeats are needed.
};

std::string_view to_string(ChangeDecision decision);

struct DecisionRules {
  double confidence = defaults::statistics::confidence;  ///< 1 - alpha. REQUIRES: in 0.5..1, exclusive.
  double min_effect =
      defaults::min_effect;  ///< The smallest drop that matters, in absolute points. With 0 every drop does.
  bool both_directions = false;  ///< units_needed exclude a gain of min_effect as well as a drop.
};

/// One metric's decision, and what it rests on.
struct MetricDecision {
  ChangeDecision decision = ChangeDecision::underpowered;
  OneSidedPs adjusted_p;  ///< By Holm over the metrics that were compared, each direction by itself.
  /// One-sided upper limit of the drop at `confidence`; empty without pairs.
  std::optional<double> drop_upper_bound;
  /// The smallest true drop that a suite of this size and noise calls a regression in four of five runs. More
  /// than min_effect, which is seen in every second run alone where it is the true drop. 1 where no drop is
  /// found so often; empty without pairs.
  std::optional<double> minimum_detectable_effect;
  /// Cases (or clusters, as unequal as these) that exclude a drop of min_effect in four of five runs where
  /// there is none. May be no more than there are: one run in five is undecided even then. Empty without
  /// pairs, and for a min_effect below a millionth.
  std::optional<std::uint64_t> units_needed;
  /// The fewest changed units that can be significant if all of them drop: the smallest k for which 2^-k,
  /// adjusted beside the other metrics' p-values, is at most 1 - confidence. Five at 95 % for one metric.
  std::uint32_t fewest_significant = 0;
  /// Fewer than that changed.
  bool too_few_changed = false;
};

/// Of a metric by itself: the smallest k with 2^-k <= 1 - confidence.
std::uint32_t fewest_significant(double confidence);

/// One-sided upper limit of the true drop, of which each unit's part lies within -1..1. It is Student's t
/// bound with room for units that drop by a whole point but are too rare to have been seen: with c = (1 -
/// drop) (1 - alpha^(1/n)), where the last factor bounds the share of units of a kind that n units did not
/// show, and e = t s_d / sqrt(n),
///   drop + c / 2 + sqrt(c^2 / 4 + e^2).
/// Without any difference that is 1 - alpha^(1/n); for units that drop by a whole point or not at all it is
/// Clopper and Pearson's limit to within a percent (Wilson's form of it, made exact at zero); with much
/// scatter it is the t bound + c / 2. Student's t alone calls a true drop of min_effect `no_regression` in up
/// to 22 % of simulated runs. n is the effective number for c and the degrees of freedom: a few units of
/// great weight show as little as they are. At most 1. REQUIRES: a drop.
double drop_upper_bound(const PairedComparison& comparison, double confidence);

/// The decisions on all metrics of a run together (docs/statistics.md):
/// - regression: adjusted p of the drop <= 1 - confidence, and drop >= min_effect (in whole billionths);
/// - improvement: mirrored;
/// - no_regression: the drop's upper bound < min_effect;
/// - underpowered: else.
/// The bound is drop_upper_bound, and uncorrected: that nothing regressed is decided only if each metric
/// shows so, which makes a false all-clear no likelier with more metrics. Minimum detectable effect: the
/// smallest d for which d - z_{0.8} e is at least min_effect, and at least z_{1-alpha/m} sqrt(e^2 + d^2 / n),
/// with e = s_d / sqrt(n). Where units pass or fail, e is at least sqrt(d (1 - d) / n), and 1 / n is added to
/// the latter: McNemar's test goes in steps. It is no less than 1 - alpha^(1/n), or than the bound where too
/// few units changed for a deviation to mean anything. A metric without pairs is underpowered and does not
/// count for m.
std::vector<MetricDecision> assess_changes(std::span<const PairedComparison> comparisons,
                                           const DecisionRules& rules);

/// The decision on a run: regression if any metric regressed, else underpowered if any is, else improvement
/// if any improved, else no_regression; nothing without metrics.
std::optional<ChangeDecision> overall_decision(std::span<const MetricDecision> decisions);

}  // namespace sluice
