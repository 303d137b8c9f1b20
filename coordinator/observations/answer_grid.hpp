#pragma once

#include "coordinator/observations/run_diff.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// Answers of a run as a table: a row for each test, a column for each arm.
struct AnswerGrid {
  RunAnswers run{};                                          ///< Its observations in plan order.
  std::map<std::string, std::vector<std::string>> missed{};  ///< By case: as of CaseOutcome.
  std::vector<std::string> arms{};  ///< In the order of their columns; an arm that is not named comes last.
  std::string named{};              ///< The run's name in the commands that are proposed.
  std::optional<std::size_t> most_rows{};  ///< Nothing: all of them.
};

/// The table in at most `columns` columns (at least 40 are assumed). Arms that have no room beside the others
/// stand in a table below. A cell has a mark for the case's status and the beginning of the answer of its
/// first unperturbed trial. Below the tables is what the marks mean and what they leave out. Foreign text in
/// it cannot move the cursor.
std::string answer_grid(const AnswerGrid& grid, std::size_t columns, bool colour = false);

}  // namespace sluice
