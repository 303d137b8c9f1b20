#include "coordinator/plan/plan_identity.hpp"

#include <string_view>

namespace sluice {
namespace {

/// Changes whenever what is hashed does: then nothing recorded before can be gone on with.
constexpr std::string_view form_version = "plan 1";
constexpr std::string_view trials_form_version = "trials 1";  ///< The same for trial_identity.

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

Digest trial_identity(const Plan& plan) {
  const TrialTable& trials = plan.trials();
  FieldHasher hasher;
  hasher.field(trials_form_version).field(trials.repeats()).field(trials.case_count());
  for (std::size_t i = 0; i < trials.case_count(); ++i) {
    const auto first = static_cast<TrialId>(trials.first_trial(i));
    hasher.field(plan.case_id(first)).field(trials.perturbations_of(i));
  }
  return hasher.finish();
}

Digest plan_identity(const Plan& plan) {
  const TrialTable& trials = plan.trials();
  FieldHasher hasher;
  hasher.field(form_version).field(trials.repeats()).field(plan.perturbations().size());
  for (const PerturbationFacts& one : plan.perturbations()) hasher.field(one.name).field(one.version);
  hasher.field(trials.case_count());
  for (std::size_t i = 0; i < trials.case_count(); ++i) {
    const auto first = static_cast<TrialId>(trials.first_trial(i));
    const auto end = static_cast<TrialId>(trials.first_trial(i + 1));
    hasher.field(plan.case_id(first)).field(trials.perturbations_of(i));
    for (TrialId trial = first; trial < end; ++trial) hasher.field(bytes_of(plan.key(plan.unit_of(trial))));
  }
  return hasher.finish();
}

}  // namespace sluice
