#pragma once

#include "coordinator/gate/aggregate_gate.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/merge/case_result.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// What a gate's assessment reads like: scores beside their baseline and limit, and the explanation of a
/// failed case.
namespace sluice::wording {

/// As few decimals as keep the scores apart that the gate keeps apart, from 2 to 9.
int decimals_for(std::initializer_list<std::optional<double>> scores);

/// A score beside what it was compared with, all with the same decimals; an en dash where there is none.
struct ScoreWords {
  std::string score;
  std::string baseline;
  std::string delta;  ///< With its sign.
  std::string limit;
};
ScoreWords words_for(const AssessedMetric& metric);
ScoreWords words_for(const AggregateComparison& comparison);  ///< Without a limit.

/// `claims_f1 0.92 → 0.85 (-0.07), limit 0.87: dropped by more than is allowed`. With the agreement where
/// votes do not all agree.
std::string assessed(const AssessedMetric& metric);
/// The scores that a case failed or warned by, each as `assessed` has it.
std::vector<std::string> missed_scores(const CaseResult& result);
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

/// What a failed or warned case's explanation is made of.
enum class CaseLineKind : std::uint8_t {
  change,   ///< Beside the baseline's checks, or what the suite knows of it.
  repeats,  ///< How many failed, where there were several.
  score,
  expected,
  rationale,
  judgement,  ///< A judge's own words, in one line.
  got,
  nothing_got,
  detail,
  forbidden,
  unexpected,
};

struct CaseLine {
  CaseLineKind kind = CaseLineKind::detail;
  std::string text;  ///< Foreign text in it is neither printable nor escaped yet.
};

/// `Expected`, `Got`, ...
std::string_view label_of(CaseLineKind kind);

/// Why a case failed or warned: the metrics that decided so, what was expected and why, and what came.
/// `rubrics` are Suite::rubrics, `details` is memory to reuse.
std::vector<CaseLine> explanation(const CaseResult& result, std::span<const Rubric> rubrics,
                                  CaseDetails& details);
/// The explanation in plain text: `Label: words` a line, each ending with a line feed.
std::string plain_text(const std::vector<CaseLine>& explanation);
/// The explanation in one short line: its first score, or what was expected and what came.
std::string headline(const std::vector<CaseLine>& explanation);
/// The text's first line, cut where it is long.
std::string first_line(std::string_view text);

}  // namespace sluice::wording
