#pragma once

#include "common/hash.hpp"
#include "coordinator/plan/plan.hpp"

namespace sluice {

/// What the plan requests, trial by trial: the cases by id with their perturbations and repeats, and for each
/// trial the key of its request, which stands for provider, model, prompt and input
/// (common/model/cache_key.hpp). Two plans with the same identity give the same number to the same question.
/// What assesses the answers is not in it: that is the suite's (config_fingerprint). The same on every
/// machine.
Digest plan_identity(const Plan& plan);

/// Which trial is of which case: two plans with the same one give a case the same numbers, whatever their
/// requests.
Digest trial_identity(const Plan& plan);

}  // namespace sluice
