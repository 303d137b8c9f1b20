#include "coordinator/plan/trial_table.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace sluice {
namespace {

/// The place, counted from 1, of the n-th bit that is set, counted from 0.
std::uint32_t nth_perturbation(std::uint32_t perturbations, std::size_t n) {
  for (; n > 0; --n) perturbations &= perturbations - 1;
  return static_cast<std::uint32_t>(std::countr_zero(perturbations)) + 1;
}

}  // namespace

bool TrialTable::add_case(std::uint32_t perturbations) {
  const std::size_t forms = 1 + static_cast<std::size_t>(std::popcount(perturbations));
  const std::size_t trials = trials_ + forms * repeats_;
  if (trials > std::numeric_limits<TrialId>::max()) return false;
  if (perturbations != 0 && perturbed_.empty()) {
    perturbed_.assign(cases_, 0);
    for (std::size_t i = 0; i < cases_; ++i) first_.push_back(static_cast<TrialId>(i * repeats_));
  }
  if (perturbations != 0 || !perturbed_.empty()) {
    perturbed_.push_back(perturbations);
    first_.push_back(static_cast<TrialId>(trials_));
  }
  ++cases_;
  trials_ = trials;
  return true;
}

TrialPlace TrialTable::place(TrialId trial) const {
  if (perturbed_.empty()) return {trial / repeats_, 0, trial % repeats_};
  const auto next = std::ranges::upper_bound(first_, trial);
  const auto case_index = static_cast<std::size_t>(next - first_.begin()) - 1;
  const std::uint32_t within = trial - first_[case_index];
  const std::uint32_t form = within / repeats_;
  const std::uint32_t perturbation = form == 0 ? 0 : nth_perturbation(perturbed_[case_index], form - 1);
  return {case_index, perturbation, within % repeats_};
}

std::size_t TrialTable::first_trial(std::size_t case_index) const {
  if (case_index >= cases_) return trials_;
  return perturbed_.empty() ? case_index * repeats_ : first_[case_index];
}

std::uint32_t TrialTable::perturbations_of(std::size_t case_index) const {
  return perturbed_.empty() ? 0 : perturbed_[case_index];
}

}  // namespace sluice
