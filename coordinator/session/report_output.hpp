#pragma once

#include "common/error.hpp"
#include "coordinator/report/commands/grade_report.hpp"
#include "coordinator/report/report.hpp"
#include "coordinator/session/report_options.hpp"

#include <vector>

namespace sluice {

/// How a table fits where it goes: the terminal's width and colours, or 100 columns in a file or a pipe,
/// where the last verdict is one line.
TableStyle table_style(const ReportTarget& target);

/// Writes every report, each whole or not at all; one that fails keeps none of the others back. What went
/// wrong, in the order of the targets; empty if nothing did.
std::vector<Error> write_reports(const std::vector<ReportTarget>& targets, const ReportInput& input);

/// The same for one report of a run that grades; `target` is a table or JSON.
Result<void> write_grade_report(const ReportTarget& target, const GradeReportInput& input);

}  // namespace sluice
