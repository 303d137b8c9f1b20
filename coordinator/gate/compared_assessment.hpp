#pragma once

#include "coordinator/gate/assess_metrics.hpp"
#include "coordinator/gate/compare.hpp"
#include "coordinator/gate/gate.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

/// What a case of the current side of a comparison comes to beside the base's. All of it is pure.
namespace sluice {

/// A case with an index of its metrics: one case may have a hundred thousand. Refers to the case.
class IndexedCase {
 public:
  using Metrics = std::span<const ComparedMetric* const>;

  explicit IndexedCase(const ComparedCase& of);
  const ComparedCase& operator*() const { return *case_; }
  const ComparedCase* operator->() const { return case_; }
  /// All of this name, by check, and those of the same check in the case's order.
  Metrics all(std::string_view name) const;
  /// Those of them that are the same check.
  Metrics all(std::string_view name, CheckDigest check) const;
  /// The first of all of this name, of which a score is the only one; null if there is none.
  const ComparedMetric* find(std::string_view name) const;
  /// The most that a metric has; at least 1.
  std::size_t repeats() const { return repeats_; }

 private:
  const ComparedCase* case_;
  std::vector<const ComparedMetric*> by_name_;
  std::size_t repeats_ = 1;
};

/// AssessedMetric. A baseline does not say what is expected: either side's word counts.
bool is_silence_best(const ComparedMetric& metric, const ComparedCase& current, const ComparedCase& base);

/// What the base says of a score of the current side; nothing of one that asks something else there. `base`
/// is null where it lacks the case.
PinnedScore pinned_score(const ComparedMetric& metric, const ComparedCase& current, const IndexedCase* base,
                         const CompareRules& rules);

/// In which repeats of the base all checks of the case passed (passes_of_base).
BasePasses passes_of(const ComparedCase& base, bool (*counts)(std::string_view repeats));

/// By its repeats, as the run assessed it. `is_left_out`: the base lacks the case by intention, so that its
/// scores are compared with nothing.
CaseAssessment assess_compared(const IndexedCase& current, const IndexedCase* base, const CompareRules& rules,
                               bool is_left_out);

}  // namespace sluice
