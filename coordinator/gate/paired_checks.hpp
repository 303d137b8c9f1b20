#pragma once

#include "coordinator/gate/compare.hpp"
#include "coordinator/gate/compared_assessment.hpp"

#include <string_view>
#include <vector>

namespace sluice {

/// The checks of a test by one metric on both sides of a comparison, by what they ask. Pure.
class PairedChecks {
 public:
  /// What this is made of must outlive it. `name`: of the metric.
  PairedChecks(const IndexedCase& base, const IndexedCase& current, std::string_view name);

  /// Checks of the base that the current side lacks, and no other stands in the place of. Where it has fewer
  /// checks, all that it lacks: nobody knows which of them changed and which are gone.
  const std::vector<const ComparedMetric*>& missing() const { return missing_; }
  /// Checks of the current side stand in the place of as many of the base that ask something else.
  bool asks_otherwise() const { return asks_otherwise_; }
  /// What a check is that only the current side has: `added`, `changed`, or `not_compared` where nobody
  /// knows.
  RowChange of_new() const { return of_new_; }

 private:
  std::vector<const ComparedMetric*> missing_;
  bool asks_otherwise_ = false;
  RowChange of_new_ = RowChange::not_compared;
};

}  // namespace sluice
