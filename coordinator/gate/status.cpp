#include "coordinator/gate/status.hpp"

#include "coordinator/gate/gate.hpp"

#include <algorithm>

namespace sluice {

std::string_view to_string(RunVerdict verdict) {
  switch (verdict) {
    case RunVerdict::pass:
      return "pass";
    case RunVerdict::review:
      return "review";
    case RunVerdict::regression:
      return "regression";
    case RunVerdict::fail:
      return "fail";
    case RunVerdict::error:
      return "error";
  }
  return "error";
}

CaseStatus case_status(std::span<const AssessedMetric> metrics) {
  CaseStatus status = metrics.empty() ? CaseStatus::error : CaseStatus::pass;
  for (const AssessedMetric& metric : metrics) {
    if (metric.status == MetricStatus::fail) return CaseStatus::fail;
    if (metric.status == MetricStatus::warn) status = CaseStatus::warn;
  }
  return status;
}

namespace {

bool warns(const VerdictInput& input) {
  return input.warnings > 0 || input.statuses.warned > input.known_failures || input.statuses.flaky > 0;
}
/// True if the group fails the run by itself.
bool fails(const PassGroup& group, bool beside_aggregates) {
  if (group.min_pass_rate) return misses_pass_rate(group);
  const PassCounts& counts = group.counts;
  return beside_aggregates ? counts.failed_apart > 0 : counts.statuses.failed > counts.regressed;
}
/// True if so many failed cases fail the run by themselves.
bool fails_by_cases(const VerdictInput& input, std::uint64_t failed) {
  if (input.pass_groups.empty()) return failed > 0;
  const bool beside_aggregates = input.aggregates != AggregateOutcome::not_compared;
  return std::ranges::any_of(input.pass_groups,
                             [&](const PassGroup& group) { return fails(group, beside_aggregates); });
}
bool has_errors(const VerdictInput& input) {
  return input.statuses.errors > 0 || input.statuses.total() == 0;
}

RunVerdict verdict_of_aggregates(const VerdictInput& input) {
  if (has_errors(input)) return RunVerdict::error;
  if (fails_by_cases(input, input.failed_apart) || input.failures > 0) return RunVerdict::fail;
  if (input.aggregates == AggregateOutcome::beyond_limit || input.run_regressions > 0) {
    return RunVerdict::regression;
  }
  if (input.aggregates == AggregateOutcome::within_limit || warns(input)) return RunVerdict::review;
  return RunVerdict::pass;
}

}  // namespace

RunVerdict run_verdict(const VerdictInput& input) {
  // Which cases had their turn before a budget was spent is chance, and so is whether one of them failed.
  if (input.cut_short || input.ended_by_budget) return RunVerdict::error;
  if (input.aggregates != AggregateOutcome::not_compared) return verdict_of_aggregates(input);
  const std::uint64_t failed = input.statuses.failed - std::min(input.statuses.failed, input.regressed);
  const bool has_regressed = input.regressed > 0 || input.run_regressions > 0;
  if (fails_by_cases(input, failed)) return RunVerdict::fail;
  // Under --strict each changed prompt is a failure of the comparison: it would hide what the prompt did.
  if (input.failures > 0 && !has_regressed) return RunVerdict::fail;
  if (has_errors(input)) return RunVerdict::error;
  if (has_regressed) return RunVerdict::regression;
  return warns(input) ? RunVerdict::review : RunVerdict::pass;
}

int exit_code(RunVerdict verdict, const VerdictInput& input, const ExitRules& rules) {
  if (input.cut_short) return 2;
  switch (verdict) {
    case RunVerdict::pass:
      return 0;
    case RunVerdict::review:
      return rules.strict ? 1 : 0;
    case RunVerdict::regression: {
      const bool of_cases = input.aggregates == AggregateOutcome::not_compared;
      return of_cases || rules.fail_on_regression || rules.strict ? 1 : 0;
    }
    case RunVerdict::fail:
    case RunVerdict::error:
      return 1;
  }
  return 1;
}

}  // namespace sluice
