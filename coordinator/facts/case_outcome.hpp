#pragma once

#include "common/model/trial.hpp"
#include "coordinator/facts/status_counts.hpp"

#include <string>
#include <vector>

namespace sluice {

/// A case that did not simply pass, in the ledger.
struct CaseOutcome {
  TrialId trial = 0;  ///< Its first.
  std::string id;     ///< With its arm.
  CaseStatus status = CaseStatus::error;
  /// In words: its scores beside the limits or baselines that they missed, and its checks beside a baseline.
  std::vector<std::string> missed{};
  bool not_started = false;  ///< An error, and only because the run ended before its turn came.
  friend bool operator==(const CaseOutcome&, const CaseOutcome&) = default;
};

}  // namespace sluice
