#pragma once

#include "coordinator/gate/assess_metrics.hpp"
#include "coordinator/gate/baseline.hpp"
#include "coordinator/suite/case.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string_view>

namespace sluice {

/// What a baseline says of one case.
class PinnedCase {
 public:
  /// The baseline must outlive this; null: there is none.
  PinnedCase(const Baseline* baseline, std::string_view test_id);

  /// The next checks are of another answer.
  void begin_answer() { asked_.clear(); }

  /// Of a fixture's forbidden claims. A baseline of the time when none pinned them counts as free of them.
  PinnedScore of_forbidden() const;
  /// Of a check by a metric that passes or fails, whatever the order of the case's expectations.
  PinnedScore of_check(const Expectation& expectation, bool is_only);
  /// Of a score. `expectation`: null for a fixture's.
  PinnedScore of(MetricId metric, std::string_view name, const Expectation* expectation) const;
  /// In most repeats: its score is the mean of the few others. The repeats are those of the test's other
  /// entries.
  bool was_mostly_undefined(MetricId metric, std::string_view name) const;
  /// CaseAssessment::baseline_passes
  std::optional<double> passes() const;

 private:
  CheckDigest digest_of(const Expectation& expectation);
  std::optional<BaselineEntry> entry_of_forbidden() const;
  std::optional<BaselineEntry> find(MetricId metric, std::string_view name) const;
  std::optional<double> score_of(MetricId metric) const;
  bool was_undefined(MetricId metric) const;

  const Baseline* baseline_;
  Baseline::Range range_;
  std::map<const Expectation*, CheckDigest> digests_;  ///< Computed once for all answers.
  std::map<CheckDigest, std::size_t> asked_;           ///< How often, of this answer.
};

}  // namespace sluice
