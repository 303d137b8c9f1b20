#pragma once

#include "coordinator/facts/committed_results.hpp"
#include "coordinator/facts/run_record.hpp"
#include "coordinator/gate/fixture_changes.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/suite/case.hpp"

#include <string>
#include <vector>

namespace sluice {

/// `measured_at` of a baseline that is made of a run: its end, in whole seconds.
std::string measured_at(const RunSummary& summary);

/// Whether the [baseline] table was made of the run, by what it says of itself: when it was measured, the
/// model and the version of the prompt.
bool is_made_of(const AggregateBaseline& baseline, const PastRun& past);

/// The F1 of each fixture that both runs assessed, then and now: of the unperturbed trials, repeats by their
/// mean. `plan` is that of the run now. Which fixture a result of then is of says its trial's number where
/// both plans number alike (trial_identity in the run's record), else its request. Fails as the results do.
Result<std::vector<FixtureScores>> compare_fixtures(const Plan& plan, const PastRun& past,
                                                    const ResultSource& results_then,
                                                    const ResultSource& results_now);

}  // namespace sluice
