#pragma once

#include "common/model/trial.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

/// Where a trial stands: one execution of a case is (case, perturbation, repeat).
struct TrialPlace {
  std::size_t case_index = 0;      ///< Of the suite's cases.
  std::uint32_t perturbation = 0;  ///< 0: the case as it is; n: the run's n-th perturbation.
  std::uint32_t repeat = 0;
  friend bool operator==(const TrialPlace&, const TrialPlace&) = default;
};

/// The numbers of a run's trials in plan order: by case, then by perturbation with the unperturbed first,
/// then by repeat. Takes no memory for cases that are not perturbed as long as none is, else 8 bytes a case,
/// however many trials it has. Reading is thread-safe.
class TrialTable {
 public:
  /// A case's perturbations are bits of a word.
  static constexpr std::uint32_t max_perturbations = 32;

  /// REQUIRES: repeats > 0.
  explicit TrialTable(std::uint32_t repeats = 1) : repeats_(repeats) {}

  /// The next case; bit n stands for perturbation n + 1 having trials. False, and nothing is added, if a
  /// trial would get a number beyond TrialId.
  [[nodiscard]] bool add_case(std::uint32_t perturbations = 0);

  std::uint32_t repeats() const { return repeats_; }
  std::size_t case_count() const { return cases_; }
  std::size_t trial_count() const { return trials_; }
  /// REQUIRES: a trial of the table.
  TrialPlace place(TrialId trial) const;
  /// The trials of a case: [first_trial(i), first_trial(i + 1)). REQUIRES: i <= case_count().
  std::size_t first_trial(std::size_t case_index) const;
  /// As given to add_case.
  std::uint32_t perturbations_of(std::size_t case_index) const;

 private:
  std::uint32_t repeats_;
  std::size_t cases_ = 0;
  std::size_t trials_ = 0;
  std::vector<std::uint32_t> perturbed_;  ///< By case; empty until one is perturbed.
  std::vector<TrialId> first_;            ///< By case; empty until one is perturbed.
};

}  // namespace sluice
