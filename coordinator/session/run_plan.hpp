#pragma once

#include "common/error.hpp"
#include "common/hash.hpp"
#include "common/model/run_settings.hpp"
#include "coordinator/facts/cache_holders.hpp"
#include "coordinator/governor/governor.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/run/run_controller.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"
#include "coordinator/session/trial_design.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sluice {

/// What each worker gets of the run: providers, caches, times, and who judges. Without the judge's rubrics:
/// see fit_judge.
RunSettings run_settings(const RunOptions& options, const RunInputs& inputs, std::string run_id);

/// Names the rubrics of the plan's cases. Where none of them is judged, as in a part of a suite, nobody
/// judges, and no worker is asked for the judge's key.
void fit_judge(const Plan& plan, RunSettings& run);

/// The trials of the run. Errors: a case that no request can be made of, a perturbation that is none or whose
/// command fails, judge metrics that nobody judges.
Result<std::shared_ptr<const Plan>> make_plan(const RunOptions& options, const RunInputs& inputs,
                                              OnCommands on_commands = {});
/// The same with what stands in front of each case's request, whatever retrieval found.
Result<std::shared_ptr<const Plan>> make_plan(const RunOptions& options, const RunInputs& inputs,
                                              std::vector<SharedText> few_shots, OnCommands on_commands = {});

/// By unit: what rendezvous hashing goes by. No holder is known yet.
std::vector<UnitAffinity> affinities_of(std::span<const Digest> keys);

/// Adds which cache holds each unit's answer, and which answer it must be: in cached mode, and in live mode
/// where it comes from another worker's cache. `pins` are by unit. REQUIRES: affinities_of in the config.
void add_pins(std::span<const std::optional<Pin>> pins, RunController::Config& config);

/// What the run's providers allow.
GovernorConfig governor_config(const Settings& settings, const RunSettings& run);

/// What the run may take (docs/budgets.md): only live runs pay for anything. usage_invalid: the cost is
/// limited, and a model has no known price. Options and inputs must outlive the config.
Result<void> add_budgets(const RunOptions& options, const RunInputs& inputs, RunController::Config& config);

}  // namespace sluice
