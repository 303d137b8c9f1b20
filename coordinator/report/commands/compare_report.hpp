#pragma once

#include "common/error.hpp"
#include "coordinator/gate/baseline.hpp"
#include "coordinator/gate/baseline_comparison.hpp"
#include "coordinator/gate/compare.hpp"
#include "coordinator/output/sink.hpp"
#include "coordinator/report/writers/table_writer.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// Version of the JSON that write_compare_json writes (docs/commands.md).
inline constexpr int compare_schema_version = 1;

/// One side of a comparison, for its reader.
struct ComparedSide {
  std::string file;       ///< As the user named it.
  std::string_view kind;  ///< `baseline` or `report`.
  BaselineHeader header;
  bool is_selection = false;  ///< A report of a part of the suite.
  std::string run_id{};       ///< Of a run of the ledger; empty: a file.
};

/// What the reports of a comparison show. They only print: nothing is decided here.
struct CompareReportInput {
  ComparedSide base;
  ComparedSide current;
  BaselineComparison gate;  ///< The comparison as a whole: notices, stability, and the tests of all cases.
  CompareSummary summary;
  int exit_code = 0;
  /// Compares once more, for the rows: they are not held.
  std::function<Result<CompareSummary>(const std::function<void(const ScoreComparison&)>&)> visit;
  std::optional<TestChanges> tests{};  ///< Of a whole suite beside another report or a baseline.
};

/// What the verdict comes from, in words: "2 checks that broke, 1 flaky case"; empty where nothing is wrong.
std::string verdict_reasons(const CompareReportInput& input);

/// Write the comparison to the sink: regressions, other failures, flaky metrics, what is missing on either
/// side, improvements, stability and tests of all cases, and the verdict. They fail only as `visit` does.
Result<void> write_compare_table(const CompareReportInput& input, const TableStyle& style, Sink& sink);
Result<void> write_compare_markdown(const CompareReportInput& input, Sink& sink);
/// Into a page: from its head on, without the cases side by side.
Result<void> write_compare_html(const CompareReportInput& input, BufferedWriter& writer);
Result<void> write_compare_json(const CompareReportInput& input, Sink& sink);

}  // namespace sluice
