#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

/// What one answer adds to a metric, in billionths. Every metric that is compared is a ratio of sums: the
/// mean of scores is sum of scores / number of answers, F1 is sum 2 TP / sum (2 TP + FP + FN). Billionths,
/// because those of the gate decide there too (docs/gate.md, "Exactness"), and because whole numbers add up
/// to the same in every order.
struct MetricShare {
  std::int64_t numerator = 0;
  std::int64_t denominator = 0;
};

/// REQUIRES: 0 <= score <= 1.
MetricShare share_of_score(double score);
MetricShare share_of_pass(bool passed);
/// Counts of one answer; those of a whole sample together below 2^31.
MetricShare share_of_precision(std::uint64_t true_positives, std::uint64_t false_positives);
MetricShare share_of_recall(std::uint64_t true_positives, std::uint64_t false_negatives);
MetricShare share_of_f1(std::uint64_t true_positives, std::uint64_t false_positives,
                        std::uint64_t false_negatives);

/// The repeats of a case on one side: their sums, how many there were, and each by itself. Undefined scores
/// and errors are not added; without any repeat the side is undefined.
struct RepeatSum {
  std::int64_t numerator = 0;
  std::int64_t denominator = 0;
  std::uint32_t repeats = 0;
  std::vector<MetricShare> several;  ///< All of them if there are two or more; one alone is the sums.

  void add(const MetricShare& share);
  void append_to(std::vector<MetricShare>& answers) const;
};

/// One case on both sides.
struct PairedCase {
  static constexpr std::uint32_t own_answers = 0xffffffff;

  RepeatSum base;
  RepeatSum current;
  std::uint32_t cluster =
      0;  ///< For instance the number of the category; read only where clusters are wanted.
  /// The same number for cases that one request answered, on whichever side: their outcomes are one piece of
  /// evidence. own_answers: answers of its own, or not known.
  std::uint32_t base_answers = own_answers;
  std::uint32_t current_answers = own_answers;
};

/// The answers of a case on both sides, for a test that permutes them within the case. Cases that share their
/// answers are one, if they have as many: what an answer adds to each of them changes its side as one.
struct CaseRepeats {
  std::vector<MetricShare> answers;  ///< First those of the base, then the current ones.
  std::size_t base = 0;              ///< How many are the base's.
  std::size_t unit = 0;  ///< The same for cases that are swapped as one, in no order that means anything.
};

/// What is swapped as a whole: a case, all cases of a cluster, or all that share answers. Means over the
/// repeats of each case, in billionths, added up over the cases. Means of a case that differ by no more than
/// rounding are made equal.
struct SwapUnit {
  std::int64_t base_numerator = 0;
  std::int64_t base_denominator = 0;
  std::int64_t current_numerator = 0;
  std::int64_t current_denominator = 0;

  bool changed() const {
    return base_numerator != current_numerator || base_denominator != current_denominator;
  }
};

/// Four sums over units, and what the metric comes to on both sides.
struct SwapSums {
  SwapUnit sums;

  void add(const SwapUnit& unit);
  void subtract(const SwapUnit& unit);
  std::optional<double> base() const;     ///< Empty for 0/0.
  std::optional<double> current() const;  ///< Empty for 0/0.
  std::optional<double> drop() const;     ///< base - current.
};

/// Pairs made ready for tests and intervals. The units stand in an order of their own that depends on their
/// values alone, so that results depend neither on the order of the cases nor on their names.
struct PairedSample {
  std::vector<SwapUnit> units;
  std::size_t left_out = 0;       ///< Cases that are undefined on a side.
  std::size_t pairs = 0;          ///< Cases with both sides; as many as units unless clustered.
  std::size_t changed_units = 0;  ///< With any difference between the sides.
  bool clustered = false;         ///< As was asked for, or since cases share answers.
  bool equal_repeats = true;      ///< Each case has as many repeats in the base as it has now.
  /// One repeat a side, and scores of 0 and 1 only.
  bool single_pass_fail = true;
  std::uint64_t lost = 0;    ///< If single_pass_fail: pairs with 1 in the base and 0 now.
  std::uint64_t gained = 0;  ///< If single_pass_fail: pairs with 0 in the base and 1 now.
  SwapSums totals;
  /// Of each pair; only if the repeats are not equal.
  std::vector<CaseRepeats> repeats;

  /// How many units of equal weight are as much evidence: (sum w)^2 / sum w^2 (Kish 1965), with the
  /// denominators as weights. As many as units for a mean of scores without clusters; 0 without units.
  double effective_units() const;

  /// Each unit's share in the drop, first order: their mean is the drop, their scatter its uncertainty. For
  /// a mean of scores the difference within the unit; for a ratio of sums with its influence on both sides.
  /// REQUIRES: the drop is defined.
  std::vector<double> unit_drops() const;
};

/// Clusters that share answers are one. Time: O(n log n), memory: some 60 bytes a case, and 16 an answer
/// where repeats are not equal.
PairedSample pair_cases(std::span<const PairedCase> cases, bool clustered);

}  // namespace sluice
