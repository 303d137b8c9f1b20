#include "tests/support/ledger_rows.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

namespace sluice::support {

std::vector<LedgerRow> ledger_rows(const std::filesystem::path& home) {
  std::vector<LedgerRow> rows;
  try {
    // Not read-only: after a crash the first to open the file reads its log, and needs to write for that.
    const SQLite::Database ledger((home / "ledger.db").string(), SQLite::OPEN_READWRITE, 10'000);
    SQLite::Statement query(ledger,
                            "SELECT id & 4294967295, worker, result FROM results "
                            "WHERE id >> 32 = (SELECT max(seq) FROM runs) ORDER BY id");
    while (query.executeStep()) {
      rows.push_back(
          {query.getColumn(0).getUInt(), query.getColumn(1).getString(), query.getColumn(2).getString()});
    }
  } catch (const SQLite::Exception&) {
    rows.clear();  // Not created yet.
  }
  return rows;
}

std::int64_t row_count(const std::filesystem::path& home, const std::string& table) {
  SQLite::Database ledger((home / "ledger.db").string(), SQLite::OPEN_READWRITE, 10'000);
  return ledger.execAndGet("SELECT count(*) FROM " + table).getInt64();
}

void leave_in_log(const std::filesystem::path& file, const std::string& change) {
  namespace fs = std::filesystem;
  const std::string files[]{file.string(), file.string() + "-wal"};
  {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
    db.exec(change);
    for (const auto& one : files) fs::copy_file(one, one + "~");
  }  // Closing it takes the log in.
  for (const auto& one : files) fs::rename(one + "~", one);
}

}  // namespace sluice::support
