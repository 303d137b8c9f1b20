#include "coordinator/gate/cases_by_score.hpp"

#include "coordinator/gate/quoted.hpp"

namespace sluice {

void CasesByScore::add(const ScoreId& score, std::string_view test_id) {
  OfScore& found = found_[score];
  if (found.cases++ == 0) found.first = test_id;
}

std::string CasesByScore::in_words() const {
  std::string words;
  for (const auto& [score, found] : found_) {
    words += (words.empty() ? "" : ", ") + to_string(score) + " of " + std::to_string(found.cases) +
             (found.cases == 1 ? " case (" : " cases (first ") + backquoted(found.first) + ")";
  }
  return words;
}

}  // namespace sluice
