#pragma once

#include "coordinator/facts/run_record.hpp"
#include "coordinator/observations/run_diff.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// What `sluice diff` shows.
struct RunDiffReport {
  BeforeAndAfter<PastRun> runs;
  BeforeAndAfter<std::string> verdicts{};  ///< What came of each, as `sluice runs list` says it.
  RunDiff diff;
  std::vector<std::string> notes{};      ///< What limits the comparison, a sentence each.
  bool with_unchanged = false;           ///< Also the cases that are as they were.
  std::optional<StatusChange> status{};  ///< Only cases whose status changed so, of those of both runs.

  bool lists(const CaseDiff& one) const;
};

/// For people: which cases changed, in what, and changed answers beside each other, in at most `columns`
/// columns. Foreign text in it cannot move the cursor.
std::string run_diff_page(const RunDiffReport& report, std::size_t columns);

/// One JSON object (docs/commands.md, "sluice diff"). Ends with a line feed.
std::string run_diff_as_json(const RunDiffReport& report);

}  // namespace sluice
