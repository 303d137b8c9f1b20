#include "coordinator/import/import_notes.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

void ImportNotes::add(const std::string& file, std::uint32_t line, std::string message, Loss loss) {
  if (loss == Loss::everything) {
    Finding error{file, line, std::move(message)};
    if (std::ranges::find(errors_, error) == errors_.end()) errors_.push_back(std::move(error));
    return;
  }
  if (loss != Loss::none) count(file, line, message, loss);
  const auto [same, is_new] = places_.try_emplace({file, message}, notes_.size());
  if (is_new) notes_.push_back({{file, line, std::move(message)}, {}});
  notes_[same->second].lines.insert(line);
}

void ImportNotes::count(const std::string& file, std::uint32_t line, const std::string& what, Loss loss) {
  lost_[static_cast<std::size_t>(loss)].emplace(file, line, what);
}

Losses ImportNotes::losses() const {
  Losses losses{};
  for (std::size_t i = 0; i < losses.size(); ++i) losses[i] = lost_[i].size();
  return losses;
}

std::vector<Finding> ImportNotes::take() {
  std::vector<Finding> findings;
  for (Note& note : notes_) {
    if (const std::size_t further = note.lines.size() - 1; further > 0) {
      note.finding.message +=
          " (and in " + std::to_string(further) + " more place" + (further == 1 ? "" : "s") + ")";
    }
    findings.push_back(std::move(note.finding));
  }
  notes_.clear();
  places_.clear();
  sort_findings(findings);
  return findings;
}

}  // namespace sluice
