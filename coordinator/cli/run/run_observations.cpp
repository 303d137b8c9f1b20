#include "coordinator/cli/run/run_observations.hpp"

#include "common/clock.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/observations/retention.hpp"

#include <string_view>
#include <utility>

namespace sluice {

std::optional<ObservationStore> open_run_observations(const Settings& settings) {
  if (!settings.save_observations.value) return std::nullopt;
  auto store = ObservationStore::open(observations_file(settings));
  if (store) return std::move(*store);
  report_warning(store.error().message + "; this run saves none of them");
  return std::nullopt;
}

ObserverConfig observer_config(ObservationStore store, std::shared_ptr<const Plan> plan,
                               const RunOptions& options, const RunInputs& inputs,
                               const std::string& run_id) {
  std::vector<std::string> arms;
  for (const RunArm& one : options.arms) arms.push_back(one.arm.name);
  ObservationMaker maker(std::move(plan), {run_id, inputs.prompt.version, to_prefixed_hex(inputs.prompt.hash),
                                           std::move(arms), price_of(options, inputs), inputs.redactor});
  return {std::move(store), std::move(maker), unix_now_ms};
}

void GatedStatuses::add(const CaseResult& result) {
  for (const TrialResult& trial : result.trials) {
    if (trial.unit == nullptr) continue;  // Nothing was observed.
    const std::string_view before = status_before_gate(trial.error == nullptr ? trial.score : nullptr);
    const std::string_view status =
        to_string(trial.error != nullptr ? CaseStatus::error : case_status(trial.assessment.metrics));
    if (status != before) changed_.push_back({trial.trial, status});
  }
}

void finish_run_observations(const Settings& settings, const std::string& run_id,
                             const std::vector<TrialStatus>& statuses) {
  auto store = ObservationStore::open(observations_file(settings));
  if (!store) return report_warning(store.error().message);
  if (const auto set = store->set_statuses(run_id, statuses); !set) report_warning(set.error().message);
  const auto pruned = store->prune(
      retention_of(unix_now_ms(), settings.retention_days.value, settings.retention_max_count.value), false);
  if (!pruned) report_warning(pruned.error().message);
}

}  // namespace sluice
