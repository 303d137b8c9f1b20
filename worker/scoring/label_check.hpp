#pragma once

#include "common/error.hpp"
#include "common/model/metrics.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Reads the answer as one of the labels (docs/metrics.md). The outcome of label has it, also where it is not
/// the expected one; what is none of them passes not_label as little. `texts` as TextExpectation has them of
/// both. Errors as of label_form. REQUIRES: one of the two. Pure and thread-safe.
Result<MetricOutcome> assess_label(MetricId id, std::string_view answer,
                                   const std::vector<std::string>& texts);

}  // namespace sluice
