#pragma once

#include "coordinator/report/report.hpp"

#include <string>

namespace sluice {

/// What a run came to as pictures, SVG without styles of their own: statuses, stability by perturbation,
/// changes against the baseline, gains between arms. Each has a title for those who do not see it; the
/// numbers stand in the report's tables.
std::string charts_of(const ReportInput& input);

}  // namespace sluice
