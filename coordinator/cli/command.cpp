#include "coordinator/cli/command.hpp"

#include "coordinator/display/display.hpp"

#include <iostream>

namespace sluice {

void report_warning(std::string_view message) {
  std::cerr << "sluice: warning: " << printable(message) << '\n';
}

int report_error(std::string_view message) {
  std::cerr << "sluice: error: " << printable(message) << '\n';
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
