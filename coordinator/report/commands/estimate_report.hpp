#pragma once

#include "coordinator/facts/run_estimate.hpp"

#include <cstddef>
#include <string>

namespace sluice {

/// What `sluice plan` prints, in at most `columns` columns. No colours.
std::string estimate_text(const RunEstimate& estimate, std::size_t columns);
/// The same as a JSON object, with a line feed at its end.
std::string estimate_json(const RunEstimate& estimate);

}  // namespace sluice
