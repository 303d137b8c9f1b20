#pragma once

#include "common/settings/settings.hpp"
#include "coordinator/actors/observer.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// Opens the file that the run saves its observations in, as its settings say. Nothing if it saves none, or
/// cannot: that is a warning, and the run goes on without.
std::optional<ObservationStore> open_run_observations(const Settings& settings);

/// What saves them while the run goes on. Options and inputs must outlive it.
ObserverConfig observer_config(ObservationStore store, std::shared_ptr<const Plan> plan,
                               const RunOptions& options, const RunInputs& inputs, const std::string& run_id);

/// Collects the statuses that the gate gave, where they are not what the metrics alone say.
class GatedStatuses {
 public:
  void add(const CaseResult& result);
  const std::vector<TrialStatus>& changed() const { return changed_; }

 private:
  std::vector<TrialStatus> changed_;
};

/// Notes what the gate said of a run that saved its observations, and removes those that need not stay. What
/// fails is a warning.
void finish_run_observations(const Settings& settings, const std::string& run_id,
                             const std::vector<TrialStatus>& statuses);

}  // namespace sluice
