#include "coordinator/import/import_notes.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

void ImportNotes::add(const std::string& file, std::uint32_t line, std::string message) {
  const auto same = std::ranges::find_if(
      notes_, [&](const Note& one) { return one.finding.file == file && one.finding.message == message; });
  if (same == notes_.end()) {
    notes_.push_back({{file, line, std::move(message)}, 0});
  } else if (same->finding.line != line) {
    ++same->further;
  }
}

std::vector<Finding> ImportNotes::take() {
  std::vector<Finding> findings;
  for (Note& note : notes_) {
    if (note.further > 0) {
      note.finding.message +=
          " (and in " + std::to_string(note.further) + " more place" + (note.further == 1 ? "" : "s") + ")";
    }
    findings.push_back(std::move(note.finding));
  }
  notes_.clear();
  sort_findings(findings);
  return findings;
}

}  // namespace sluice
