#pragma once

#include "tests/support/paths.hpp"

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

/// The tables of docs/gate.md.
namespace sluice::gate_document {

using Row = std::vector<std::string>;

inline std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" `");
  const auto end = text.find_last_not_of(" `");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

/// The rows of the table whose first column has this heading and that has so many columns.
inline std::vector<Row> table(const std::string& heading, std::size_t columns) {
  std::ifstream file(support::source_path("docs/gate.md"));
  std::vector<Row> rows;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] != '|') {
      inside = false;
      continue;
    }
    Row row;
    std::istringstream cells(line.substr(1));
    for (std::string cell; std::getline(cells, cell, '|');) row.push_back(trimmed(cell));
    if (row.size() == columns && row[0] == heading) {
      inside = true;
    } else if (inside && row[0].find("---") == std::string::npos) {
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace sluice::gate_document
