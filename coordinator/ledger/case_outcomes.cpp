#include "common/text/joined.hpp"
#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/ledger/row_id.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

namespace sluice {
namespace {

/// In the place of its status: an error that nobody had begun with.
constexpr std::string_view not_started = "not_started";

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace

Result<void> Ledger::note_cases(const std::string& run_id, std::span<const CaseOutcome> cases) {
  return guarded_transaction(database_->db, ledger_error, [&]() -> Result<void> {
    SQLite::Statement find(database_->db, "SELECT seq FROM runs WHERE run_id = ?");
    find.bind(1, run_id);
    if (!find.executeStep()) return fail(ledger_error("it does not have the run " + run_id));
    const std::int64_t seq = find.getColumn(0).getInt64();
    SQLite::Statement insert(
        database_->db,
        "INSERT OR REPLACE INTO cases(id, case_id, status, missed, checksum) VALUES (?1, ?2, ?3, ?4, " +
            row_checks::sum(row_checks::ledger_table("cases"), "?1, ?2, ?3, ?4") + ")");
    for (const CaseOutcome& one : cases) {
      insert.bind(1, row_id(seq, one.trial));
      insert.bind(2, one.id);
      insert.bind(3, std::string(one.not_started ? not_started : to_string(one.status)));
      insert.bind(4, joined(one.missed, "\n"));
      insert.exec();
      insert.reset();
    }
    return {};
  });
}

Result<std::vector<CaseOutcome>> Ledger::cases_of(const std::string& run_id) const {
  return guarded(ledger_error, [&]() -> Result<std::vector<CaseOutcome>> {
    SQLite::Statement query(database_->db, "SELECT cases.id, case_id, status, missed FROM " + sound("cases") +
                                               " JOIN runs ON cases.id" + ids_of_run("runs.seq") +
                                               " WHERE run_id = ? ORDER BY cases.id");
    query.bind(1, run_id);
    std::vector<CaseOutcome> cases;
    while (query.executeStep()) {
      const std::string status = query.getColumn(2).getString();
      const bool is_not_started = status == not_started;
      const auto known = is_not_started ? std::optional(CaseStatus::error) : case_status_from(status);
      if (!known)
        return fail(
            ledger_error("what it has of run \"" + run_id + "\" is damaged: a status \"" + status + "\""));
      cases.push_back({trial_of(query.getColumn(0).getInt64()), query.getColumn(1).getString(), *known,
                       lines_of(query.getColumn(3).getString()), is_not_started});
    }
    return cases;
  });
}

// Not by the checksums: `cases_of` says what is damaged, and nothing is decided by the count.
std::uint64_t Ledger::Database::not_started_cases(const std::string& run_id) {
  SQLite::Statement query(db, "SELECT COUNT(*) FROM runs JOIN cases ON cases.id" + ids_of_run("runs.seq") +
                                  " WHERE run_id = ? AND status = ?");
  query.bind(1, run_id);
  query.bind(2, std::string(not_started));
  query.executeStep();
  return static_cast<std::uint64_t>(query.getColumn(0).getInt64());
}

}  // namespace sluice
