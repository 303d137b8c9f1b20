#pragma once

#include "coordinator/facts/committed_results.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace sluice {

/// Trials of a case that have other numbers than they had.
struct RenumberedTrials {
  TrialId then = 0;  ///< The first of them.
  TrialId now = 0;
  std::uint32_t count = 0;
  friend bool operator==(const RenumberedTrials&, const RenumberedTrials&) = default;
};

/// The results of a source for those trials alone that have a number now, under that number. Units are
/// numbered by the first of their trials. `trials` ascends by both numbers. Holds a reference.
class RenumberedResults final : public ResultSource {
 public:
  RenumberedResults(const ResultSource& source, std::vector<RenumberedTrials> trials)
      : source_(source), trials_(std::move(trials)) {}
  Result<void> visit_from(TrialId first, const VisitTrial& visit) const override;

 private:
  const ResultSource& source_;
  std::vector<RenumberedTrials> trials_;
};

}  // namespace sluice
