#pragma once

#include "common/documents/document.hpp"
#include "common/documents/finding.hpp"
#include "common/documents/table_reader.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// Between the texts of a list that becomes one.
inline constexpr std::string_view paragraph_break = "\n\n";

/// What the readers of a document's parts share. Everything that it refers to must outlive it.
struct DocumentContext {
  const std::string& file;  ///< As findings name it.
  Notation notation = Notation::toml;
  std::vector<Finding>& findings;

  TableReader reader(const DocumentNode& table, std::string name) const {
    return {table, std::move(name), file, findings, notation};
  }
  void add(std::uint32_t line, std::string message) const {
    findings.push_back({file, line, std::move(message)});
  }
};

}  // namespace sluice
