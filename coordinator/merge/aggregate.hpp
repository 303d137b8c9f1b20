#pragma once

#include "common/error.hpp"
#include "coordinator/facts/paid_by_arm.hpp"
#include "coordinator/gate/status.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/merge/scores.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace sluice {

/// Statuses and counts over some cases. Case errors are in `statuses` alone.
struct Totals {
  StatusCounts statuses;
  std::uint64_t not_started = 0;  ///< Of the errors: cases whose turn had not come when the run was stopped.
  std::uint64_t regressed = 0;    ///< Of the failed ones: with a fall below the baseline.
  std::uint64_t improved = 0;
  std::uint64_t broke = 0;           ///< CaseChange
  std::uint64_t dropped = 0;         ///< CaseChange
  std::uint64_t fixed = 0;           ///< CaseChange
  std::uint64_t still_failing = 0;   ///< CaseChange
  std::uint64_t known_failures = 0;  ///< Of the warned ones: those that warn for nothing else.
  std::uint64_t excused = 0;         ///< PassCounts
  std::uint64_t claims_cases = 0;    ///< Of CaseKind::claims, errors included; the others are texts.
  std::uint64_t failed_apart =
      0;  ///< Of the failed ones: those that no score of all cases shows (status.hpp).
  std::uint64_t trials = 0;
  std::uint64_t trial_errors = 0;     ///< Trials that were not assessed, those of case errors included.
  std::uint64_t lost_repeats = 0;     ///< Of cases that are no error: RepeatTally::errors.
  std::uint64_t missing_entries = 0;  ///< Scores without an entry in the baseline.
  /// Summed over the unperturbed repeats, so that precision and recall rest on all that was observed of the
  /// cases as they are; perturbed answers do not count in them.
  Counts counts;
  WeightedCounts weighted;

  void add(const CaseResult& result);
  /// What people are shown as errors: those that something went wrong with.
  std::uint64_t errors() const { return statuses.errors - not_started; }
  /// What people are shown as warned: known failures stand apart.
  std::uint64_t warned() const { return statuses.warned - known_failures; }
};

/// The share of its cases that passed (coordinator/gate/pass_rate.hpp).
inline std::optional<double> pass_rate(const Totals& totals) {
  return pass_rate(totals.statuses, totals.excused);
}

/// Whether nobody knows what an answer of the case took: its provider did not say it, now or into a cache, or
/// it was not recorded with it.
bool has_unknown_usage(const CaseResult& result, const UnitResult& unit);

/// What the case's answer took: 0 without one, and nothing where nobody knows.
std::optional<Usage> known_usage(const CaseResult& result);

/// A score over all cases that have it; of several repeats each case's mean counts.
struct ScoreTotal {
  std::uint64_t cases = 0;
  std::uint64_t failed = 0;  ///< Of them: those that failed by it, or were flaky.
  MeanScore scores;
  double lowest = 1.0;

  /// REQUIRES: a case.
  double mean() const { return scores.mean().value(); }
};

/// The aggregates of a run.
struct Aggregates {
  Totals all;
  std::map<std::string, Totals, std::less<>> by_category;
  PassCountsByPart pass_counts;
  std::map<ScoreId, ScoreTotal> scores;  ///< But for those of claims, which are counted.
  PaidTokens usage;                      ///< Each committed answer once, however many cases it serves.
  std::uint64_t unknown_usages = 0;      ///< Answers whose provider did not say what they took.
  PaidByArm usage_by_arm;                ///< The same; an answer that arms share is the first one's.
  std::optional<double> estimated_cost;  ///< US dollars for `usage`, to the nano-dollar.

  /// The tokens of all answers; nothing where those of one are unknown.
  std::optional<Usage> known_usage() const {
    return unknown_usages == 0 ? std::optional(usage.of(CallKind::answer)) : std::nullopt;
  }
};

/// Folds case results in plan order; its memory does not grow with the number of cases.
class AggregateFold {
 public:
  /// REQUIRES: ascending trial ids, as visit_cases hands them out.
  void add(const CaseResult& result);
  Aggregates finish(const RunPrice& price) const;

 private:
  Aggregates aggregates_;
  std::optional<UnitId> last_unit_;
};

/// Visits all cases of a run once. Without a price function the cost is unknown.
Result<Aggregates> aggregate(const RunResults& results, const RunPrice& price);

}  // namespace sluice
