#pragma once

#include "common/error.hpp"
#include "common/model/paid_tokens.hpp"
#include "common/model/result.hpp"
#include "coordinator/facts/budget_facts.hpp"
#include "coordinator/facts/paid_by_arm.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// One worker's part in a run.
struct WorkerFacts {
  std::string name;
  std::uint64_t units = 0;  ///< Results of this worker that were committed.
  bool lost = false;        ///< Went silent or was killed.
};

/// What happened while a run went on, all that is volatile about it: the report's `run` object and its times
/// (docs/report.md).
struct RunFacts {
  std::string run_id;
  std::int64_t started_at_ms = 0;  ///< Unix time.
  std::int64_t completed_at_ms = 0;
  /// Of all parts of the run, each from its first lease to its last result; whole milliseconds.
  double duration_seconds = 0.0;
  std::chrono::milliseconds part_time{};  ///< Of its last part alone.
  bool is_resumed = false;     ///< It went on where an earlier part stopped; the counters are of all parts.
  std::uint64_t requests = 0;  ///< Provider calls, as far as workers reported them.
  bool cut_off_calls = false;  ///< The run ended before all that were under way: nobody reported those.
  std::uint64_t retries = 0;
  std::uint64_t rate_limited = 0;
  std::uint64_t cache_hits = 0;
  PaidTokens paid;
  PaidByArm paid_by_arm;  ///< The same.
  /// A bit for each CallKind, as Spend has them: of some of its answers nobody knows what they took, and so
  /// what the run cost.
  std::uint8_t unmetered = 0;
  /// Of all units' time, for a permit or a place, for the end of a pause or an outage, and before a retry.
  std::chrono::milliseconds waited_permit{};
  std::chrono::milliseconds waited_pause{};
  std::chrono::milliseconds waited_retry{};
  std::uint64_t duplicates_dropped = 0;
  std::uint64_t leases_lost = 0;
  std::uint64_t frames_rejected = 0;
  std::vector<WorkerFacts> workers;  ///< By name.
  std::vector<BudgetFacts> budgets;  ///< One for each provider of the run.
  std::optional<Error> cut_short;    ///< Why the run ended before its plan did.

  /// What has no result and no worker began with was not started: the run was stopped before. After a defect
  /// nobody knows.
  bool tells_not_started() const { return cut_short && cut_short->reason != Reason::internal_error; }
  bool is_unmetered(CallKind kind) const { return (unmetered & Spend::bit(kind)) != 0; }
};

/// What the run's calls cost; nothing where nobody knows what some of them took, or a price.
inline std::optional<double> paid_cost(const RunFacts& facts, const RunPrice& price) {
  return facts.unmetered == 0 ? price(facts.paid_by_arm) : std::nullopt;
}

}  // namespace sluice
