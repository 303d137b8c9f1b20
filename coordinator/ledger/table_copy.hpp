#pragma once

#include "coordinator/ledger/row_checks.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

namespace sluice {

/// A table of a damaged file, and how it is walked, so that the walk can go on behind what cannot be read.
struct CopiedTable {
  enum class Walk : std::uint8_t {
    numbers,  ///< By an integer: the key itself, or SQLite's own number of the row.
    hashes,   ///< By the first 8 bytes of a blob.
    ends,     ///< From both ends: any other key.
  };
  std::string name;
  std::string key;
  Walk walk = Walk::numbers;
  std::optional<row_checks::Table> check;  ///< Nothing: its rows have no checksum.
};

/// What a copy of a table lacks.
struct LostRows {
  std::uint64_t count = 0;   ///< Of rows that do not verify, or break a rule of the table.
  std::uint64_t places = 0;  ///< That could not be read.
  /// Of a table with numbers: where rows may be missing, both ends included. A damaged row's own number is
  /// believed if it lies between those of its sound neighbours.
  std::vector<std::pair<std::int64_t, std::int64_t>> stretches;
};

struct TableCopy {
  std::uint64_t rows = 0;  ///< Taken over.
  LostRows lost;
};

/// Copies what of the table can be read and verifies. Throws SQLite::Exception where the table itself is not
/// what it was, and for what is no damage.
TableCopy copy_table(SQLite::Database& from, SQLite::Database& to, const CopiedTable& table);

}  // namespace sluice
