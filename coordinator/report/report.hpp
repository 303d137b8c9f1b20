#pragma once

#include "common/error.hpp"
#include "common/hash.hpp"
#include "common/run_settings.hpp"
#include "coordinator/merge/aggregate.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/merge/result_source.hpp"
#include "coordinator/merge/status.hpp"
#include "coordinator/report/sink.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

/// Version of the JSON report's format (docs/report.md, config/schemas/report.schema.json).
inline constexpr int report_schema_version = 1;

/// What was asked, and of whom: settings that decide the results.
struct RunIdentity {
  std::string prompt_version;
  Digest prompt_hash{};
  std::string ontology_version;
  ProviderKind provider = ProviderKind::openai;
  std::string model;
};

/// Everything that a report shows. Reports only print: nothing is decided here.
struct ReportInput {
  const RunResults& results;
  const Aggregates& aggregates;
  RunVerdict verdict = RunVerdict::error;
  RunIdentity identity;
  RunFacts facts;
  Mode mode = Mode::cached;
  std::optional<double>
      paid_cost;  ///< US dollars for the tokens paid in this run; empty if the price is unknown.
};

/// How a report for a terminal is laid out.
struct TableStyle {
  std::size_t columns = 80;  ///< Width of the terminal; less than 60 counts as 60.
  bool colour = false;
};

/// Write a report to the sink in pieces, so that memory stays flat. They visit the results once or twice and
/// fail only as visit_cases does; what became of the output is the sink's to say. Not thread-safe.
Result<void> write_json_report(const ReportInput& input, Sink& sink);
Result<void> write_table_report(const ReportInput& input, const TableStyle& style, Sink& sink);
Result<void> write_markdown_report(const ReportInput& input, Sink& sink);

}  // namespace sluice
