#include "coordinator/gate/test_changes.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/gate/quoted.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sluice {
namespace {

std::string counted(const std::vector<std::string>& tests) {
  return wording::counted(tests.size(), "test");
}

/// ``: `a`, `b`, and 7 more.``
std::string names(const std::vector<std::string>& tests) {
  const std::size_t shown = std::min(tests.size(), defaults::named_entries);
  std::string text = ": ";
  for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? ", " : "") + backquoted(tests[i]);
  if (shown < tests.size()) text += ", and " + std::to_string(tests.size() - shown) + " more";
  return text + ".";
}

}  // namespace

TestFold::Standing TestFold::add(const std::string& id, std::span<const std::string> lost_elsewhere,
                                 std::vector<std::string>& of_one_side) {
  const bool is_lost = std::ranges::binary_search(lost_elsewhere, id);
  (is_lost ? changes_.lost : of_one_side).push_back(id);
  return is_lost ? Standing::lost : Standing::of_one_side;
}

TestChanges TestFold::finish() {
  std::vector<std::string> shown_elsewhere = changes_.lost;
  std::ranges::sort(shown_elsewhere);
  const auto sort = [&](std::span<const std::string> lost, std::span<const std::string> lost_elsewhere,
                        std::vector<std::string>& of_one_side) {
    for (const std::string& id : lost) {
      if (std::ranges::binary_search(shown_elsewhere, id)) continue;
      const bool had_both = std::ranges::binary_search(lost_elsewhere, id);
      (had_both ? changes_.lost : of_one_side).push_back(id);
    }
  };
  sort(base_lost_, current_lost_, changes_.gone);
  sort(current_lost_, base_lost_, changes_.added);
  for (auto* ids : {&changes_.added, &changes_.gone, &changes_.lost}) {
    std::ranges::sort(*ids);
    const auto again = std::ranges::unique(*ids);
    ids->erase(again.begin(), again.end());
  }
  return std::move(changes_);
}

std::vector<GateNotice> test_notices(const TestChanges& changes, const std::string& base,
                                     const std::string& current, bool strict) {
  using Severity = GateNotice::Severity;
  std::vector<GateNotice> notices;
  if (!changes.added.empty()) {
    notices.push_back({Severity::info, "tests_added",
                       "`" + current + "` has " + counted(changes.added) + " that `" + base +
                           "` does not have" + names(changes.added)});
  }
  if (!changes.gone.empty()) {
    notices.push_back(
        {strict ? Severity::failure : Severity::warning, "tests_gone",
         "`" + current + "` lacks " + counted(changes.gone) + " of `" + base + "`" + names(changes.gone)});
  }
  if (!changes.lost.empty()) {
    const bool is_one = changes.lost.size() == 1;
    notices.push_back({Severity::info, "tests_not_judged",
                       "the suite does not have " + counted(changes.lost) +
                           " of these runs any more, so that " + (is_one ? "it is" : "they are") +
                           " not compared" + names(changes.lost)});
  }
  return notices;
}

}  // namespace sluice
