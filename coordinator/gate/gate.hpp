#pragma once

#include "common/model/metrics.hpp"
#include "common/model/votes.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/gate/baseline.hpp"
#include "coordinator/gate/billionths.hpp"
#include "coordinator/gate/status.hpp"
#include "coordinator/suite/case.hpp"
#include "coordinator/suite/score_id.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// What a metric came to once thresholds and baseline were applied; `flaky` of repeats that disagree.
enum class MetricStatus : std::uint8_t { unjudged, pass, warn, fail, flaky };

/// Why; more than one limit may be missed: that of the baseline counts before the strictest of the others.
enum class MetricCause : std::uint8_t {
  none,                    ///< It passed, or nothing assesses it.
  not_passed,              ///< A pass/fail metric.
  broke,                   ///< The same, and it passed when the baseline was made.
  still_failing,           ///< The same, and it did not pass then either: warns.
  below_min_score,         ///< `absolute`, or `expected.min_score`.
  below_min_floor,         ///< `relative`.
  dropped,                 ///< `relative`: more than `max_drop` below the baseline, whatever else it misses.
  became_undefined,        ///< The baseline has a score, this run has none (0/0).
  missing_in_baseline,     ///< A scored metric under `relative` without an entry: warns.
  assessed_statistically,  ///< `statistical`: the baseline's score counts with those of all cases.
  assessed_by_score,       ///< A pass/fail claims metric of a case whose claims scores are assessed: does not
                           ///< count.
  no_majority,             ///< Of a judge metric: no more than half of the votes passed.
  judge_disagrees,         ///< It would pass, but not all votes agree: warns.
  judge_uncalibrated,      ///< It would fail, but by a judge without the calibration that the gate asks for:
                           ///< warns.
  judge_kappa_low,         ///< The same of a judge whose calibration is not good enough.
  known_failure,           ///< It would fail or nothing judges it, and the case says that it fails: warns.
  known_failure_passed,    ///< It passed, and the case says that it fails: warns.
};

std::string_view to_string(MetricStatus status);
std::string_view to_string(MetricCause cause);

/// What the votes on a judge metric came to; of several repeats those of all of them together.
struct VoteTally {
  std::uint32_t rubric = 0;   ///< Position in Suite::rubrics.
  std::uint32_t samples = 0;  ///< Votes on each answer.
  std::uint32_t votes = 0;
  std::uint32_t passed = 0;           ///< Of the votes.
  std::optional<double> min_score{};  ///< What each had to reach; not known of every report.
  bool disagree = false;              ///< Those on one answer did; of several repeats, in any of them.
  std::uint32_t answers = 1;          ///< Of several repeats: those with votes.
  std::uint32_t outvoted = 0;         ///< Of several repeats: those of which no majority of the votes passed.
  std::string_view rationale;         ///< Of the JudgeScore; of several repeats, of the one that is shown.

  /// The share of the larger side: 0.5 to 1. REQUIRES: there is a vote.
  double agreement() const;
};

/// The votes of one answer.
VoteTally tally_of(const JudgeScore& judged);

struct JudgeCalibration;
class RequiredCalibrations;

/// Whether a judge metric may fail a case where the gate asks for a calibration.
enum class CalibrationStanding : std::uint8_t {
  calibrated,
  missing,         ///< There is none of this suite, rubric, judge and number of votes.
  other_criteria,  ///< There is one, of other criteria, or of another least score of a vote.
  fake,            ///< The votes are the fake judge's, which is not worth one.
  kappa_low,       ///< The lower end of kappa's interval is below the limit, or kappa is undefined.
};

std::string_view to_string(CalibrationStanding standing);

/// What a gate that asks for calibrations found of a judge metric.
struct CalibrationCheck {
  CalibrationStanding standing = CalibrationStanding::missing;
  const JudgeCalibration* found = nullptr;  ///< Of the RequiredCalibrations; null where there is none.
};

/// Where no claim is expected, precision and F1 are undefined if none is made, and 0 if any is. So beside a
/// score an undefined one is worth 1. Recall is always undefined there.
inline constexpr std::optional<double> worth_of_silence = 1.0;
/// Whether it stands for an undefined score of the metric.
inline bool is_silence_best_of(MetricId id, bool expects_nothing) {
  return expects_nothing && is_claims_metric(id) && info(id).kind == MetricKind::scored &&
         id != MetricId::claims_recall;
}
/// What is pinned of a score, and held against a pin.
inline std::optional<double> worth_of(const std::optional<double>& score, bool is_silence_best) {
  return score || !is_silence_best ? score : worth_of_silence;
}

/// One metric of a case beside what it had to reach.
struct AssessedMetric {
  MetricId id = MetricId::claims_precision;
  /// Of a score that its test names (ScoreId); what holds it must outlive its use.
  std::string_view name{};
  std::optional<double> score;
  std::optional<double> baseline;         ///< The baseline's score.
  std::optional<bool> baseline_passed{};  ///< Of a pass/fail metric: whether it did in the baseline.
  /// The baseline's score is of what the test asked before: it is not compared.
  bool asked_otherwise = false;
  std::optional<double> limit;  ///< The lowest score that passes; empty where nothing assesses a score.
  MetricStatus status = MetricStatus::unjudged;
  MetricCause cause = MetricCause::none;
  std::string_view detail;       ///< Of the MetricOutcome.
  bool asked_by_name = false;    ///< The case's expectations name this metric.
  bool is_silence_best = false;  ///< No claim is expected: an undefined score is worth_of_silence.
  /// `statistical`: the comparison with the baseline is that of all cases (statistical_gate.hpp).
  bool is_left_to_tests = false;
  /// Of the repeats that `score` is the mean of, in their order, undefined ones left out; empty: one repeat.
  std::vector<double> repeat_scores{};
  /// Of what is_pinned() and has several repeats.
  CheckRepeats repeat_passes{};
  /// Of a metric that the case names: one of the case's, which must outlive its use. Null out of a report.
  const Expectation* expectation = nullptr;
  /// What a pass/fail metric decided, also where a score assesses instead or its failure is excused; of
  /// several repeats what at least half of them did.
  bool passed = true;
  /// Of several repeats some became undefined, whatever `cause` says of most that failed.
  bool some_repeat_became_undefined = false;
  std::optional<VoteTally> votes{};               ///< Of a judge metric.
  std::optional<CalibrationCheck> calibration{};  ///< Of a judge metric whose gate asks for one.
  /// Its judge is not calibrated as the gate asks for: what would fail warns, in the tests of all cases too.
  bool fails_nothing = false;
  /// Why it fails by a judge that is not calibrated, or as a known failure; `none` where it does not.
  MetricCause spared = MetricCause::none;
  /// Why a check, a fixed limit or the votes fail it whatever the baseline says, and whatever `cause` names;
  /// `none` where they do not, or of several repeats in no more than half of them.
  MetricCause own_cause = MetricCause::none;
  /// The baseline's score missed a fixed limit, or surely had no majority, or a check passed in none of its
  /// several repeats: what fails so now failed before.
  bool had_failed = false;
  /// Of several repeats: the one that is shown did not come to `status`, so that there is no detail of it.
  bool only_in_other_repeats = false;
  /// Of several repeats and each of them: the baseline's limit, where their mean is below it, so that the
  /// case fails as a whole.
  std::optional<double> missed_by_mean{};

  bool is_scored() const { return info(id).kind == MetricKind::scored; }
  ScoreId score_id() const { return {id, std::string(name)}; }
  /// The metric, with the score's own name (score_text).
  std::string shown_name() const { return score_text(id, name); }
  /// A pass/fail metric that the case names; those that come with every claims case are none.
  bool is_check() const;
  /// A check, or whether a fixture's forbidden claims were found: a baseline pins what became of it.
  bool is_pinned() const;
  /// REQUIRES: is_pinned(). Computed anew at each call; of a fixture the same for all.
  CheckDigest check() const;
  /// REQUIRES: a score. As check().
  ScoreDigest asks() const;
  /// What is pinned, and held against a pin: the score, or where silence is the best answer what it is worth.
  std::optional<double> worth() const { return worth_of(score, is_silence_best); }
  /// A pass/fail metric that passed, or in at least half of its repeats, whatever excuses it where it did
  /// not.
  bool holds() const;
  /// Of a check that the baseline pins as failed: it passes now, in each of its repeats.
  bool is_fixed() const;
  /// Its failure was known, to the baseline or to the suite.
  bool is_excused() const {
    return cause == MetricCause::still_failing || cause == MetricCause::known_failure;
  }
  /// Of a case that the suite says fails: nothing judged it, so that nobody knows whether it still does.
  bool is_known_and_unjudged() const;
  bool fails_by_itself() const { return own_cause != MetricCause::none; }
  /// What else fails it where `cause`, or what is spared, is a drop below the baseline; else `none`.
  MetricCause further_cause() const {
    const bool has_dropped = cause == MetricCause::dropped || spared == MetricCause::dropped;
    return has_dropped ? own_cause : MetricCause::none;
  }
  /// In its only repeat or in any of several.
  bool became_undefined() const {
    return cause == MetricCause::became_undefined || some_repeat_became_undefined;
  }
  std::optional<double> delta() const {
    if (!score || !baseline) return std::nullopt;
    return score_delta(*score, *baseline);
  }
};

/// What became of a case beside what is pinned of it.
enum class CaseChange : std::uint8_t {
  none,
  broke,          ///< A check fails that passed when the baseline was made.
  dropped,        ///< No check broke, and it regressed by a score all the same.
  fixed,          ///< It does not fail, and a check passes that failed then.
  still_failing,  ///< A check fails, as it did then, and nothing got worse.
};

std::string_view to_string(CaseChange change);

/// What a case came to.
struct CaseAssessment {
  CaseStatus status = CaseStatus::error;
  bool regressed = false;  ///< Failed by `dropped`, `became_undefined` or `broke`, whatever else failed.
  bool improved = false;   ///< Did not fail, and a score is above its baseline's, or it was fixed.
  std::vector<AssessedMetric> metrics;
  /// The share of the baseline's repeats in which every check passed, those left out that failed in most of
  /// them, as none of these can break; nothing: it has one answer, or no check.
  std::optional<double> baseline_passes{};
  /// Of one repeat: the model gave no answer (error.hpp, is_non_answer). It failed, and has no scores.
  bool is_non_answer = false;

  CaseChange change() const;
  /// Fails, or only does not because a failure is excused.
  bool has_failed() const;
  /// Warns for nothing but failures that were known: to the baseline, or to the suite. Decides nothing.
  bool only_known_failures() const;
  /// Warns for a failure that was known, alone or beside what else it warns of: it did not pass.
  bool is_excused() const;
};

/// Of each repeat of a case, or its only answer: 1 where every check passed, whatever excuses one that did
/// not, else 0; empty without a check.
std::vector<double> passes_of_checks(std::span<const AssessedMetric> metrics);

/// In which repeats of a base, and now, all checks of a test passed: 1 where they did, else 0.
struct ComparedPasses {
  std::vector<double> base;
  std::vector<double> current;
};

/// Leaves out the checks that failed in every repeat of both sides, where others are left: they hide what the
/// others do. One side alone must not decide: a check that failed there by luck would lower the other side,
/// and an unchanged model would seem to pass less often. `base` leaves out what passed in none of its repeats
/// (passed_ever). `current` is of all checks; it stands where it is not known how each of them came out.
ComparedPasses compared_passes(const BasePasses& base, std::vector<double> current,
                               std::span<const AssessedMetric> metrics);

/// What a case comes to whose suite says that it fails: its failures warn, those that the baseline knows too,
/// and so does that it passes; where nothing is judged it is a known failure all the same.
void take_as_known_failure(CaseAssessment& assessment);

/// What a worker hands out of one answer (result.hpp, TrialScore).
struct ScoredAnswer {
  std::span<const MetricOutcome> outcomes;
  std::span<const JudgeScore> judged{};
};

/// Checks cases. Immutable; thread-safe. The baseline must outlive it.
class Gate {
 public:
  struct Config {
    Thresholding suite;                  ///< `settings.thresholding`.
    const Baseline* baseline = nullptr;  ///< Scores by case; null: there is none.
    /// max_drop where neither suite nor test names one: `--threshold`.
    double default_max_drop = defaults::max_drop;
    /// Without them judge scores warn where they would fail; null: the gate asks for none.
    std::shared_ptr<const RequiredCalibrations> calibrations{};
    /// The arm whose scores the baseline has: what is undefined of its own answers was so then.
    std::optional<std::uint32_t> baseline_arm{};
  };

  explicit Gate(Config config) : config_(std::move(config)) {}
  /// Without thresholds and baseline: only pass/fail metrics assess.
  Gate() = default;

  /// REQUIRES: `outcomes` and `judged` as a worker hands them out for this case (result.hpp, TrialScore).
  /// Outcomes that the case did not ask for are left out.
  ///
  /// - A judge metric fails without a majority of passing votes; that is what its `expected.min_score`
  ///   decides, which is not asked of the mean again. Its mean is compared like any score. Where it would
  ///   pass and not all votes agree, it warns; so where it would fail, and there is no calibration that is
  ///   good enough where one is asked for.
  /// - With a baseline, a scored metric is under `relative` unless its thresholding says `absolute`; without
  ///   one `relative` leaves only its `min_floor`. Where no mode is named, a `min_score` holds too.
  /// - An undefined score is `became_undefined` where the baseline has one, and misses every fixed limit
  ///   above 0; where the case expects no claim, saying nothing is the best answer, and passes.
  /// - Where a threshold assesses one of the case's claims scores (a limit applies to a defined score, or it
  ///   became undefined), the pass/fail claims metrics say the same without a baseline and are `unjudged`,
  ///   unless the case's expectations name them. claims_absent stays where the baseline's model had extracted
  ///   nothing, as no pinned score could fall for a wrong claim; and claims_forbidden always: it is held
  ///   against its own pin, and counts as passed in a baseline that has the case and no such pin.
  /// - A pass/fail metric that the case names and that is pinned as failed is `still_failing`, and warns; one
  ///   that is pinned as passed is `broke`.
  /// - A case without a claims score in the baseline lacks nothing if this run has none either, nor without
  ///   a precision if nothing had been extracted then (its recall or F1 is pinned at 0).
  CaseAssessment assess(const Case& test_case, std::span<const MetricOutcome> outcomes,
                        std::span<const JudgeScore> judged = {}) const;

  /// The same of each answer of a case, of which the first `repeats` are its repeats and the others are
  /// perturbed, but that the mean of the repeats is held against the baseline (repeated_assessment.hpp,
  /// assessed_repeats).
  std::vector<CaseAssessment> assess_answers(const Case& test_case, std::span<const ScoredAnswer> answers,
                                             std::size_t repeats) const;

  const Config& config() const { return config_; }

 private:
  Config config_;
};

/// Something about the comparison as a whole that its reader must know.
struct GateNotice {
  enum class Severity : std::uint8_t {
    info,     ///< Decides nothing, even under --strict.
    warning,  ///< The verdict is at least `review`, unless the notice does not decide.
    failure,  ///< The verdict is at least `fail`: a warning under --strict.
  };
  Severity severity = Severity::warning;
  std::string code;     ///< Stable: `fingerprint_mismatch`, `tool_version_mismatch`, `unused_entries`, ...
  std::string message;  ///< One sentence: what, and what to do.
  bool decides = true;  ///< False for a warning that leaves the verdict alone, even under --strict.
  std::string_view subject = "Baseline";  ///< What it is about, where a heading is wanted.
};

/// A warning, or under --strict a failure.
constexpr GateNotice::Severity warning_under(bool strict) {
  return strict ? GateNotice::Severity::failure : GateNotice::Severity::warning;
}

}  // namespace sluice
