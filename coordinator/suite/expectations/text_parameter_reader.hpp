#pragma once

#include "common/documents/table_reader.hpp"
#include "common/model/expectation.hpp"
#include "coordinator/suite/documents/document_context.hpp"
#include "coordinator/suite/expectations/metric_types.hpp"
#include "coordinator/suite/expectations/named_tool.hpp"
#include "coordinator/suite/test_files/test_parser.hpp"
#include "coordinator/suite/test_files/unfilled_variable.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Reads what a metric of the answer assesses by: texts, patterns, schemas, limits, commands, and the parts
/// of groups. What is wrong becomes findings; all that it is given must outlive it.
class TextParameterReader {
 public:
  /// `unfilled` and `tools` as read_expectations has them.
  TextParameterReader(const TestSource& source, const DocumentContext& context,
                      std::vector<UnfilledVariable>& unfilled, std::vector<NamedTool>& tools)
      : source_(source), context_(context), unfilled_(unfilled), tools_(tools) {}

  /// `which` of `expected` it is. REQUIRES: neither claims nor a judge; `what` has the metric.
  void read_metric(std::size_t which, TableReader& reader, const MetricType& type, TextExpectation& what) {
    metric_ = which;
    read(reader, type, what);
  }

 private:
  void read(TableReader& reader, const MetricType& type, TextExpectation& what);
  std::vector<std::string> read_json_parameters(TableReader& reader) const;
  std::vector<std::string> read_schema_parameter(TableReader& reader) const;
  std::vector<std::string> read_call(TableReader& reader, MetricId metric) const;
  std::vector<std::string> read_label(TableReader& reader) const;
  std::vector<std::string> read_calls(TableReader& reader, MetricId metric) const;
  void note_all_tools(const TableReader& reader, const MetricType& type) const;
  void note_unfilled(const TableReader& reader, std::string_view key, std::string_view text,
                     const std::string& named = {}) const;
  std::string way_without_variable(std::string_view key, const std::string& name) const;
  std::vector<TextExpectation> read_group(TableReader& reader, const MetricType& type, double pass_mark);
  std::vector<TextExpectation> read_parts(TableReader& reader);
  void read_part(const DocumentNode& node, const std::string& name, std::vector<TextExpectation>& parts);
  std::vector<std::string> read_texts(TableReader& reader, const MetricType& type) const;
  bool passes_without(MetricId metric) const;
  void note_unseen(const TableReader& reader, std::string_view key, std::string_view text) const;
  std::vector<std::string> read_patterns(TableReader& reader);

  const TestSource& source_;
  const DocumentContext& context_;
  std::vector<UnfilledVariable>& unfilled_;
  std::vector<NamedTool>& tools_;
  std::size_t metric_ = 0;         ///< Which of `expected` is read.
  int depth_ = 0;                  ///< Of the group that is read.
  bool has_alternatives_ = false;  ///< Of its parts not all must pass.
  bool is_turned_round_ = false;   ///< What its parts say, by groups whose opposites are asked for.
};

}  // namespace sluice
