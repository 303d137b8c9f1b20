#pragma once

#include "common/metrics.hpp"
#include "coordinator/gate/baseline.hpp"
#include "coordinator/gate/baseline_check.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/statistics/bootstrap.hpp"
#include "coordinator/statistics/change_verdict.hpp"
#include "coordinator/suite/thresholding.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// One scored metric of all cases beside the baseline's.
struct StatisticalMetric {
  MetricId metric = MetricId::claims_precision;
  PairedComparison comparison;
  MetricVerdict verdict;
  DisplayIntervals intervals;  ///< For the eye: no verdict comes from them.
  NamedScores left_out;        ///< Cases whose score is undefined now.
};

/// What the tests of `thresholding.mode: statistical` came to (statistics.md).
struct StatisticalJudgement {
  VerdictRules rules;
  bool by_category = false;
  std::uint64_t seed = 0;
  std::vector<StatisticalMetric> metrics;  ///< By number.
  std::optional<ChangeVerdict> verdict;    ///< Of all of them; nothing where nothing was compared.

  std::uint64_t regressions() const;
};

/// Pairs the scores of a run with the baseline's, case by case, and tests them at the end. A metric is the
/// mean over the cases of the mean over each case's repeats; repeats of the baseline count where its entry
/// has them. Memory: some 60 bytes a score.
class StatisticalGate {
 public:
  struct Config {
    const Baseline* baseline = nullptr;
    Thresholding suite;                ///< With `statistical`.
    double default_min_effect = 0.05;  ///< Where the suite names none.
    std::uint64_t seed = 0;
  };

  explicit StatisticalGate(const Config& config);

  /// A judged case. Counted are the metrics that the gate left to the tests
  /// (MetricCause::judged_statistically).
  void add(const Case& test_case, std::span<const JudgedMetric> metrics);
  StatisticalJudgement finish() const;

 private:
  struct Pairs {
    std::vector<PairedCase> cases;
    NamedScores left_out;
  };

  RepeatSum base_of(std::string_view test_id, MetricId metric) const;

  const Baseline* baseline_;
  StatisticalJudgement result_;
  std::map<MetricId, Pairs> pairs_;
  std::map<std::string, std::uint32_t, std::less<>> categories_;
};

}  // namespace sluice
