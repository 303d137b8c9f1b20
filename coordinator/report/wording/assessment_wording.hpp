#pragma once

#include "coordinator/gate/aggregate_gate.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/merge/case_result.hpp"

#include <optional>
#include <string>

/// What a gate's assessment reads like: scores beside their baseline and limit.
namespace sluice::wording {

/// A score beside what it was compared with, all with the same decimals; an en dash where there is none.
struct ScoreWords {
  std::string score;
  std::string baseline;
  std::string delta;  ///< With its sign.
  /// The one that decides: `0.50 a vote` where each of several votes has to reach it, `0.50 a repeat` where
  /// some of several repeats missed it, and not their mean.
  std::string limit;
};
ScoreWords words_for(const AssessedMetric& metric);
ScoreWords words_for(const AggregateComparison& comparison);  ///< Without a limit.

/// `claims_f1 0.92 → 0.85 (-0.07), limit 0.87: dropped by more than is allowed`, with what else fails it.
/// With the agreement where votes do not all agree, and how many of several repeats missed a limit of each.
std::string assessed(const AssessedMetric& metric);
/// The case passed, and its suite says that it fails.
bool is_known_failure_that_passed(const CaseResult& result);
/// A metric that failed, was flaky or warned.
bool has_something_to_say(const AssessedMetric& metric);
/// The same, of one with a score.
bool misses_a_score(const AssessedMetric& metric);
/// `Recall dropped by 7 points (0.78 to 0.71)`: absolute points, a hundred to a score of 1.
std::string dropped(const AggregateComparison& comparison);
/// A difference of scores in points: `5 points`, `0.25 points`, `under 0.01 points`.
std::string points(double difference);
std::string aggregate_title(const AggregateComparison& comparison);  ///< `Precision`
std::string aggregate_status(AggregateOutcome outcome);              ///< `⚠ within limit`

/// The scores of a case that rose, each with baseline and delta.
std::string improvements(const CaseResult& result);
/// That it broke, was fixed, still fails, or is a known failure; empty where nothing of it is so.
std::string change_of(const CaseResult& result);
/// The names of a case's metrics that have no entry in the baseline; empty if none.
std::string missing_entries(const CaseResult& result);

/// The votes on one of the case's answers do not all agree, whatever became of it, or they alone would have
/// failed the case by a judge that is not calibrated.
bool judge_warns(const CaseResult& result);

}  // namespace sluice::wording
