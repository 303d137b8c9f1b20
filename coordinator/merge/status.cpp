#include "coordinator/merge/status.hpp"

namespace sluice {

std::string_view to_string(CaseStatus status) {
  switch (status) {
    case CaseStatus::pass:
      return "pass";
    case CaseStatus::warn:
      return "warn";
    case CaseStatus::flaky:
      return "flaky";
    case CaseStatus::fail:
      return "fail";
    case CaseStatus::error:
      return "error";
  }
  return "error";
}

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

void StatusCounts::add(CaseStatus status) {
  switch (status) {
    case CaseStatus::pass:
      ++passed;
      break;
    case CaseStatus::warn:
      ++warned;
      break;
    case CaseStatus::flaky:
      ++flaky;
      break;
    case CaseStatus::fail:
      ++failed;
      break;
    case CaseStatus::error:
      ++errors;
      break;
  }
}

CaseStatus case_status(std::span<const MetricOutcome> metrics) {
  if (metrics.empty()) return CaseStatus::error;
  for (const MetricOutcome& outcome : metrics) {
    const bool must_pass = info(outcome.id).kind == MetricKind::pass_fail;
    if (!outcome.passed.value_or(!must_pass)) return CaseStatus::fail;
  }
  return CaseStatus::pass;
}

RunVerdict run_verdict(const StatusCounts& counts, bool cut_short) {
  if (cut_short) return RunVerdict::error;
  if (counts.failed > 0) return RunVerdict::fail;
  if (counts.errors > 0 || counts.total() == 0) return RunVerdict::error;
  return RunVerdict::pass;
}

int exit_code(RunVerdict verdict, bool cut_short) {
  if (cut_short) return 2;
  return verdict == RunVerdict::pass || verdict == RunVerdict::review ? 0 : 1;
}

}  // namespace sluice
