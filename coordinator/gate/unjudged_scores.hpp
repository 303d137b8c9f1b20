#pragma once

#include "coordinator/gate/cases_by_score.hpp"
#include "coordinator/gate/gate.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace sluice {

/// Gathers the scores that a test names and nothing judges: without a limit of its own and without a baseline
/// such a metric can never fail, whatever the answer.
class UnjudgedScores {
 public:
  void visit(std::string_view test_id, std::span<const AssessedMetric> metrics);
  /// `unjudged`, once for all metrics: a failure under strict.
  std::optional<GateNotice> finish(bool strict) const;

 private:
  CasesByScore found_;
};

}  // namespace sluice
