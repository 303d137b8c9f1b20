#pragma once

#include "coordinator/report/html/html_page.hpp"
#include "coordinator/report/report.hpp"

namespace sluice {

/// write_html_report for a page that is served.
Result<void> write_html_report(const ReportInput& input, const PageFrame& frame, Sink& sink);

}  // namespace sluice
