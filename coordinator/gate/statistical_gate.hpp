#pragma once

#include "common/model/metrics.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/gate/baseline.hpp"
#include "coordinator/gate/baseline_check.hpp"
#include "coordinator/gate/billionths.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/statistics/bootstrap.hpp"
#include "coordinator/statistics/change_decision.hpp"
#include "coordinator/suite/thresholding.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// What is compared over all cases: a score, or (nothing) whether the tests pass.
using ComparedMean = std::optional<ScoreId>;

inline std::string name_of(const ComparedMean& mean) {
  return mean ? to_string(*mean) : std::string(passed_name);
}

/// A case with less than in the baseline: means over its repeats on both sides, in whole billionths.
struct CaseDrop {
  std::string test_id;
  double base = 0.0;
  double current = 0.0;

  double drop() const { return score_delta(base, current); }
};

/// The cases that fell most, in memory that does not grow with their number.
class LargestDrops {
 public:
  /// A case that did not fall changes nothing.
  void add(std::string_view test_id, double base, double current);
  std::uint64_t count() const { return count_; }  ///< All that fell, also those that are not kept.
  /// The largest drop first, equal ones by id; the same whatever the order in which they were added.
  const std::vector<CaseDrop>& kept() const { return kept_; }

 private:
  std::uint64_t count_ = 0;
  std::vector<CaseDrop> kept_;
};

/// `nothing_to_compare`, a failure under strict: under `statistical` no test of the suite has a score and the
/// baseline pins no repeats of checks, so that the gate could never decide anything. `metrics` are those of
/// the whole suite.
std::optional<GateNotice> nothing_to_compare_notice(const Thresholding& suite,
                                                    std::span<const MetricId> metrics,
                                                    const Baseline& baseline, bool strict);

struct StatisticalAssessment;

/// The same of a run whose suite has scores, and no case has one that is tested: known failures, tests with a
/// mode of their own, and scores that the baseline lacks are not. Nothing where anything was paired, or any
/// of the cases ended in an error: then the `errors` are why, and fail the run.
std::optional<GateNotice> nothing_paired_notice(const StatisticalAssessment& assessment, std::uint64_t errors,
                                                bool strict);

/// One mean over all cases, or over those of an arm, beside the baseline's.
struct StatisticalMetric {
  ComparedMean mean;
  std::string arm;  ///< Empty: a run without arms.
  PairedComparison comparison;
  MetricDecision decision;
  DisplayIntervals intervals;  ///< For the eye: no decision comes from them.
  NamedScores left_out;        ///< Cases whose score is undefined now.
  /// Cases that fail or are flaky for it: scores that were defined and, in all repeats or in some, are not
  /// now.
  NamedScores became_undefined;
  LargestDrops drops;          ///< Of the cases that are compared.
  bool fails_nothing = false;  ///< The judge of one of its scores is not calibrated: AssessedMetric.
};

/// What the tests of `thresholding.mode: statistical` came to (docs/statistics.md).
struct StatisticalAssessment {
  DecisionRules rules;
  bool by_category = false;
  std::uint64_t seed = 0;
  std::vector<StatisticalMetric> metrics;  ///< By arm, then by score; whether tests pass comes first.
  std::optional<ChangeDecision> decision;  ///< Of all of them; nothing where nothing was compared.

  /// Those that fail the run.
  std::uint64_t regressions() const;
  /// Those that only warn, since a judge is not calibrated as the gate asks for.
  std::uint64_t spared_regressions() const;
};

/// A score of one case on both sides, that of each repeat where there were several; undefined ones left out.
struct ScorePair {
  std::string_view test_id;
  std::string_view category;
  ComparedMean mean;
  std::span<const double> base;
  std::span<const double> current;
  bool became_undefined = false;  ///< In some repeat or in all, without being the best answer.
  bool fails_nothing = false;     ///< AssessedMetric
  std::size_t arm = 0;            ///< StatisticalGate::Config::arms
  /// PairedCase::current_answers. Whether those of the baseline were shared it does not say.
  std::uint32_t answers = PairedCase::own_answers;
};

/// Pairs the scores of a run with the baseline's, case by case, and tests them at the end. A metric is the
/// mean over the cases of the mean over each case's repeats; repeats of the baseline count where its entry
/// has them. Each arm is tested by itself, so that none hides the fall of another. Whether the tests pass is
/// compared alike where either side asked its checks several times; one answer a side is the case's own,
/// which a check that broke fails by itself. Where a score became undefined nothing is called
/// `no_regression`: what cannot be compared cannot be excluded. Cases that share their answers are one piece
/// of evidence. Memory: some 70 bytes a score.
class StatisticalGate {
 public:
  struct Config {
    const Baseline* baseline = nullptr;  ///< For assessed cases; null where pairs are added.
    /// With any mode but `statistical` no score is left to the tests, and they compare how often checks pass.
    Thresholding suite;
    double default_min_effect = defaults::min_effect;  ///< Under `statistical`, where the suite names none.
    std::uint64_t seed = 0;
    std::vector<std::string> arms{};  ///< Of the run, by Case::arm; empty without arms.
  };

  explicit StatisticalGate(const Config& config);

  /// An assessed case; a known failure decides nothing, here neither. Counted are the metrics that the gate
  /// left to the tests (MetricCause::assessed_statistically), and its checks where the baseline pins the
  /// same. `answers`: ScorePair.
  void add(const Case& test_case, const CaseAssessment& assessment,
           std::uint32_t answers = PairedCase::own_answers);
  void add(const ScorePair& pair);
  StatisticalAssessment finish() const;
  /// The same for a run's report and verdict: where the suite asks for no tests, only that its tests, or
  /// those of an arm, pass less often.
  std::optional<StatisticalAssessment> outcome() const;
  /// `passed_too_few`, which decides nothing: the suite asks for no tests, some of its tests pass less often,
  /// and they are too few, or their categories or requests are, for any drop to be significant. Nothing where
  /// cases `regressed`: these fail the run, and say by which tests.
  std::optional<GateNotice> too_few_tests_notice(std::uint64_t regressed) const;
  /// `passed_undecided`, which decides nothing: the suite asks for no tests, nothing regressed, and some arm
  /// would have by itself, without the correction for the others. Tests everything anew.
  std::optional<GateNotice> undecided_arms_notice(std::uint64_t regressed) const;

 private:
  struct Pairs {
    std::vector<PairedCase> cases;
    NamedScores left_out;
    NamedScores became_undefined;
    LargestDrops drops;
    bool fails_nothing = false;
  };

  using Tested = std::pair<std::size_t, ComparedMean>;  ///< An arm and what is compared of it.

  std::uint64_t seed_of(const ComparedMean& mean) const;
  void add_passes(const Case& test_case, const CaseAssessment& assessment, Baseline::Range pinned,
                  std::uint32_t answers);

  const Baseline* baseline_;
  bool is_asked_for_ = false;
  StatisticalAssessment result_;
  std::vector<std::string> arms_;
  std::map<Tested, Pairs> pairs_;
  std::map<std::string, std::uint32_t, std::less<>> categories_;
};

}  // namespace sluice
