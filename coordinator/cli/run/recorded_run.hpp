#pragma once

#include "common/error.hpp"
#include "common/fleet/fleet_security.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/run/conduct_run.hpp"
#include "coordinator/cli/run/execute_run.hpp"
#include "coordinator/cli/run/run_ledger.hpp"
#include "coordinator/cli/run/run_report.hpp"
#include "coordinator/facts/run_facts.hpp"
#include "coordinator/facts/run_record.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/ledger/observation_store.hpp"
#include "coordinator/ledger/run_lock.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/run/run_controller.hpp"
#include "coordinator/session/run_gate.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// What a run leaves for the one that follows.
struct FinishedRun {
  int exit_code = exit_error;
  std::string endpoint;  ///< Where workers could join; empty if it did not come that far.
};

/// One run from its gate to its report, and from its first row in the ledger to its last. Refers to all that
/// it is given.
class RecordedRun {
 public:
  /// `use` and `before` may be null. `before`: the facts of an embedding run before this one, whose calls
  /// count here.
  RecordedRun(const RunOptions& options, const RunInputs& inputs, RunGate& gate, const Surroundings& around,
              const RunUse* use, const RunFacts* before = nullptr);

  /// Once. Errors were reported on stderr.
  FinishedRun run();

 private:
  bool goes_on() const { return !options_.resumed_run.empty(); }

  // In this order; what fails before begin() leaves no row.
  Result<void> open_ledgers();
  Result<void> prepare();
  Result<void> begin();
  Result<void> note_what_came_before();
  ConductedRun to_conduct();

  Result<void> make_controller();
  Result<void> take_up_earlier_part();
  FinishedRun stopped(const Error& why);
  /// The report knows them from then on.
  void take_facts(EndedRun& ended);
  FinishedRun finish(RunReport& report, std::string endpoint);

  const RunOptions& options_;
  const RunInputs& inputs_;
  RunGate& gate_;
  const Surroundings& around_;
  const RunUse* use_;
  const RunFacts* before_;

  std::string run_id_;
  std::optional<RunLedger> recorded_in_;
  std::optional<RunLock> lock_;   ///< Before the ledger is open, which a repair may replace, and to the end.
  std::optional<Ledger> ledger_;  ///< The recorder's, from when the run is conducted.
  StartWorkers start_workers_;
  std::optional<Ledger> history_;  ///< This thread's, while the recorder owns the other one.
  std::shared_ptr<const Plan> plan_;
  std::optional<ObservationStore> observations_;
  bool observed_ = false;
  std::optional<FleetSecurity> fleet_;
  RunController::Config controller_;
  RunRecord record_;
  bool is_open_ = false;  ///< In the ledger: its end is to be noted.
  RunFacts facts_;        ///< Until it has ended: what was paid before.
  std::vector<UnitId> begun_units_;
};

}  // namespace sluice
