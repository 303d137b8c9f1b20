#pragma once

#include "coordinator/gate/baseline_comparison.hpp"
#include "coordinator/gate/status.hpp"

#include <vector>

namespace sluice {

/// Adds what the comparison as a whole brings to a verdict, beside what each case came to: notices,
/// aggregates, stability and the tests of all cases. A run and `sluice compare` count alike.
void count_comparison(const BaselineComparison& gate, VerdictInput& input);

/// Makes failures of the notices that say that baseline and run do not fit: other tests, settings, prompts or
/// judges, or something that one of them has and the other lacks. What is uncertain of the answers is none
/// (docs/gate.md).
void fail_on_mismatch(std::vector<GateNotice>& notices);

}  // namespace sluice
