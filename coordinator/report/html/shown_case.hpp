#pragma once

#include "common/error.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/report/case_texts.hpp"
#include "coordinator/report/report.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A case as a page shows it.
struct ShownCase {
  std::string id;
  std::string title;  ///< The id, with the name where it has one of its own.
  std::string name;
  std::string category;
  std::string arm;          ///< Empty without arms.
  std::uint32_t test = 0;   ///< Which test it is under that arm.
  std::string_view status;  ///< shown_status
  CaseChange change = CaseChange::none;
  CaseTexts texts;                 ///< The answer whole where it was found, and all cut to the room.
  std::vector<std::string> notes;  ///< What is cut or lost, and what shows it whole.
};

/// How much of a run a page takes.
struct PageRoom {
  std::uint64_t cases = UINT64_MAX;   ///< The first so many.
  std::size_t text_bytes = SIZE_MAX;  ///< Of all texts together, unless each case has very little.
  bool with_unanswered = true;        ///< Also cases that have no result.
};

/// Calls `use` for each case of the run in its order. Short texts are shown whole, and what they leave goes
/// to longer ones: no case takes more than its share of what is left. Fails as visit_cases does.
Result<void> visit_shown_cases(const ReportInput& input, const PageRoom& room,
                               const std::function<void(const ShownCase&)>& use);

}  // namespace sluice
