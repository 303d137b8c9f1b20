#pragma once

#include "common/documents/document.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A row of a table in CSV.
struct CsvRow {
  std::uint32_t line = 1;  ///< On which it begins, from 1.
  std::vector<std::string> fields;
};

/// What a CSV text came to: the rows that could be read, and what is wrong with the others.
struct CsvRows {
  std::vector<CsvRow> rows;  ///< The header first.
  std::vector<DocumentError> errors;
};

/// Parses CSV as RFC 4180 has it: commas between fields, a field in quotes may hold commas, line ends and
/// quotes, which are doubled there. Line ends may be LF, CR LF or, if that of the first line is, CR alone,
/// and are LF in fields; empty lines are passed over, and a byte order mark is fine. A quote that stands
/// anywhere else is an error, and so is one that nothing closes. Linear in the text.
CsvRows parse_csv(std::string_view text);

/// What is wrong with a header that has something else than commas between its columns; empty if all is well.
std::string other_separator(const CsvRow& header);

}  // namespace sluice
