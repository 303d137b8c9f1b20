#pragma once

#include "common/model/metrics.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/facts/paid_by_arm.hpp"
#include "coordinator/gate/statistical_gate.hpp"
#include "coordinator/merge/aggregate.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/statistics/bootstrap.hpp"
#include "coordinator/statistics/change_decision.hpp"
#include "coordinator/statistics/paired_sample.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// What one arm came to over all tests.
struct ArmSummary {
  std::string name;
  Totals totals;
  std::uint64_t unknown_usages = 0;      ///< Answers whose provider did not say what they took.
  PaidTokens usage;                      ///< Of its answers, paid now or read from a cache.
  std::optional<double> estimated_cost;  ///< US dollars for them.
  /// Means over the tests of the means over each test's repeats, of what its answers were asked for. Nothing
  /// where all of them are undefined (0/0). Beside any score of any arm those that are worth_of_silence
  /// count.
  std::map<ComparedMean, std::optional<double>> means;
  /// Of answers that were called for in this run: from the start of a case to its answer without the waits
  /// for permits, pauses and retries, in milliseconds. Nothing where all came from a cache.
  std::uint64_t called = 0;
  std::optional<std::uint32_t> latency_p50;
  std::optional<std::uint32_t> latency_p95;

  /// The tokens of its answers; nothing where those of one are unknown.
  std::optional<Usage> known_usage() const {
    return unknown_usages == 0 ? std::optional(usage.of(CallKind::answer)) : std::nullopt;
  }
};

/// What the tests that both arms answered say of two arms.
enum class ArmVerdict : std::uint8_t {
  better,      ///< The second one is better, beyond chance, and by at least min_effect.
  worse,       ///< It is worse in the same sense.
  equivalent,  ///< A difference of min_effect can be excluded in both directions.
  undecided,   ///< More tests or repeats are needed.
};

std::string_view to_string(ArmVerdict verdict);

struct ArmMetricComparison {
  ComparedMean metric;
  PairedComparison comparison;  ///< `base` is the first arm, `current` the second.
  MetricDecision decision;
  DisplayIntervals intervals;  ///< For the eye: no verdict comes from them.
  ArmVerdict verdict = ArmVerdict::undecided;

  /// The second arm's mean over the first one's.
  std::optional<double> gain() const;
  /// Nothing where DisplayIntervals has none of the drop.
  std::optional<Interval> gain_interval() const;
};

/// Two arms beside one another.
struct ArmPair {
  std::size_t first = 0;  ///< Positions in RunArms::arms; `first` is the baseline's, else the earlier.
  std::size_t second = 0;
  std::vector<ArmMetricComparison> metrics;
};

/// A test that did not come to the same under all arms that it was assessed under.
struct DifferingTest {
  std::string test;  ///< Its id, without an arm.
  /// By arm; nothing of a case that was not started, which is no difference by itself.
  std::vector<std::optional<CaseStatus>> statuses;
};

/// The arms of a run side by side.
struct RunArms {
  std::vector<ArmSummary> arms;
  std::vector<ArmPair> pairs;
  std::uint64_t tests = 0;
  std::uint64_t differing = 0;             ///< Tests that came to something else under some arm, and
  std::uint64_t differing_by_errors = 0;   ///< others that ended in an error under some arm alone.
  std::vector<DifferingTest> differences;  ///< The first of them, by id (defaults::kept_differences).
  DecisionRules rules;                     ///< `confidence` is that of each direction.
  double confidence = 0.0;                 ///< Of a verdict: both directions together.
  bool counts_silence = false;             ///< Some mean counts worth_of_silence beside scores.
};

/// `arm_worse` (a failure) and `arm_undecided` (a warning): what the others came to beside one arm, for a run
/// that is gated by tests of all cases. `arm_worse` of `fail_nothing`, whose judge is not calibrated as the
/// gate asks for, is a warning. Whether tests pass is never undecided: each that fails does so by itself.
std::vector<GateNotice> arm_notices(const RunArms& arms, std::size_t baseline,
                                    std::span<const ScoreId> fail_nothing = {});

/// The same of a run that is not: `arm_worse` of arms whose tests pass less often, at the confidence of a
/// test that nobody asked for (defaults::statistics::unasked_confidence).
std::vector<GateNotice> arm_pass_notices(const RunArms& arms, std::size_t baseline);

/// How arms are told apart (docs/arms.md).
struct ArmRules {
  double confidence = defaults::statistics::confidence;
  double min_effect = defaults::min_effect;
  bool by_category = false;               ///< Tests of a category are swapped as one.
  std::optional<std::size_t> baseline{};  ///< Only this arm is compared with the others.
  std::uint64_t seed = 0;
};

/// Folds the cases of a run with arms, in plan order. Tests that share their answers under an arm are one
/// piece of evidence. Memory: some 100 bytes a case and metric.
class RunArmsFold {
 public:
  RunArmsFold(std::vector<std::string> names, const ArmRules& rules);
  void add(const CaseResult& result);
  /// Call once.
  RunArms finish(const RunPrice& price);

 private:
  /// One arm's scores in a metric, by test; empty: none of its answers was asked for one.
  using Scores = std::vector<RepeatSum>;
  struct MetricScores {
    std::vector<Scores> by_arm;
    bool any_score = false;  ///< Else all there is are undefined scores.
    bool any_silence = false;
  };

  void add_scores(const CaseResult& result);
  void add_status(const CaseResult& result);
  /// What it is worth of one more answer, and whether that is a score.
  void add_score(const ComparedMean& metric, const Case& test_case, const std::optional<MetricShare>& worth,
                 bool is_score);
  std::vector<PairedCase> pairs_of(const ComparedMean& metric, std::size_t first, std::size_t second) const;
  void compare_pairs(RunArms& result) const;

  ArmRules rules_;
  std::vector<ArmSummary> arms_;
  std::vector<std::size_t> by_name_;                   ///< The arms, as ids sort them.
  std::vector<std::vector<std::uint32_t>> latencies_;  ///< By arm.
  /// Of which some arm's case is to come.
  std::map<std::uint32_t, std::vector<std::optional<CaseStatus>>> open_tests_;
  std::uint64_t tests_ = 0;
  std::uint64_t differing_ = 0;
  std::uint64_t differing_by_errors_ = 0;
  std::vector<DifferingTest> differences_;
  std::vector<std::vector<bool>> counted_units_;  ///< By arm: arms of equal requests share their answers.
  std::map<ComparedMean, MetricScores> scores_;
  std::vector<std::uint32_t> category_of_;  ///< By test.
  std::vector<std::vector<std::uint32_t>>
      answers_of_;  ///< By arm, then by test: PairedCase::current_answers.
  std::map<std::string, std::uint32_t, std::less<>> categories_;
};

}  // namespace sluice
