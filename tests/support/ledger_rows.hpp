#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sluice::support {

/// A row of the run ledger's results.
struct LedgerRow {
  std::uint32_t trial = 0;
  std::string worker;
  std::string result;  ///< As wire::encode_result writes it.
};

/// The committed results of the latest run in HOME/ledger.db by trial. Empty if there is no ledger yet.
std::vector<LedgerRow> ledger_rows(const std::filesystem::path& home);

/// How many rows a table of HOME/ledger.db has. Throws if there is no such table.
std::int64_t row_count(const std::filesystem::path& home, const std::string& table);

/// Makes a change to a database, and leaves it as a killed process and a copy do: the change is in its log of
/// commits, and the log's index is gone. Throws what SQLite and the file system do.
void leave_in_log(const std::filesystem::path& file, const std::string& change);

}  // namespace sluice::support
