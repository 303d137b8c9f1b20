#pragma once

#include "coordinator/report/report.hpp"

#include <string>

namespace sluice {

/// The comment's parts on the statistical gate and on stability, in at most 5 KiB; empty where there was
/// neither.
Result<std::string> markdown_stability(const ReportInput& input);

}  // namespace sluice
