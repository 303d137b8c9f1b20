#pragma once

#include "common/error.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/gate/baseline.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/gate/judge_changes.hpp"
#include "coordinator/gate/statistical_gate.hpp"
#include "coordinator/gate/status.hpp"
#include "coordinator/gate/test_changes.hpp"
#include "coordinator/suite/thresholding.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A metric of a case, out of a baseline or a report.
struct ComparedMetric {
  std::string name;             ///< A name that is not one of ours stands for a scored metric.
  std::optional<double> score;  ///< Empty: undefined.
  bool passed = true;           ///< Of a pass/fail metric, and of a judge metric: the majority of its votes.
  CheckDigest check = 0;        ///< Of a pass/fail metric; 0: a report that does not say it.
  ScoreDigest asks = 0;         ///< Of a score; 0: a side that does not say it.
  bool asked_by_name = false;   ///< The test names this metric (a YAML test; not a fixture).
  Thresholding thresholding;    ///< Over that of the suite; only the current side's counts.
  std::optional<double> min_score;
  /// Of a scored metric with repeats: of each, undefined ones empty. As many as the case's other metrics
  /// have; a baseline leaves undefined ones out, and a list of another length is assessed by its mean.
  std::vector<std::optional<double>> repeat_scores{};
  std::vector<bool> repeat_passed{};  ///< Of a pass/fail metric: the same by repeat.
  /// Of a judge metric, by repeat; a baseline has none, and is assessed by the scores.
  std::vector<VoteTally> votes{};
  /// Of a judge metric of a baseline: how many votes there were on each answer, where it says so.
  std::optional<std::uint32_t> samples{};
  /// Of a judge metric: what its side says of judge and rubric; null where it says nothing. The side owns it.
  const JudgePin* judged_by = nullptr;
  /// Of a judge metric of a run whose gate asked for a calibration.
  std::optional<CalibrationStanding> calibration{};
  /// Of one of several checks of the case by this metric: what it expects, in words; empty: not known.
  std::string expected{};
};

/// A check that the test names.
bool is_check(const ComparedMetric& metric);

/// True for a score, also of another tool; false for what only passes or fails.
bool is_scored(const ComparedMetric& metric);

/// One case of a side.
struct ComparedCase {
  std::string test_id;
  bool is_error = false;  ///< It was not assessed; its metrics do not count.
  std::vector<ComparedMetric> metrics;
  bool is_known_failure = false;  ///< The suite says that it fails.
  bool expects_nothing = false;   ///< No claim is expected, so that to extract nothing is the best answer.
  std::string category{};         ///< For tests by category.
  /// Of each repeat: 1 where every check passed, else 0. Empty: no check, or a baseline without repeats.
  std::vector<double> passes{};
  bool not_started = false;        ///< An error, and only because the run ended before its turn came.
  std::uint32_t non_answers = 0;   ///< Repeats without an answer (RepeatTally), which no metric lists.
  std::uint32_t lost_repeats = 0;  ///< Those that ended in any other error.
  /// PairedCase::current_answers; of a side that does not say it, answers of its own.
  std::uint32_t answers = PairedCase::own_answers;
};

/// Hands out the cases of a side one at a time, by id, byte by byte, each once; null after the last. What it
/// points at stays valid until the next call.
using NextCase = std::function<Result<const ComparedCase*>()>;

/// The cases of a baseline, which must be sealed and outlive the function.
NextCase cases_of(const Baseline& baseline);

/// What became of a score.
enum class RowChange : std::uint8_t {
  /// Undefined on either side without being a regression, or a check of which nobody knows what became of it.
  not_compared,
  unchanged,    ///< The same in billionths; a check that passes on both sides.
  improvement,  ///< Higher, or undefined where nothing is expected and the base has a score.
  drop,         ///< Lower, and not a regression.
  regression,   ///< Below the baseline's limit, whatever else fails it, or undefined where it was not.
  missing_in_baseline,
  missing_in_current,
  broke,          ///< A check that passed, and fails now.
  fixed,          ///< A check that failed, and passes now.
  still_failing,  ///< A check that fails on both sides.
  known_failure,  ///< It fails, is flaky or nothing judges it, and the suite says that the case fails.
  added,          ///< A check that the base's case does not make.
  changed,        ///< One in the place of a check of the base that asks something else.
};

std::string_view to_string(RowChange change);

/// One metric of one case on both sides. A view: valid while the callback runs that it is handed to.
struct ScoreComparison {
  std::string_view test_id;
  std::string_view metric;
  std::optional<double> score;
  std::optional<double> baseline;
  std::optional<double> limit;
  MetricStatus status = MetricStatus::unjudged;
  MetricCause cause = MetricCause::none;
  MetricCause further_cause = MetricCause::none;  ///< AssessedMetric
  RowChange change = RowChange::not_compared;
  bool is_check = false;                  ///< It passes or fails, and has no score.
  std::optional<bool> baseline_passed{};  ///< AssessedMetric
  CheckDigest check = 0;                  ///< ComparedMetric
  bool is_of_known_failure = false;       ///< The suite says that the case fails.
  /// Of the current side's case; it may fail by metrics that are flaky one by one.
  CaseStatus case_status = CaseStatus::pass;
  std::optional<VoteTally> votes{};         ///< Of a judge metric.
  std::string_view expected{};              ///< ComparedMetric, of the side that knows it.
  std::span<const double> repeat_scores{};  ///< AssessedMetric

  std::optional<double> delta() const {
    if (!score || !baseline) return std::nullopt;
    return score_delta(*score, *baseline);
  }
};

/// A metric of a case on both sides that asks something else in each, or of somebody else.
struct ChangedMetric {
  std::string test_id;
  std::string metric;
  friend auto operator<=>(const ChangedMetric&, const ChangedMetric&) = default;
};

struct CompareRules {
  Thresholding suite;
  Thresholding tests{};  ///< By it all cases are tested for whether their checks pass (StatisticalGate).
  double default_max_drop = defaults::max_drop;
  bool strict = false;
  MinPassRates min_pass_rates{};        ///< Of the run of the current side.
  std::span<const std::string> arms{};  ///< Of that run; each is tested by itself.
  std::uint64_t seed = 0;               ///< Of the tests over all cases.
  bool runs_tests = true;               ///< False: only the rows are wanted, and no tests of all cases.
  /// A part of the suite: the cases that it lacks were left out by intention, and are no warning. A metric
  /// that it lacks of a case which it has still is one.
  bool base_is_selection = false;
  bool base_has_checks = true;        ///< False: a baseline of scores alone, beside which no check is new.
  bool current_is_selection = false;  ///< The same of the current side.
  /// Cases that a run had and its side lacks, since the suite does not have them any more; by id.
  std::span<const std::string> base_lost{};
  std::span<const std::string> current_lost{};
  /// By case and metric. A score of theirs stands by itself; checks are told apart by what they ask anyway.
  std::span<const ChangedMetric> judged_otherwise{};
};

/// What a comparison came to. The counts are of scores, `verdict_input.statuses` of the current side's cases.
struct CompareSummary {
  std::uint64_t unchanged = 0;
  std::uint64_t improvements = 0;
  std::uint64_t drops = 0;
  std::uint64_t regressions = 0;
  std::uint64_t broke = 0;
  std::uint64_t fixed = 0;
  std::uint64_t still_failing = 0;
  std::uint64_t known_failures = 0;
  std::uint64_t known_failures_passed = 0;  ///< Of cases: each warns until its suite says so no more.
  std::uint64_t missing_in_baseline = 0;
  std::uint64_t missing_in_current = 0;
  std::uint64_t missing_checks = 0;  ///< Checks of a case of both sides that the current one does not make.
  std::uint64_t added_checks = 0;    ///< Of RowChange::added.
  std::uint64_t changed_checks = 0;  ///< Of RowChange::changed.
  std::uint64_t unpinned = 0;        ///< Of those missing in the baseline: they warn.
  std::uint64_t left_out = 0;        ///< Of those missing in the current side: by intention, and no warning.
  std::uint64_t disagreements = 0;   ///< Of judge metrics: the votes, where nothing else failed or warned.
  std::uint64_t uncalibrated = 0;    ///< Judge metrics without a calibration that their run's gate asked for.
  std::uint64_t not_started = 0;     ///< Of the current side's cases that are errors.
  std::uint64_t lost_repeats = 0;    ///< Of its other cases: repeats that ended in an error.
  bool shares_no_case = false;       ///< Both sides have cases, and none of them is the same.
  bool has_scores = false;           ///< Either side has a scored metric of a assessed case.
  TestChanges tests;                 ///< Also of what a selection left out.
  JudgeDifferences judges;           ///< Of the scores that are compared.
  std::vector<std::string> error_cases;  ///< The current side's cases that are errors, by id.
  /// Cases of checks that the base alone has, by id: those of TestChanges::gone without a score, which
  /// `missing_in_current` would count.
  std::vector<std::string> gone_checks;
  std::optional<StatisticalAssessment> statistics;  ///< StatisticalGate::outcome.
  VerdictInput verdict_input;                       ///< Without what `statistics` adds (verdict_input.hpp).
  RunVerdict verdict = RunVerdict::error;           ///< Of the cases alone, without what `statistics` adds.

  /// The current side's cases that ended in an error, as a report for people counts them.
  std::uint64_t errors() const { return verdict_input.statuses.errors - not_started; }
};

/// `no_scores`, which decides nothing: none of these files or runs, at least two, has a score.
GateNotice no_scores_notice(std::span<const std::string> compared);

/// `mock_run`, which decides nothing: the current side alone has answers that no model gave.
GateNotice mock_run_notice(const std::string& base, const std::string& current);

/// `judge_uncalibrated`, a failure under strict; nothing where the summary counts none.
std::optional<GateNotice> uncalibrated_notice(const CompareSummary& summary, const std::string& current,
                                              bool strict);

/// Compares two sides by the rules of the gate (Gate::assess, assessed_repeats, assessment_of_repeats,
/// StatisticalGate): scores of the current side against those of the base. A base score without a current one
/// warns, and fails under strict; not so where the current case is an error, or a selection left it out. So
/// does a check of a case of both sides; as many others by its metric stand for it as one that asks something
/// else (TestChanges::judged_otherwise).
/// Calls `visit` in id order. Holds one case of each side at a time. Fails when a side does, or with
/// fixture_invalid when its cases are not ascending or stand there twice. Pure.
Result<CompareSummary> compare(const NextCase& base, const NextCase& current, const CompareRules& rules,
                               const std::function<void(const ScoreComparison&)>& visit);

}  // namespace sluice
