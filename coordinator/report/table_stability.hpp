#pragma once

#include "coordinator/report/report.hpp"
#include "coordinator/report/table_page.hpp"

namespace sluice {

/// The table's sections on repeats, stability and the statistical gate; nothing where there was none of them.
Result<void> write_table_stability(const ReportInput& input, TablePage& page);

}  // namespace sluice
