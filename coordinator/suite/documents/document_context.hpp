#pragma once

#include "common/documents/document.hpp"
#include "common/documents/finding.hpp"
#include "common/documents/table_reader.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sluice {

/// Between the texts of a list that becomes one.
inline constexpr std::string_view paragraph_break = "\n\n";

/// What to do with a text that is not valid UTF-8: most come from Windows and its spreadsheets.
inline constexpr std::string_view how_to_reach_utf8 =
    ": save it as UTF-8 (`iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW` converts what Windows wrote)";

/// What the readers of a document's parts share. Everything that it refers to must outlive it.
struct DocumentContext {
  const std::string& file;  ///< As findings name it.
  Notation notation = Notation::toml;
  std::vector<Finding>& findings;

  TableReader reader(const DocumentNode& table, std::string name) const {
    return {table, std::move(name), file, findings, notation};
  }
  /// The same of what may be no table: then a finding says that `name` must be one, `such_as` what.
  std::optional<TableReader> table_reader(const DocumentNode& node, std::string name,
                                          std::string_view such_as) const {
    if (std::holds_alternative<DocumentNode::Table>(node.value)) return reader(node, std::move(name));
    add(node.line, name + " must be " + std::string(table_name(notation)) + " " + std::string(such_as) +
                       ", not " + std::string(type_name(node, notation)));
    return std::nullopt;
  }
  void add(std::uint32_t line, std::string message) const {
    findings.push_back({file, line, std::move(message)});
  }
};

}  // namespace sluice
