#pragma once

#include "common/error.hpp"
#include "common/model/metrics.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Reads the answer as one of the labels (docs/metrics.md). The outcome has the label, also where it is not
/// the expected one. `texts` as TextExpectation has them of label. Errors as of label_form. Pure and
/// thread-safe.
Result<MetricOutcome> assess_label(std::string_view answer, const std::vector<std::string>& texts);

}  // namespace sluice
