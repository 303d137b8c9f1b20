#pragma once

#include "common/model/metrics.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/suite/thresholding.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace sluice {

/// What a baseline says of one score.
struct PinnedScore {
  enum class State : std::uint8_t {
    no_baseline,  ///< There is nothing to compare with.
    absent,       ///< No entry.
    undefined,    ///< No entry, because there was no score (0/0) when the baseline was made.
    pinned,
  };
  State state = State::no_baseline;
  double score = 0.0;  ///< Only when pinned. Of a pass/fail metric 1 if it passed, else 0.
  /// The highest of the repeats that `score` is the mean of, of a check whether it passed in any; empty:
  /// there was one, or it is not known.
  std::optional<double> best{};
  /// Absent because the entry is of what the test asked before.
  bool asked_otherwise = false;
  /// Of a judge metric: the votes on each answer then, where they are known.
  std::optional<std::uint32_t> samples{};
};

/// One metric of a case beside all that assesses it. The gate of a run and `sluice compare` use it alike.
struct MetricQuestion {
  const MetricInfo* metric = nullptr;  ///< Null for a scored metric of another tool.
  std::string_view name{};             ///< AssessedMetric
  std::optional<double> score;         ///< Of a scored metric.
  /// Of several repeats the mean of their scores: it is held against the baseline, and no single score is.
  std::optional<double> mean{};
  bool passed = false;  ///< Of a pass/fail metric; of a judge metric, that more than half of the votes pass.
  bool asked_by_name = false;   ///< The test names this metric: never superseded.
  bool best_undefined = false;  ///< Nothing was expected, so that no score (0/0) is the best answer.
  const Expectation* expectation = nullptr;  ///< AssessedMetric
  PinnedScore pinned;
  Thresholding thresholding;  ///< The suite's and the test's, merged.
  std::optional<double> min_score;
  std::optional<VoteTally> votes{};               ///< Of a judge metric.
  std::optional<CalibrationCheck> calibration{};  ///< Of a judge metric whose gate asks for one.

  /// Where worth_of_silence stands for an undefined score.
  bool is_silence_best() const { return metric != nullptr && is_silence_best_of(metric->id, best_undefined); }
  /// AssessedMetric
  std::optional<double> worth() const { return worth_of(score, is_silence_best()); }
  bool is_scored() const { return metric == nullptr || metric->kind == MetricKind::scored; }
  bool is_judged() const { return metric != nullptr && is_judge_metric(metric->id); }
};

struct MetricAnswer {
  std::optional<double> limit;  ///< The lowest score that passes; empty where nothing assesses a score.
  MetricStatus status = MetricStatus::unjudged;
  MetricCause cause = MetricCause::none;
  bool is_left_to_tests = false;              ///< AssessedMetric
  bool fails_nothing = false;                 ///< AssessedMetric
  MetricCause spared = MetricCause::none;     ///< AssessedMetric
  std::optional<double> missed_by_mean{};     ///< AssessedMetric
  MetricCause own_cause = MetricCause::none;  ///< AssessedMetric
  bool had_failed = false;                    ///< AssessedMetric
};

/// True if a metric that fails by this cause is worse than in the baseline: whatever else it fails by.
bool fell_below_baseline(MetricCause cause);

/// Pinned as worth_of_silence: where no claim is expected, none had been made.
bool is_as_silence(const PinnedScore& pinned);

/// Undefined scores are not exported where claims are expected. A baseline without a claims_precision for a
/// case lacks nothing where nothing had been extracted from it: then its recall or F1 is there and 0.
bool nothing_was_extracted(std::optional<double> pinned_recall, std::optional<double> pinned_f1);

/// What stays the same for all metrics of a run.
struct AssessmentRules {
  double default_max_drop = defaults::max_drop;
};

/// Checks the metrics of one case (gate.hpp, Gate::assess; docs/gate.md): an answer for each question, in
/// their order.
std::vector<MetricAnswer> assess_metrics(std::span<const MetricQuestion> questions,
                                         const AssessmentRules& rules);

/// What a case, or one repeat of it, comes to by all of its metrics: in the order of the questions, without
/// their details. Of a metric that is not one of ours the id says nothing. `error` without any question
/// (status.hpp, case_status).
CaseAssessment assessed_case(std::span<const MetricQuestion> questions, const AssessmentRules& rules);

}  // namespace sluice
