#include "common/documents/finding.hpp"

#include "common/defaults.hpp"

#include <algorithm>
#include <tuple>

namespace sluice {

std::string to_text(const Finding& finding) {
  std::string text = finding.file;
  if (finding.line != 0) text += ":" + std::to_string(finding.line);
  return text + ": " + finding.message;
}

std::string without_place(std::string message, const std::string& place) {
  const std::string within = " (" + place + ")";
  if (const auto at = message.find(within); at != std::string::npos) message.erase(at, within.size());
  return message;
}

void sort_findings(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.file, a.line) < std::tie(b.file, b.line);
  });
}

void shorten_findings(std::vector<Finding>& findings, const std::string& file, std::string_view more) {
  if (findings.size() <= defaults::max_file_findings) return;
  const std::size_t count = findings.size() - defaults::max_file_findings;
  findings.resize(defaults::max_file_findings);
  findings.push_back({file, 0, "and " + std::to_string(count) + ' ' + std::string(more)});
}

std::string join_findings(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    if (!text.empty()) text += "; ";
    text += to_text(finding);
  }
  return text;
}

}  // namespace sluice
