#pragma once

#include "coordinator/facts/run_record.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sluice {

/// A line a run under a line of headings, in at most `columns` columns (at least 80 are assumed): long names
/// of suites are cut short, and models stand below. What runs cost is shown where any paid something and
/// there is room. With `colour` verdicts have that of the gate's.
std::string run_table(const std::vector<PastRun>& runs, std::size_t columns, bool colour = false);

}  // namespace sluice
