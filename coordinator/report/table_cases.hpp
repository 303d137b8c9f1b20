#pragma once

#include "coordinator/report/report.hpp"
#include "coordinator/report/table_page.hpp"

namespace sluice {

/// How many entries of a list that grows with the number of cases a table shows.
inline constexpr std::size_t max_listed_cases = 50;

/// The table's sections on single cases: regressions, failures, improvements, missing baseline entries,
/// errors. All failures are written; of the others the first `max_listed_cases` by id, with how many more
/// there are. Memory stays flat.
Result<void> write_table_cases(const ReportInput& input, TablePage& page);

}  // namespace sluice
