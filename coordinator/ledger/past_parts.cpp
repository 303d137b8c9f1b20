// What the ledger keeps of a run's course: its cases, and the parts in which it ran.
#include "common/clock.hpp"
#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/defaults.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/ledger/row_id.hpp"

#include <algorithm>
#include <string>

namespace sluice {
namespace {

/// Of the run's latest part. `end` is said by `value`, the second parameter.
void set_part_end(SQLite::Database& db, std::int64_t seq, const std::string& end, std::int64_t value) {
  SQLite::Statement update(db, "UPDATE parts SET until_ms = " + end +
                                   " WHERE id = (SELECT max(id) FROM parts" + where_of_run + ")");
  update.bind(1, seq);
  update.bind(2, value);
  update.exec();
}

}  // namespace

void Ledger::Database::begin_part(std::int64_t seq, std::int64_t now_ms) {
  SQLite::Statement insert(db, "INSERT INTO parts(id, begun_at_ms, until_ms) SELECT coalesce(max(id) + 1, " +
                                   row_id("?1", "0") + "), ?2, ?2 FROM parts" + where_of_run);
  insert.bind(1, seq);
  insert.bind(2, now_ms);
  insert.exec();
}

void Ledger::Database::note_part_now(std::int64_t seq) {
  const auto now = std::chrono::steady_clock::now();
  if (now - part_noted < defaults::part_noted_every) return;
  part_noted = now;
  set_part_end(db, seq, "?2", unix_now_ms());
}

void Ledger::Database::end_part(std::int64_t seq, std::chrono::milliseconds took) {
  set_part_end(db, seq, "begun_at_ms + ?2", took.count());
}

Result<std::optional<std::chrono::milliseconds>> Ledger::time_of(const std::string& run_id,
                                                                 std::optional<std::int64_t> now_ms) const {
  return guarded(ledger_error, [&]() -> std::optional<std::chrono::milliseconds> {
    SQLite::Statement query(
        database_->db,
        "SELECT count(*), sum(max(0, until_ms - begun_at_ms)), max(until_ms) FROM parts" + where_of_run);
    query.bind(1, database_->run_seq(run_id));
    query.executeStep();
    if (query.getColumn(0).getInt64() == 0) return std::nullopt;
    const std::int64_t latest = query.getColumn(2).getInt64();
    return std::chrono::milliseconds(query.getColumn(1).getInt64() +
                                     std::max<std::int64_t>(now_ms.value_or(latest) - latest, 0));
  });
}

Result<void> Ledger::note_asked(const std::string& run_id, std::span<const AskedCase> cases) {
  return guarded_transaction(database_->db, ledger_error, [&] {
    std::int64_t id = row_id(database_->run_seq(run_id), 0);
    SQLite::Statement insert(
        database_->db,
        "INSERT INTO asked(id, case_id, trials, judged_by, checksum) VALUES (?1, ?2, ?3, ?4, " +
            row_checks::sum(row_checks::ledger_table("asked"), "?1, ?2, ?3, ?4") + ")");
    for (const AskedCase& one : cases) {
      insert.bind(1, id++);
      insert.bindNoCopy(2, one.id);
      insert.bind(3, one.trials);
      insert.bind(4, one.judged_by);
      insert.exec();
      insert.reset();
    }
  });
}

Result<std::vector<AskedCase>> Ledger::asked_by(const std::string& run_id) const {
  return guarded(ledger_error, [&] {
    SQLite::Statement query(database_->db, "SELECT case_id, trials, judged_by FROM " + sound("asked") +
                                               where_of_run + " ORDER BY id");
    query.bind(1, database_->run_seq(run_id));
    std::vector<AskedCase> cases;
    while (query.executeStep())
      cases.push_back(
          {query.getColumn(0).getString(), query.getColumn(1).getUInt(), query.getColumn(2).getInt64()});
    return cases;
  });
}

}  // namespace sluice
