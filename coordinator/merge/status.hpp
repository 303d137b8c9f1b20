#pragma once

#include "common/metrics.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace sluice {

/// What a case came to. `warn` and `flaky` come from thresholds and repeats; `error` never enters a score.
enum class CaseStatus : std::uint8_t { pass, warn, flaky, fail, error };

/// What a run came to.
enum class RunVerdict : std::uint8_t { pass, review, regression, fail, error };

std::string_view to_string(CaseStatus status);
std::string_view to_string(RunVerdict verdict);

/// How many cases have which status.
struct StatusCounts {
  std::uint64_t passed = 0;
  std::uint64_t warned = 0;
  std::uint64_t flaky = 0;
  std::uint64_t failed = 0;
  std::uint64_t errors = 0;

  std::uint64_t total() const { return passed + warned + flaky + failed + errors; }
  void add(CaseStatus status);
  friend bool operator==(const StatusCounts&, const StatusCounts&) = default;
};

/// The status of a case that was scored: `fail` as soon as one metric did not pass, or a pass/fail metric
/// says nothing; `error` when no metric judged it at all (a case that nobody judged must not pass). A scored
/// metric without a threshold decides nothing.
CaseStatus case_status(std::span<const MetricOutcome> metrics);

/// The verdict of a run without a baseline. A run that was cut short is `error` whatever its cases say;
/// otherwise any failed case makes it `fail`; case errors alone make it `error`, and so does a run without
/// any case.
RunVerdict run_verdict(const StatusCounts& counts, bool cut_short);

/// The exit code: 2 for a run that was cut short, 0 for `pass` and `review`, 1 for everything else.
int exit_code(RunVerdict verdict, bool cut_short);

}  // namespace sluice
