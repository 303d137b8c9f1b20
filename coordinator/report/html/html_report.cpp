#include "coordinator/report/html/html_report.hpp"

#include "config/embedded_config.hpp"
#include "coordinator/report/html/html_cases.hpp"
#include "coordinator/report/html/html_charts.hpp"
#include "coordinator/report/html/html_page.hpp"
#include "coordinator/report/html/html_writer.hpp"
#include "coordinator/report/report_document.hpp"
#include "coordinator/report/wording/wording.hpp"

#include <string>

namespace sluice {

Result<void> write_html_report(const ReportInput& input, Sink& sink) {
  return write_html_report(input, {}, sink);
}

Result<void> write_html_report(const ReportInput& input, const PageFrame& frame, Sink& sink) {
  BufferedWriter writer(sink);
  std::string& text = writer.text();
  text += page_head(wording::headline(input.verdict) + ": " + input.results.suite.name, frame,
                    {embedded::report_script});
  // The cases have a list of their own here.
  const auto document = build_document(input, Room::page, CaseLists::left_out);
  if (!document) return fail(document.error());
  write_html(*document, writer);
  if (const std::string charts = charts_of(input); !charts.empty()) text += "<h2>Pictures</h2>\n" + charts;
  if (auto written = write_first_cases(input, {}, writer); !written) return written;
  text += "</main>\n";
  CaseData data(writer);
  if (auto written = data.add(input, {}); !written) return written;
  data.close();
  std::vector<std::string_view> scripts{embedded::report_script};
  scripts.insert(scripts.end(), frame.more_scripts.begin(), frame.more_scripts.end());
  text += page_end(scripts);
  return {};
}

}  // namespace sluice
