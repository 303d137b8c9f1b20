#pragma once

#include "common/cache_tools.hpp"
#include "common/transport/local_workers.hpp"
#include "coordinator/facts/run_facts.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/session/run_gate.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"
#include "coordinator/session/run_record.hpp"
#include "coordinator/suite/suite.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace sluice {

/// A run that has ended, with everything that can be made of it. Holds references.
struct ConcludedRun {
  const RunOptions& options;
  const RunInputs& inputs;
  const RunResults& results;
  const RunGate& gate;
  const RunFacts& facts;  ///< `cut_short`: why it did not come to its end.
  const RunPrice& price;
  Ledger& ledger;
};

/// What is made of a run's results where no report is wanted.
struct RunUse {
  std::string_view command = run_command;  ///< Of `sluice`, as the ledger keeps it.
  const CacheTools* caches = nullptr;      ///< Where the page finds whole answers; null: nowhere.
  /// Called before the first call is made: what is wrong keeps the run from starting. May be empty.
  std::function<std::vector<Finding>(const RunOptions&, const RunInputs&)> check;
  /// False for a run that another begins with: one that came to its end goes out of the ledger.
  bool is_kept = true;
  /// False: what counts is whether there is an answer. Statuses and scores mean nothing.
  bool is_assessed = true;
  /// Called once, in place of the reports. Returns the exit code; errors were reported on stderr. May be
  /// empty.
  std::function<int(const ConcludedRun&)> conclude;
};

/// Whether a report is made of the run's results. `use` may be null.
inline bool makes_report(const RunUse* use) {
  return use == nullptr || !use->conclude;
}

/// Runs a suite to its report: starts the coordinator and the workers inside this process, and writes the
/// report, or has `use` make something else of the results. Returns the exit code; errors were reported on
/// stderr.
int execute_run(const RunOptions& options, Suite suite, const PrepareWorkers& prepare_workers,
                const RunUse* use = nullptr);

}  // namespace sluice
