#pragma once

#include "coordinator/facts/status_counts.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A case of a past run that the suite does not have as it was: what came of it stands, and nothing judges it
/// again.
struct NotedCase {
  bool is_gone = false;  ///< Else what judges it is another now.
  /// What the gate made of it; nothing where nobody noted that: its metrics alone say it then.
  std::optional<CaseStatus> status{};
  std::vector<std::string> missed{};  ///< As of CaseOutcome.
};

/// Why no more is shown of it.
constexpr std::string_view words_on(const NotedCase& noted, bool prompt_is_lost) {
  if (noted.is_gone)
    return "the suite does not have this test any more: its prompt and expected texts are not shown";
  return prompt_is_lost
             ? "its checks and what it asks are others now: its prompt and expected texts are not shown"
             : "its checks or settings are others now: its expected texts are not shown";
}

/// How the cases of a plan stand to the past run that the plan is of, by their places in it.
struct PastCases {
  std::map<std::size_t, NotedCase> noted{};
  std::vector<bool> asked_otherwise{};  ///< What they asked is not known any more; empty: of none.

  /// Null for a case that is as it was.
  const NotedCase* find(std::size_t index) const {
    const auto found = noted.find(index);
    return found == noted.end() ? nullptr : &found->second;
  }
  bool is_asked_otherwise(std::size_t index) const {
    return index < asked_otherwise.size() && asked_otherwise[index];
  }
  bool any_asked_otherwise() const {
    return std::find(asked_otherwise.begin(), asked_otherwise.end(), true) != asked_otherwise.end();
  }
};

}  // namespace sluice
