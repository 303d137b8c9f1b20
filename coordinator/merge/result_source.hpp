#pragma once

#include "common/error.hpp"
#include "common/result.hpp"
#include "coordinator/governor/budget_facts.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// A trial's committed result. Units have ids in the order of their first trial, so a unit's answer is
/// counted at the first trial that shows it.
struct CommittedTrial {
  TrialId trial = 0;
  UnitResult unit;  ///< `scores` holds this trial's score alone; empty for an error.
};

/// The committed results of a run, read in plan order (ascending trial id) and never held all at once.
class ResultSource {
 public:
  virtual ~ResultSource() = default;
  /// Calls `visit` once for each committed trial, in ascending order. May be called more than once, with the
  /// same results each time.
  virtual Result<void> visit(const std::function<void(const CommittedTrial&)>& visit) const = 0;
};

/// One worker's part in a run.
struct WorkerFacts {
  std::string name;
  std::uint64_t units = 0;  ///< Results of this worker that were committed.
  bool lost = false;        ///< Went silent or was killed.
};

/// All that is volatile about a run: the report's `run` object and its times (delivery.md, "Byte identity").
struct RunFacts {
  std::string run_id;
  std::int64_t started_at_ms = 0;  ///< Unix time.
  std::int64_t completed_at_ms = 0;
  double duration_seconds = 0.0;  ///< Monotonic, from the first lease to the last result.
  std::uint64_t requests = 0;     ///< Provider calls.
  std::uint64_t retries = 0;
  std::uint64_t rate_limited = 0;
  std::uint64_t cache_hits = 0;
  PaidTokens paid;
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
};

}  // namespace sluice
