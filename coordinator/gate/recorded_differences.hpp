#pragma once

#include "coordinator/gate/cases_by_score.hpp"
#include "coordinator/gate/gate.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

/// Gathers where answers of --answers were recorded with something else than they are judged by
/// (docs/answers.md).
class RecordedDifferences {
 public:
  /// `samples`: the votes that settings ask for on each answer; nothing where nobody names a number.
  explicit RecordedDifferences(std::optional<std::uint32_t> samples) : samples_(samples) {}

  void visit(const Case& test_case, std::span<const AssessedMetric> metrics);
  /// `recorded_context_unused` and `recorded_votes_differ`, which decide nothing.
  std::vector<GateNotice> finish() const;

 private:
  std::optional<std::uint32_t> samples_;
  CasesByScore other_context_;
  CasesByScore other_votes_;
};

}  // namespace sluice
