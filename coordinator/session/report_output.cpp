#include "coordinator/session/report_output.hpp"

#include "coordinator/display/terminal.hpp"
#include "coordinator/output/output_file.hpp"

#include <unistd.h>

namespace sluice {
namespace {

Result<void> write_report(const ReportTarget& target, const ReportInput& input) {
  const ContentWriter writer = [&](Sink& sink) -> Result<void> {
    switch (target.format) {
      case ReportFormat::table:
        return write_table_report(input, table_style(target), sink);
      case ReportFormat::json:
        return write_json_report(input, sink);
      case ReportFormat::markdown:
        return write_markdown_report(input, sink);
      case ReportFormat::junit:
        return write_junit_report(input, sink);
      case ReportFormat::github:
        return write_github_report(input, sink);
      case ReportFormat::html:
        return write_html_report(input, sink);
      case ReportFormat::csv:
        return write_csv_report(input, sink);
    }
    return fail(Reason::internal_error, "there is no report of this format; please report this as a defect");
  };
  return target.file ? write_whole_file("report", *target.file, writer) : write_stdout("report", writer);
}

}  // namespace

TableStyle table_style(const ReportTarget& target) {
  const Terminal terminal = target.file ? Terminal{} : detect_terminal(STDOUT_FILENO);
  return {.columns = terminal.columns.value_or(100),
          .colour = terminal.colour,
          .is_terminal = terminal.columns.has_value()};
}

Result<void> write_grade_report(const ReportTarget& target, const GradeReportInput& input) {
  const ContentWriter writer = [&](Sink& sink) -> Result<void> {
    if (target.format == ReportFormat::json) {
      write_grade_json(input, sink);
    } else {
      write_grade_table(input, table_style(target), sink);
    }
    return {};
  };
  return target.file ? write_whole_file("report", *target.file, writer) : write_stdout("report", writer);
}

std::vector<Error> write_reports(const std::vector<ReportTarget>& targets, const ReportInput& input) {
  std::vector<Error> errors;
  for (const ReportTarget& target : targets) {
    if (const auto written = write_report(target, input); !written) errors.push_back(written.error());
  }
  return errors;
}

}  // namespace sluice
