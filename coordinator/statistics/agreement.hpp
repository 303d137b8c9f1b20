#pragma once

#include "coordinator/statistics/intervals.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace sluice {

/// How often a judge and the labels came to which pair of verdicts.
struct VerdictCounts {
  std::uint64_t both_pass = 0;
  std::uint64_t judge_alone = 0;  ///< The judge passes what the label fails.
  std::uint64_t label_alone = 0;  ///< The judge fails what the label passes.
  std::uint64_t both_fail = 0;

  void add(bool judge_passes, bool label_passes);
  std::uint64_t answers() const { return both_pass + judge_alone + label_alone + both_fail; }
};

/// A point estimate with its two-sided interval.
struct AgreementEstimate {
  double value = 0.0;
  Interval interval;
};

/// Where kappa stands beside a limit that a gate asks for.
enum class KappaStanding : std::uint8_t {
  above,    ///< The whole interval is at or above the limit.
  below,    ///< The whole interval is below it.
  unclear,  ///< The limit lies within the interval, or kappa is undefined: more labels are needed.
};

/// Agreement of a judge with labels, over answers that come in cases. Memory: that of ClusteredProportion;
/// the order of `add` matters in the last bits alone. A value type.
class JudgeAgreement {
 public:
  /// All judged and labelled answers of one case: repeats of a case are no independent evidence. Nothing
  /// without answers.
  void add_case(const VerdictCounts& answers);

  std::uint64_t cases() const { return cases_; }
  const VerdictCounts& counts() const { return counts_; }

  /// The share of answers on which both agree. Its interval is Clopper and Pearson's with the effective
  /// number of answers (Korn and Graubard 1998). Empty without answers.
  std::optional<AgreementEstimate> raw(double confidence) const;

  /// Cohen's kappa (1960): 1 - observed disagreement / that of two who pass as often, independently of each
  /// other. Empty where the latter is 0 (all verdicts of both are the same) and without answers. 0 where one
  /// of the two always says the same, whatever the other does.
  ///
  /// The interval is Wilson's idea for four cells: kappa's range over all tables of probabilities that the
  /// score test (Pearson's chi-square, one degree of freedom) does not tell from the observed one, with a
  /// correction for continuity. It stays within -1..1, and has a width at kappa = 1. Time: some 0.1 ms.
  /// REQUIRES: 0 < confidence < 1.
  std::optional<AgreementEstimate> kappa(double confidence) const;

  /// By the interval of that confidence.
  KappaStanding standing(double limit, double confidence) const;

 private:
  double effective_answers(const std::array<double, 4>& influence, double confidence) const;

  VerdictCounts counts_;
  ClusteredProportion agreed_;
  std::uint64_t cases_ = 0;
  double case_squares_ = 0.0;  ///< Of the cases' numbers of answers.
  /// Sums over the cases of the products of two cells' counts: what any weighting of the cells scatters.
  std::array<std::array<double, 4>, 4> products_{};
};

}  // namespace sluice
