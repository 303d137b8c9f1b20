#pragma once

#include "coordinator/cli/run/execute_run.hpp"
#include "coordinator/facts/run_facts.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/session/run_gate.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// A run whose results are all committed.
struct RunToReport {
  const RunOptions& options;
  const RunInputs& inputs;
  const Plan& plan;
  Ledger& ledger;
  const RunFacts& facts;
  /// Without a result, though a worker has begun with them; ascending.
  const std::vector<UnitId>& begun_units;
  const RunUse* use = nullptr;  ///< Takes the place of reports and baseline, unless null.
};

struct ReportedRun {
  int exit_code = 0;
  bool lacks_reports = false;  ///< One of them could not be written.
};

/// Merges the results, gates them, writes reports and baseline, and notes the run's end in the ledger.
/// `observed`: its observations are saved, and get their statuses. Errors were reported on stderr.
ReportedRun report_run(const RunToReport& run, const RunGate& gate, bool observed);

/// The same for a run of which there is nothing to assess: says why, and notes its end (Unix time in
/// milliseconds). Returns the exit code.
int report_failed_run(Ledger& ledger, const std::string& run_id, const Error& why, std::int64_t ended_at_ms);

/// Writes the files of a run's report where it came to its end before any test was asked (`facts.cut_short`):
/// else those of an earlier run stay there, and pass for this one's.
Result<void> report_unasked(const RunOptions& options, const RunInputs& inputs, const RunGate& gate,
                            const RunFacts& facts);

}  // namespace sluice
