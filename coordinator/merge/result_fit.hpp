#pragma once

#include "common/model/result.hpp"
#include "coordinator/suite/case.hpp"
#include "coordinator/suite/expectations/label_sets.hpp"

namespace sluice {

/// Whether a result is one of this case: one score, with an outcome for each metric and votes for each
/// judge's, positions in range and counts that add up. A worker of another version may hand in anything.
/// `labels` are Suite::labels. Pure.
bool fits_case(const Case& test_case, const UnitResult& unit, const SuiteLabels& labels);

}  // namespace sluice
