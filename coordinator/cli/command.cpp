#include "coordinator/cli/command.hpp"

#include "common/text/stderr_line.hpp"
#include "coordinator/display/display.hpp"

#include <string>

namespace sluice {

void report_warning(std::string_view message) {
  write_stderr_line(std::string("sluice: warning: ").append(message));
}

int report_error(std::string_view message) {
  write_stderr_line(std::string("sluice: error: ").append(message));
  return exit_error;
}

int report_error(const Error& error) {
  return report_error(error.message);
}

int report_findings(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) report_error(to_text(finding));
  return exit_error;
}

}  // namespace sluice
