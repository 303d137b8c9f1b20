#include "coordinator/import/test_table.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"
#include "coordinator/suite/documents/csv_rows.hpp"
#include "coordinator/suite/expectations/foreign_check.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {
namespace {

/// A cell as an entry of `assert`.
DocumentNode assertion_of(const std::string& cell, std::uint32_t line) {
  const ForeignCheck check = parse_foreign_check(cell, line);
  DocumentNode::Table table;
  if (check.threshold) table.push_back({"threshold", line, {*check.threshold, line, {}}});
  table.push_back({"type", line, text_node((check.is_negated ? "not-" : "") + check.type, line)});
  if (!check.problem.empty()) {
    table.push_back({"value", line, text_node(cell.substr(cell.find(':') + 1), line)});  // Noted where read.
  } else if (takes_foreign_list(check.type)) {
    DocumentNode::Array values;
    for (const std::string& value : check.values) values.push_back(text_node(value, line));
    table.push_back({"value", line, {std::move(values), line, {}}});
  } else if (!check.values.empty()) {
    const bool is_file = cell.starts_with("file://");
    table.push_back({"value", line, text_node(is_file ? cell : check.values.front(), line)});
  }
  return {std::move(table), line, {}};
}

/// A text that is no number becomes a note where it is read.
DocumentNode number_or_text(const std::string& cell, std::uint32_t line) {
  if (const auto number = foreign_number(cell)) return {*number, line, {}};
  return text_node(cell, line);
}

void note_misspelt(const std::string& cell, std::uint32_t line, const ImportFile& from) {
  const auto misspelt = misspelt_check(cell);
  if (!misspelt) return;
  from.note(line, "the cell begins with \"" + excerpt(one_line(misspelt->word), defaults::quoted_bytes) +
                      "\", which is no check; did you mean \"" + misspelt->meant +
                      "\"? Its whole text is what the answer must equal, as there");
}

/// `threshold` of the check that a column such as `__config:__expected2:threshold` is for; false if it is
/// none of these.
bool set_threshold(std::string_view column, const std::string& cell, std::uint32_t line,
                   DocumentNode::Array& checks) {
  constexpr std::string_view start = "__config:__expected";
  constexpr std::string_view end = ":threshold";
  if (!column.starts_with(start) || !column.ends_with(end) || column.size() < start.size() + end.size())
    return false;
  const std::string number(column.substr(start.size(), column.size() - start.size() - end.size()));
  const DocumentNode written = number_or_text(number.empty() ? "1" : number, line);
  const auto* place = std::get_if<double>(&written.value);
  const DocumentNode threshold = number_or_text(cell, line);
  const bool fits = place != nullptr && *place >= 1 && *place <= static_cast<double>(checks.size()) &&
                    std::holds_alternative<double>(threshold.value);
  if (!fits) return false;
  auto& check = std::get<DocumentNode::Table>(checks[static_cast<std::size_t>(*place) - 1].value);
  std::erase_if(check, [](const DocumentEntry& entry) { return entry.key == "threshold"; });
  check.insert(std::ranges::find(check, "type", &DocumentEntry::key), {"threshold", line, threshold});
  return true;
}

/// What the row's checks count towards there.
void set_metric(std::string_view name, std::uint32_t line, DocumentNode::Array& checks) {
  if (name.empty()) return;
  for (DocumentNode& check : checks) {
    auto& table = std::get<DocumentNode::Table>(check.value);
    table.insert(table.begin(), {"metric", line, text_node(std::string(name), line)});
  }
}

/// A row.
DocumentNode test_of(const CsvRow& header, const CsvRow& row, const ImportFile& from) {
  DocumentNode::Table vars;
  DocumentNode::Array checks;
  DocumentNode::Table test;
  DocumentNode::Table metadata;
  std::vector<std::pair<std::string, std::string>> configs;
  std::string metric;
  if (row.fields.size() > header.fields.size())
    from.note(row.line, "the row has more fields than there are columns: the last ones are left out");
  for (std::size_t i = 0; i < std::min(header.fields.size(), row.fields.size()); ++i) {
    const std::string column(trimmed(header.fields[i]));
    const std::string& cell = row.fields[i];
    if (column.starts_with("__expected")) {
      if (trimmed(cell).empty()) continue;
      note_misspelt(cell, row.line, from);
      checks.push_back(assertion_of(cell, row.line));
    } else if (column == "__threshold") {
      if (!cell.empty()) test.push_back({"threshold", row.line, number_or_text(cell, row.line)});
    } else if (column == "__metric") {
      metric = trimmed(cell);
    } else if (column == "__description") {
      test.push_back({"description", row.line, text_node(cell, row.line)});
    } else if (const auto held = parse_foreign_metadata(column, cell)) {
      DocumentNode::Array values;
      for (const std::string& value : held->values) values.push_back(text_node(value, row.line));
      if (!values.empty()) metadata.push_back({held->key, row.line, {std::move(values), row.line, {}}});
    } else if (column.starts_with("__config:")) {
      if (!cell.empty()) configs.emplace_back(column, cell);
    } else if (column.starts_with("__")) {
      from.change(header.line, "the column \"" + column + "\" has no counterpart: left out");
    } else if (!column.empty()) {
      vars.push_back({column, row.line, text_node(cell, row.line)});
    }
  }
  for (const auto& [column, cell] : configs) {
    if (!set_threshold(column, cell, row.line, checks))
      from.change(row.line,
                  "the column \"" + column + "\" sets no threshold of a check that there is: left out");
  }
  set_metric(metric, row.line, checks);
  if (!metadata.empty()) test.push_back({"metadata", row.line, {std::move(metadata), row.line, {}}});
  if (!checks.empty()) test.push_back({"assert", row.line, {std::move(checks), row.line, {}}});
  test.push_back({"vars", row.line, {std::move(vars), row.line, {}}});
  return {std::move(test), row.line, {}};
}

}  // namespace

DocumentNode tests_of_table(const std::string& text, const ImportFile& from) {
  CsvRows table = parse_csv(text);
  for (const DocumentError& error : table.errors)
    from.lose(Loss::test, error.line, error.message + ": the row is left out");
  std::string problem = table.rows.empty() ? "" : other_separator(table.rows.front());
  if (!problem.empty()) from.note(table.rows.front().line, std::move(problem));
  DocumentNode::Array tests;
  for (std::size_t i = 1; i < table.rows.size(); ++i)
    tests.push_back(test_of(table.rows.front(), table.rows[i], from));
  return {std::move(tests), 1, {}};
}

}  // namespace sluice
