#pragma once

#include "coordinator/ledger/connection.hpp"
#include "coordinator/ledger/defaults.hpp"
#include "coordinator/ledger/guarded.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/ledger/row_checks.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

namespace sluice {

/// The open file, for the ledger's own sources: nobody else includes SQLite. Its functions throw
/// SQLite::Exception.
struct Ledger::Database {
  explicit Database(SQLite::Database opened) : db(std::move(opened)) {
    sqlite3_wal_hook(db.getHandle(), on_commit, this);
  }
  explicit Database(const std::string& name)
      : Database(connected(name, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE,
                           defaults::ledger_busy_timeout_ms)) {}
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  SQLite::Database db;
  std::filesystem::path home;  ///< Whose runs.lock says which runs are under way.
  Outlives outlives = Outlives::process;
  int busy_timeout_ms = defaults::ledger_busy_timeout_ms;
  std::optional<SQLite::Statement> select_run_seq;
  std::optional<SQLite::Statement> insert_result;
  std::optional<SQLite::Statement> select_answer;
  std::optional<SQLite::Statement> insert_pin_move;
  std::optional<SQLite::Statement> select_pin_moves;
  std::optional<SQLite::Statement> delete_pin_moves;
  std::optional<SQLite::Statement> upsert_pin;
  std::optional<SQLite::Statement> select_pin;

  /// A table of holders: of one kind of leased entries.
  struct Holders {
    std::optional<SQLite::Statement> upsert;
    std::optional<SQLite::Statement> select;
  };
  Holders embeddings;
  Holders votes;
  /// REQUIRES: is_leased.
  Holders& holders_of(EntryKind kind) { return kind == EntryKind::vote ? votes : embeddings; }

  std::optional<LedgerUpgrade> upgrade;                ///< What opening the file brought about.
  std::size_t unsettled_pins = 0;                      ///< That this process has put into pin_moves.
  std::chrono::steady_clock::time_point part_noted{};  ///< By note_part_now.

  // A commit is in the log, which SQLite writes into the file from time to time (a checkpoint). With FULL
  // each commit is synced; with NORMAL the log is before it goes into the file, and the file before the log
  // is used again; with OFF nothing is.
  /// Has commits outlive what they are to.
  void set_synchronous();
  /// Marks the file as one that holds what is to outlive a loss of power, from its first byte on.
  void make_durable(const std::filesystem::path& folder);
  /// Before the log is written into the file: a marked one is synced, whoever does it.
  void sync_if_marked();
  static int on_commit(void* database, sqlite3* handle, const char* name, int pages);
  /// As long as it is there, commits are not waited for: they are on the disk with the next one that is. In
  /// no transaction.
  class Unsynced {
   public:
    explicit Unsynced(Database& database) : database_(database) {
      if (database_.outlives == Outlives::power) database_.db.exec("PRAGMA synchronous = NORMAL");
    }
    Unsynced(const Unsynced&) = delete;
    Unsynced& operator=(const Unsynced&) = delete;
    ~Unsynced() {
      if (database_.outlives == Outlives::power) database_.db.tryExec("PRAGMA synchronous = FULL");
    }

   private:
    Database& database_;
  };

  /// As long as it is there, other processes are waited for longer: for what a run cannot do without.
  class Patience {
   public:
    explicit Patience(Database& database) : database_(database) {
      database_.db.setBusyTimeout(std::max(database_.busy_timeout_ms, defaults::run_busy_timeout_ms));
    }
    Patience(const Patience&) = delete;
    Patience& operator=(const Patience&) = delete;
    ~Patience() { sqlite3_busy_timeout(database_.db.getHandle(), database_.busy_timeout_ms); }

   private:
    Database& database_;
  };

  void prepare();
  /// Sets `under_way` of runs without an end, and `not_started` of those that were cut short.
  std::vector<PastRun> as_found(std::vector<PastRun> runs);
  /// How many of its cases were noted as not started.
  std::uint64_t not_started_cases(const std::string& run_id);
  std::int64_t run_seq(const std::string& run_id);
  /// A text column of its row; fails where there is none.
  Result<void> set_of_run(const std::string& run_id, const char* column, const std::string& value);
  /// The first part of a run, or one more of a run whose parts are noted. In a transaction.
  void begin_part(std::int64_t seq, std::int64_t now_ms);
  /// How far its latest part has come by now, once a second: a commit more costs a page more.
  void note_part_now(std::int64_t seq);
  /// How long it took: less than until now, since it waited for workers and was judged.
  void end_part(std::int64_t seq, std::chrono::milliseconds took);
  /// Removes what only whoever went on with the run would need.
  void forget_progress(std::int64_t seq);
  /// Inserts one trial's row; false if it was there.
  bool insert(std::int64_t seq, const ResultToCommit& item, TrialId trial, const std::string& blob);
  CommitOutcome commit_one(std::int64_t seq, const ResultToCommit& item, bool move_pins);
  /// Also those that other processes left there.
  bool has_unsettled_pins();
  /// Puts the moves of all processes into effect. REQUIRES: an IMMEDIATE transaction.
  void settle_pins();
};

/// Null for nothing.
template <class Value>
void bind_optional(SQLite::Statement& statement, int at, const std::optional<Value>& value) {
  value ? statement.bind(at, *value) : statement.bind(at);
}
/// By reference: the digest must outlive the statement's use of it.
inline void bind_digest(SQLite::Statement& statement, int at, const Digest& digest) {
  statement.bindNoCopy(at, digest.data(), static_cast<int>(digest.size()));
}
/// Until the statement's next step.
inline std::string_view bytes_in(const SQLite::Column& column) {
  return {static_cast<const char*>(column.getBlob()), static_cast<std::size_t>(column.getBytes())};
}
/// Zero for what has another length.
inline Digest digest_of(const SQLite::Column& column) {
  Digest digest{};
  if (column.getBytes() == static_cast<int>(digest.size()))
    std::memcpy(digest.data(), column.getBlob(), digest.size());
  return digest;
}
inline std::optional<double> number_in(const SQLite::Column& column) {
  if (column.isNull()) return std::nullopt;
  return column.getDouble();
}

/// Stands for a table in a FROM clause: an error where a row is read that is not as it was written.
inline std::string sound(std::string_view table) {
  return row_checks::sound(row_checks::ledger_table(table));
}

/// Removes the run's copy of its suite, where no other run has the same: before the run's row of run_suites,
/// which names it. In a transaction.
void forget_suite(SQLite::Database& db, std::int64_t run_seq);

/// Key, answer, holder: puts the pin in place of what there is, where the condition that may follow holds.
extern const std::string upsert_of_pin;

/// Whether the file holds what is to outlive a loss of power (Ledger::Database::make_durable).
bool is_marked_durable(SQLite::Database& db);
void mark_durable(SQLite::Database& db);

/// What went wrong, as a sentence with what to do.
Error ledger_error(const std::string& what);

}  // namespace sluice
