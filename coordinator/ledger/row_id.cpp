#include "coordinator/ledger/row_id.hpp"

namespace sluice {

std::uint64_t count_rows(SQLite::Database& db, std::string_view table, std::int64_t run_seq) {
  SQLite::Statement rows(db, "SELECT count(*) FROM " + std::string(table) + where_of_run);
  rows.bind(1, run_seq);
  rows.executeStep();
  return static_cast<std::uint64_t>(rows.getColumn(0).getInt64());
}

std::uint64_t remove_rows(SQLite::Database& db, std::string_view table, std::int64_t run_seq,
                          std::optional<std::uint64_t> most) {
  const std::string from = " FROM " + std::string(table);
  SQLite::Statement rows(
      db, most ? "DELETE" + from + " WHERE id IN (SELECT id" + from + where_of_run + " ORDER BY id LIMIT ?2)"
               : "DELETE" + from + where_of_run);
  rows.bind(1, run_seq);
  if (most) rows.bind(2, static_cast<std::int64_t>(*most));
  return static_cast<std::uint64_t>(rows.exec());
}

}  // namespace sluice
