#include "coordinator/merge/aggregate.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

bool misses_fixed_limit(const AssessedMetric& metric) {
  return metric.cause == MetricCause::below_min_score || metric.cause == MetricCause::below_min_floor;
}

/// A score of all cases says only that the claim was one of those that are wrong.
bool has_forbidden_claim(const AssessedMetric& metric) {
  return metric.id == MetricId::claims_forbidden && metric.status == MetricStatus::fail;
}

/// It failed, and no score of all cases shows it.
bool fails_apart(const CaseResult& result) {
  if (result.status != CaseStatus::fail) return false;
  return result.fixture.kind != CaseKind::claims ||
         // Repeats without an answer enter no score.
         result.repeats.non_answers > 0 || std::ranges::any_of(result.metrics(), misses_fixed_limit) ||
         std::ranges::any_of(result.metrics(), has_forbidden_claim);
}

}  // namespace

void Totals::add(const CaseResult& result) {
  statuses.add(result.status);
  not_started += result.not_started ? 1 : 0;
  regressed += result.assessment.regressed ? 1 : 0;
  improved += result.assessment.improved ? 1 : 0;
  const CaseChange change = result.assessment.change();
  broke += change == CaseChange::broke ? 1 : 0;
  dropped += change == CaseChange::dropped ? 1 : 0;
  fixed += change == CaseChange::fixed ? 1 : 0;
  still_failing += change == CaseChange::still_failing ? 1 : 0;
  known_failures += result.assessment.only_known_failures() ? 1 : 0;
  excused += result.assessment.is_excused() ? 1 : 0;
  claims_cases += result.fixture.kind == CaseKind::claims ? 1 : 0;
  failed_apart += fails_apart(result) ? 1 : 0;
  missing_entries += static_cast<std::uint64_t>(
      std::ranges::count(result.metrics(), MetricCause::missing_in_baseline, &AssessedMetric::cause));
  lost_repeats += result.status == CaseStatus::error ? 0 : result.repeats.errors;
  trials += result.trials.size();
  trial_errors += static_cast<std::uint64_t>(
      std::ranges::count_if(result.trials, [](const TrialResult& trial) { return trial.error != nullptr; }));
  if (!result.counts) return;
  counts += *result.counts;
  weighted.add(*result.counts, result.fixture.weight);
}

namespace {

void add_scores(const CaseResult& result, std::map<ScoreId, ScoreTotal>& scores) {
  for (const AssessedMetric& metric : result.metrics()) {
    if (!metric.is_scored() || is_claims_metric(metric.id) || !metric.score) continue;
    ScoreTotal& total = scores[metric.score_id()];
    ++total.cases;
    total.failed += metric.status == MetricStatus::fail || metric.status == MetricStatus::flaky ? 1 : 0;
    total.scores.add(*metric.score);
    total.lowest = std::min(total.lowest, *metric.score);
  }
}

}  // namespace

bool has_unknown_usage(const CaseResult& result, const UnitResult& unit) {
  if (is_zero(unit.answer) || unit.usage != Usage{}) return false;
  if (result.fixture.recorded) return !result.is_mock;
  // A filter that declines before the model is asked takes nothing, and in the cache no more.
  const bool is_declined = unit.error && unit.error->reason == Reason::refusal;
  return unit.spend.is_unmetered(CallKind::answer) || (unit.spend.cache_hit && !is_declined);
}

std::optional<Usage> known_usage(const CaseResult& result) {
  if (result.unit == nullptr) return Usage{};
  return has_unknown_usage(result, *result.unit) ? std::nullopt : std::optional(result.unit->usage);
}

void AggregateFold::add(const CaseResult& result) {
  aggregates_.all.add(result);
  add_scores(result, aggregates_.scores);
  auto category = aggregates_.by_category.find(result.fixture.category);
  if (category == aggregates_.by_category.end()) {
    category = aggregates_.by_category.emplace(result.fixture.category, Totals{}).first;
  }
  category->second.add(result);
  PassCounts& counts = aggregates_.pass_counts[{result.fixture.arm, result.fixture.category}];
  counts.statuses.add(result.status);
  counts.excused += result.assessment.is_excused() ? 1 : 0;
  counts.regressed += result.assessment.regressed ? 1 : 0;
  counts.failed_apart += fails_apart(result) ? 1 : 0;

  for (const TrialResult& trial : result.trials) {
    if (trial.unit == nullptr) continue;
    // Units are numbered by their first trial, so in plan order a number that is not greater was counted
    // before.
    if (last_unit_ && trial.unit->unit <= *last_unit_) continue;
    last_unit_ = trial.unit->unit;
    PaidTokens usage;
    usage.of(CallKind::answer) = trial.unit->usage;
    aggregates_.usage += usage;
    if (has_unknown_usage(result, *trial.unit)) ++aggregates_.unknown_usages;
    aggregates_.usage_by_arm.add(result.fixture.arm, usage);
  }
}

Aggregates AggregateFold::finish(const RunPrice& price) const {
  Aggregates aggregates = aggregates_;
  // What is not known is no price of 0.
  const bool is_known = price != nullptr && aggregates.unknown_usages == 0;
  if (const auto cost = is_known ? price(aggregates.usage_by_arm) : std::nullopt) {
    constexpr double nano = 1e9;
    aggregates.estimated_cost = std::round(*cost * nano) / nano;
  }
  return aggregates;
}

Result<Aggregates> aggregate(const RunResults& results, const RunPrice& price) {
  AggregateFold fold;
  const auto visited = visit_cases(results, [&](const CaseResult& result) { fold.add(result); });
  if (!visited) return fail(visited.error());
  return fold.finish(price);
}

}  // namespace sluice
