#pragma once

#include "common/checks/redactor.hpp"
#include "coordinator/suite/case.hpp"

namespace sluice {

/// The case with what the patterns match replaced in all that it asks and expects. What says which case it is
/// stays.
Case redacted(const Case& test_case, const Redactor& redactor);
/// The same of one metric. To be shown it is redacted before it is cut: half of a secret fits no pattern.
Expectation redacted(const Expectation& expectation, const Redactor& redactor);

}  // namespace sluice
