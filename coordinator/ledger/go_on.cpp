// What going on with a run takes: docs/durability.md.
#include "common/clock.hpp"
#include "common/wire/codec.hpp"
#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/ledger/row_id.hpp"

#include <span>
#include <string>

namespace sluice {
namespace {

void insert_spends(SQLite::Database& db, std::int64_t run_seq, std::span<const UnitSpend> spends) {
  SQLite::Statement insert(db, "INSERT INTO spends(id, spend) SELECT coalesce(max(id) + 1, " +
                                   row_id("?1", "0") + "), ?2 FROM spends" + where_of_run);
  insert.bind(1, run_seq);
  for (const UnitSpend& one : spends) {
    UnitResult holds_it;
    holds_it.unit = one.unit;
    holds_it.spend = one.spend;
    const std::string blob = wire::encode_result(holds_it);
    insert.bind(2, blob.data(), static_cast<int>(blob.size()));
    insert.exec();
    insert.reset();
  }
}

}  // namespace

void Ledger::Database::forget_progress(std::int64_t seq) {
  for (const char* table : {"spends", "leases"}) remove_rows(db, table, seq);
}

Result<void> Ledger::reopen_run(const std::string& run_id) {
  const Database::Patience patience(*database_);
  return guarded_transaction(database_->db, ledger_error, [&] {
    const auto seq = database_->run_seq(run_id);
    remove_rows(database_->db, "cases", seq);
    std::string columns;
    for (const auto& column : paid_columns)
      columns.append("paid_").append(column.name).append("_tokens = NULL, ");
    SQLite::Statement update(
        database_->db,
        "UPDATE runs SET " + columns +
            "completed_at_ms = NULL, verdict = NULL, exit_code = NULL, reason_code = NULL, precision = NULL, "
            "recall = NULL, f1 = NULL, passed = NULL, warned = NULL, flaky = NULL, failed = NULL, "
            "errors = NULL, estimated_cost = NULL, known_failures = NULL, paid_cost = NULL WHERE seq = ?");
    update.bind(1, seq);
    update.exec();
    // Of a run whose earlier parts an earlier version of sluice did not note, one says nothing.
    if (count_rows(database_->db, "parts", seq) > 0) database_->begin_part(seq, unix_now_ms());
  });
}

Result<void> Ledger::visit_committed(
    const std::string& run_id, const std::function<void(const CommittedTrial&, const std::string&)>& visit) {
  return guarded(ledger_error, [&] {
    SQLite::Statement workers(database_->db, "SELECT worker FROM results" + where_of_run + " ORDER BY id");
    workers.bind(1, database_->run_seq(run_id));
    // Both read in one order, and nobody else adds to a run whose lock is held.
    SQLite::Transaction one_snapshot(database_->db);
    auto visited = results_of(run_id)->visit([&](const CommittedTrial& trial) {
      const bool has_row = workers.executeStep();
      visit(trial, has_row ? workers.getColumn(0).getString() : std::string());
    });
    if (visited) one_snapshot.commit();
    return visited;
  });
}

Result<void> Ledger::note_spends(const std::string& run_id, std::span<const UnitSpend> spends) {
  return guarded(ledger_error, [&] {
    const Database::Unsynced with_the_next_results(*database_);
    SQLite::Transaction transaction(database_->db, SQLite::TransactionBehavior::IMMEDIATE);
    insert_spends(database_->db, database_->run_seq(run_id), spends);
    transaction.commit();
  });
}

Result<void> Ledger::give_up_results(const std::string& run_id, std::span<const TrialId> trials,
                                     std::span<const UnitSpend> spends) {
  return guarded_transaction(database_->db, ledger_error, [&] {
    const std::int64_t seq = database_->run_seq(run_id);
    insert_spends(database_->db, seq, spends);
    SQLite::Statement remove(database_->db, "DELETE FROM results WHERE id = ?");
    for (const TrialId trial : trials) {
      remove.bind(1, row_id(seq, trial));
      remove.exec();
      remove.reset();
    }
  });
}

Result<std::vector<UnitSpend>> Ledger::spends_of(const std::string& run_id) const {
  return guarded(ledger_error, [&]() -> Result<std::vector<UnitSpend>> {
    std::vector<UnitSpend> spends;
    SQLite::Statement query(database_->db,
                            "SELECT spend FROM " + sound("spends") + where_of_run + " ORDER BY id");
    query.bind(1, database_->run_seq(run_id));
    while (query.executeStep()) {
      const auto held = wire::decode_result(bytes_in(query.getColumn(0)));
      if (!held)
        return fail(ledger_error("what run " + run_id + " spent is damaged: " + held.error().message));
      spends.push_back({held->unit, held->spend});
    }
    return spends;
  });
}

Result<void> Ledger::note_leases(const std::string& run_id, std::span<const NotedLease> leases) {
  return guarded(ledger_error, [&] {
    const Database::Unsynced with_the_next_results(*database_);
    SQLite::Transaction transaction(database_->db, SQLite::TransactionBehavior::IMMEDIATE);
    const std::int64_t seq = database_->run_seq(run_id);
    SQLite::Statement insert(database_->db, "INSERT OR REPLACE INTO leases(id, cache) VALUES (?, ?)");
    for (const NotedLease& one : leases) {
      insert.bind(1, row_id(seq, one.unit));
      insert.bindNoCopy(2, one.cache);
      insert.exec();
      insert.reset();
    }
    transaction.commit();
  });
}

Result<std::vector<NotedLease>> Ledger::leases_of(const std::string& run_id) const {
  return guarded(ledger_error, [&] {
    std::vector<NotedLease> leases;
    SQLite::Statement query(database_->db, "SELECT id, cache FROM leases" + where_of_run + " ORDER BY id");
    query.bind(1, database_->run_seq(run_id));
    while (query.executeStep())
      leases.push_back({trial_of(query.getColumn(0).getInt64()), query.getColumn(1).getString()});
    return leases;
  });
}

Result<void> Ledger::Database::set_of_run(const std::string& run_id, const char* column,
                                          const std::string& value) {
  return guarded(ledger_error, [&]() -> Result<void> {
    SQLite::Statement update(db, std::string("UPDATE runs SET ") + column + " = ? WHERE run_id = ?");
    update.bind(1, value);
    update.bind(2, run_id);
    if (update.exec() != 1) return fail(ledger_error("run " + run_id + " is not in the ledger"));
    return {};
  });
}

Result<void> Ledger::note_flags(const std::string& run_id, const std::string& flags) {
  return database_->set_of_run(run_id, "flags", flags);
}

Result<void> Ledger::note_endpoint(const std::string& run_id, const std::string& endpoint) {
  return database_->set_of_run(run_id, "endpoint", endpoint);
}

}  // namespace sluice
