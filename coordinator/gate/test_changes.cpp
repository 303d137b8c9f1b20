#include "coordinator/gate/test_changes.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/gate/quoted.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sluice {
namespace {

/// A test under several arms is a case for each.
std::string counted(const std::vector<std::string>& cases) {
  return wording::counted(cases.size(), "case");
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
  const auto is_shown = [&](const std::string& id) {
    return std::ranges::binary_search(shown_elsewhere, id);
  };
  for (const std::string& id : base_lost_) {
    if (is_shown(id)) continue;
    const bool had_both = std::ranges::binary_search(current_lost_, id);
    (had_both ? changes_.lost : changes_.gone).push_back(id);
  }
  for (const std::string& id : current_lost_) {
    changes_.lost.push_back(id);
    if (!is_shown(id) && !std::ranges::binary_search(base_lost_, id)) changes_.added.push_back(id);
  }
  for (auto* ids : {&changes_.added, &changes_.gone, &changes_.lost}) {
    std::ranges::sort(*ids);
    ids->erase(std::unique(ids->begin(), ids->end()), ids->end());
  }
  return std::move(changes_);
}

std::string names_of_first(const std::vector<std::string>& cases) {
  const std::size_t shown = std::min(cases.size(), defaults::named_entries);
  std::string text = ": ";
  for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? ", " : "") + backquoted(cases[i]);
  if (shown < cases.size()) text += ", and " + wording::grouped(cases.size() - shown) + " more";
  return text + ".";
}

std::vector<GateNotice> test_notices(const TestChanges& changes, const std::string& base,
                                     const std::string& current, std::size_t lost_failed, bool strict) {
  const auto warning = warning_under(strict);
  std::vector<GateNotice> notices;
  if (!changes.added.empty()) {
    notices.push_back({GateNotice::Severity::info, "tests_added",
                       "`" + current + "` has " + counted(changes.added) + " that `" + base +
                           "` does not have" + names_of_first(changes.added)});
  }
  if (!changes.gone.empty()) {
    notices.push_back({warning, "tests_gone",
                       "`" + current + "` lacks " + counted(changes.gone) + " of `" + base + "`" +
                           names_of_first(changes.gone)});
  }
  if (!changes.judged_otherwise.empty()) {
    notices.push_back({warning, "tests_judged_otherwise",
                       "`" + current + "` has other checks or judges than `" + base + "` in " +
                           counted(changes.judged_otherwise) +
                           ", whose results are not compared (those of the other checks are)" +
                           names_of_first(changes.judged_otherwise)});
  }
  if (!changes.lost.empty()) {
    const bool is_one = changes.lost.size() == 1;
    std::string failed;
    if (lost_failed > 0) {
      failed = " " + (is_one ? "It" : std::to_string(lost_failed) + " of them") + " failed in `" + current +
               "`: a JSON report that was kept of each run compares them as well.";
    }
    notices.push_back({warning, "tests_not_judged",
                       "the suite does not have " + counted(changes.lost) +
                           " of these runs any more, so that " + (is_one ? "it is" : "they are") +
                           " not compared" + names_of_first(changes.lost) + failed});
  }
  return notices;
}

}  // namespace sluice
