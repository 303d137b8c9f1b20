#pragma once

#include "coordinator/gate/baseline_comparison.hpp"
#include "coordinator/gate/status.hpp"

namespace sluice {

/// Adds what the comparison as a whole brings to a verdict, beside what each case came to: notices,
/// aggregates, stability and the tests of all cases. A run and `sluice compare` count alike.
void count_comparison(const BaselineComparison& gate, VerdictInput& input);

}  // namespace sluice
