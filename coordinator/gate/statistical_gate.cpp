#include "coordinator/gate/statistical_gate.hpp"

#include "common/defaults.hpp"
#include "coordinator/statistics/random_stream.hpp"

#include <algorithm>

namespace sluice {
namespace {

RepeatSum sum_of(std::span<const double> scores) {
  RepeatSum sum;
  for (const double score : scores) sum.add(share_of_score(score));
  return sum;
}

RepeatSum current_of(const JudgedMetric& metric) {
  if (!metric.repeat_scores.empty()) return sum_of(metric.repeat_scores);
  if (!metric.score) return {};
  return sum_of(std::span(&*metric.score, 1));
}

}  // namespace

std::uint64_t StatisticalJudgement::regressions() const {
  return static_cast<std::uint64_t>(std::ranges::count_if(metrics, [](const StatisticalMetric& one) {
    return one.verdict.verdict == ChangeVerdict::regression;
  }));
}

StatisticalGate::StatisticalGate(const Config& config) : baseline_(config.baseline) {
  result_.rules.confidence = config.suite.confidence.value_or(defaults::confidence);
  result_.rules.min_effect = config.suite.min_effect.value_or(config.default_min_effect);
  result_.by_category = config.suite.cluster_by_category;
  result_.seed = config.seed;
}

RepeatSum StatisticalGate::base_of(std::string_view test_id, MetricId metric) const {
  const Baseline::Range range = baseline_->of_test(test_id);
  for (std::size_t i = range.first; i < range.last; ++i) {
    const BaselineEntry entry = baseline_->entry(i);
    if (entry.metric != info(metric).name) continue;
    return entry.scores.empty() ? sum_of(std::span(&entry.score, 1)) : sum_of(entry.scores);
  }
  return {};
}

void StatisticalGate::add(const Case& test_case, std::span<const JudgedMetric> metrics) {
  for (const JudgedMetric& metric : metrics) {
    const bool is_compared =
        metric.baseline && info(metric.id).kind == MetricKind::scored && metric.is_left_to_tests;
    if (!is_compared) continue;
    Pairs& pairs = pairs_[metric.id];
    PairedCase& pair = pairs.cases.emplace_back();
    pair.base = base_of(test_case.id, metric.id);
    pair.current = current_of(metric);
    pair.cluster = categories_.try_emplace(test_case.category, static_cast<std::uint32_t>(categories_.size()))
                       .first->second;
    if (pair.current.repeats == 0) pairs.left_out.add(test_case.id, info(metric.id).name);
  }
}

StatisticalJudgement StatisticalGate::finish() const {
  StatisticalJudgement judgement = result_;
  std::vector<PairedComparison> comparisons;
  for (const auto& [metric, pairs] : pairs_) {
    const std::uint64_t seed = RandomStream(judgement.seed, static_cast<std::uint64_t>(metric)).next();
    const PairedSample sample = pair_cases(pairs.cases, judgement.by_category);
    StatisticalMetric& one = judgement.metrics.emplace_back();
    one.metric = metric;
    one.comparison = compare_paired(sample, {}, seed);
    BootstrapRules display;
    display.confidence = judgement.rules.confidence;
    one.intervals = bootstrap_intervals(sample, display, seed);
    one.left_out = pairs.left_out;
    comparisons.push_back(one.comparison);
  }
  const auto verdicts = judge_changes(comparisons, judgement.rules);
  for (std::size_t i = 0; i < verdicts.size(); ++i) judgement.metrics[i].verdict = verdicts[i];
  judgement.verdict = overall_verdict(verdicts);
  return judgement;
}

}  // namespace sluice
