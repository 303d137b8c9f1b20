#pragma once

#include "coordinator/report/markdown_text.hpp"
#include "coordinator/report/report.hpp"
#include "coordinator/report/wording.hpp"

namespace sluice {

/// What a comment on a pull request says of single cases, each list within its share of the comment's size.
struct MarkdownCases {
  BoundedText regression_rows{10 << 10};    ///< Of a table: a row for each metric that fell.
  BoundedText regression_stories{8 << 10};  ///< What was expected and what came.
  BoundedText failures{9 << 10};
  BoundedText warnings{2 << 10};
  BoundedText missing{2 << 10};
  BoundedText improvements{3 << 10};
  wording::ErrorGroups errors;
};

/// One visit to all cases; memory stays flat.
Result<void> gather_markdown_cases(const ReportInput& input, MarkdownCases& cases);

}  // namespace sluice
