#pragma once

#include "coordinator/cli/run/execute_run.hpp"
#include "coordinator/facts/run_facts.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/session/run_gate.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sluice {

/// A run that has begun.
struct RunToReport {
  const RunOptions& options;
  const RunInputs& inputs;
  const Plan& plan;
  Ledger& ledger;
  const std::string& run_id;
  const RunFacts& facts;  ///< These and begun_units are looked at once the run is over.
  /// Without a result, though a worker has begun with them; ascending.
  const std::vector<UnitId>& begun_units;
  const RunUse* use = nullptr;  ///< Takes the place of reports and baseline, unless null.
  bool is_kept = true;          ///< Commands find it later.
};

struct ReportedRun {
  int exit_code = 0;
  bool lacks_reports = false;  ///< One of them could not be written.
};

/// Merges a run's results, gates them, writes reports and baseline, and notes the run's end in the ledger.
/// Refers to all that it is given.
class RunReport {
 public:
  /// `observed`: its observations are saved, and get their statuses.
  RunReport(const RunToReport& run, const RunGate& gate, bool observed);
  RunReport(const RunReport&) = delete;
  RunReport& operator=(const RunReport&) = delete;
  ~RunReport();

  /// Merges and gates results while the run goes on, on a thread of its own, so that little is left to do at
  /// its end; where that is possible, and the run is not so large that memory would not do for both.
  /// `before` is called on that thread first. Nobody else uses the ledger until run_is_over() or give_up().
  void follow(const std::function<void()>& before);
  /// No more results come, and the facts are complete. Waits for what was followed.
  void run_is_over();
  /// There will be no report: ends what was followed, and waits for that.
  void give_up();
  /// After run_is_over(), once. Errors were reported on stderr.
  ReportedRun finish();

 private:
  class Reporter;
  std::unique_ptr<Reporter> reporter_;
};

/// The same for a run of which there is nothing to assess: says why, and notes when it ended, how long its
/// part took and what was paid. Returns the exit code.
int report_failed_run(Ledger& ledger, const std::string& run_id, const Error& why, const RunFacts& facts);

/// Writes the files of a run's report where it came to its end before any test was asked (`facts.cut_short`):
/// else those of an earlier run stay there, and pass for this one's.
Result<void> report_unasked(const RunOptions& options, const RunInputs& inputs, const RunGate& gate,
                            const RunFacts& facts);

}  // namespace sluice
