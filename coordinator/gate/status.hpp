#pragma once

#include "coordinator/facts/status_counts.hpp"
#include "coordinator/gate/pass_rate.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sluice {

struct AssessedMetric;

/// The gate's judgement of a run.
enum class RunVerdict : std::uint8_t { pass, review, regression, fail, error };

inline constexpr std::array run_verdicts{RunVerdict::pass, RunVerdict::review, RunVerdict::regression,
                                         RunVerdict::fail, RunVerdict::error};

std::string_view to_string(RunVerdict verdict);

/// The status of a case that was scored: `fail` as soon as one metric failed, else `warn` as soon as one
/// warns; `error` when there is no metric at all (a case that nobody assessed must not pass).
CaseStatus case_status(std::span<const AssessedMetric> metrics);

/// What the aggregates of a run came to beside those of a manifest's [baseline] table.
enum class AggregateOutcome : std::uint8_t { not_compared, no_drop, within_limit, beyond_limit };

/// Everything that a verdict follows from.
struct VerdictInput {
  StatusCounts statuses;
  std::uint64_t regressed = 0;  ///< Failed cases in which a metric fell below its baseline's limit.
  std::uint64_t failed_apart =
      0;  ///< Failed cases that no aggregate shows: texts, forbidden claims, claims below a fixed limit.
  std::uint64_t known_failures = 0;      ///< Warned cases that warn for failures that were known alone.
  std::vector<PassGroup> pass_groups{};  ///< Of a run with a least pass rate; empty: failed cases count.
  bool cut_short = false;
  bool ended_by_budget = false;  ///< By --deadline, --max-tokens or --max-cost, before the plan was done.
  std::uint64_t warnings = 0;    ///< Of the comparison as a whole (gate.hpp, GateNotice), not of a case.
  std::uint64_t failures = 0;    ///< Of the comparison under --strict; and a stability below its least.
  /// Quantities of the whole run that fell below the baseline: metrics by their tests, and stability.
  std::uint64_t run_regressions = 0;
  AggregateOutcome aggregates = AggregateOutcome::not_compared;
};

/// The verdict of a run; the first that fits. `error`: cut short, or ended by a budget of its own. Where
/// aggregates are compared: `error` for case errors or no case at all, `fail` for a failed case without
/// claims, with a forbidden one or below a limit of its own (min_score, min_floor), or a failure of the
/// comparison, `regression` beyond the limit, `review` within it or with anything to warn of, else `pass`;
/// other failed claims cases are in the aggregates already. Where they are not: `fail` for a failed case that
/// is no regression, or a failure of the comparison where nothing regressed, `error` as above, `regression`,
/// `review` with anything to warn of (flaky cases too), else `pass`. With a least pass rate, failed cases
/// that are no regression decide nothing, and a lower rate of any group is a `fail`; known failures are
/// nothing to warn of (docs/gate.md).
RunVerdict run_verdict(const VerdictInput& input);

/// How strictly a verdict becomes an exit code.
struct ExitRules {
  bool strict = false;              ///< `review` fails too.
  bool fail_on_regression = false;  ///< With compared aggregates `regression` fails only with this or strict.
};

/// The exit code: 2 for a run that was cut short; 0 for `pass`, and for `review` unless strict; 1 for
/// everything else, but 0 for a `regression` of aggregates that were not set to fail.
int exit_code(RunVerdict verdict, const VerdictInput& input, const ExitRules& rules);

}  // namespace sluice
