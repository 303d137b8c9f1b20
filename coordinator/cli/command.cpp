#include "coordinator/cli/command.hpp"

#include "common/defaults.hpp"
#include "common/text/stderr_line.hpp"
#include "coordinator/cli/defaults.hpp"
#include "coordinator/display/display.hpp"

#include <cstddef>
#include <map>
#include <string>

namespace sluice {

void report_warning(std::string_view message) {
  say(message, Severity::warning);
}

int report_error(std::string_view message) {
  say(message, Severity::error);
  return exit_error;
}

int report_error(const Error& error) {
  return report_error(error.message);
}

std::vector<Finding> shown_findings(const std::vector<Finding>& findings) {
  std::map<std::string_view, std::size_t> of_file;
  for (const Finding& finding : findings) ++of_file[finding.file];
  const auto more = [](std::size_t count) {
    return "and " + std::to_string(count) + " more finding" + (count == 1 ? "" : "s");
  };
  std::map<std::string_view, std::size_t> seen;
  std::vector<Finding> shown;
  std::size_t left = findings.size();
  for (const Finding& finding : findings) {
    if (shown.size() >= defaults::max_shown_findings) {
      shown.push_back({"all files", 0, more(left)});
      break;
    }
    --left;
    const auto place = ++seen[finding.file];
    const auto count = of_file[finding.file];
    if (place <= defaults::max_file_findings) {
      shown.push_back(finding);
    } else if (place == count) {
      shown.push_back({finding.file, 0, more(count - defaults::max_file_findings)});
    }
  }
  return shown;
}

int report_findings(const std::vector<Finding>& findings) {
  for (const Finding& finding : shown_findings(findings)) report_error(to_text(finding));
  return exit_error;
}

}  // namespace sluice
