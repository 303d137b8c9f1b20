#include "common/documents/finding.hpp"

#include <algorithm>
#include <tuple>

namespace sluice {

std::string to_text(const Finding& finding) {
  std::string text = finding.file;
  if (finding.line != 0) text += ":" + std::to_string(finding.line);
  return text + ": " + finding.message;
}

void sort_findings(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.file, a.line) < std::tie(b.file, b.line);
  });
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
