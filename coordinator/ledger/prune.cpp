#include "coordinator/facts/database_files.hpp"
#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/defaults.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/ledger/row_id.hpp"
#include "coordinator/ledger/run_lock.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace sluice {
namespace {

/// Of each suite the run whose scores its [baseline] has, and the newest that it could get them from: mocks
/// are not, unless there are no others (latest_run).
constexpr const char* select_needed = R"sql(
  SELECT max(pinned_at_ms), seq FROM runs WHERE pinned_at_ms IS NOT NULL GROUP BY suite_path
  UNION ALL
  SELECT 0, coalesce(max(CASE WHEN mode <> 'mock' THEN seq END), max(seq)) FROM runs
  WHERE completed_at_ms IS NOT NULL GROUP BY suite_path
)sql";

/// The file and what SQLite keeps beside it.
std::uint64_t bytes_of(const std::string& file) {
  std::uint64_t bytes = 0;
  for (const std::string& one : database_files(file)) {
    std::error_code none;
    const auto size = std::filesystem::file_size(one, none);
    if (!none) bytes += size;
  }
  return bytes;
}

std::vector<std::int64_t> column_of(SQLite::Statement& query, int column) {
  std::vector<std::int64_t> values;
  while (query.executeStep()) values.push_back(query.getColumn(column).getInt64());
  return values;
}

/// Makes of the run's row one that nobody finds any more (is_kept_run), if it is not yet.
void mark(SQLite::Database& db, std::int64_t seq) {
  SQLite::Statement run(db, std::string("UPDATE runs SET reason_code = 'pruned', completed_at_ms = NULL, "
                                        "config_fingerprint = NULL, plan_identity = NULL, settings = NULL, "
                                        "result_layout = NULL, pinned_at_ms = NULL, flags = NULL, "
                                        "endpoint = NULL WHERE seq = ? AND ") +
                                is_kept_run);
  run.bind(1, seq);
  run.exec();
}

/// Removes as many rows of the run as go at once, in one transaction; with the last ones the run itself, and
/// only then it is true. `results` are counted.
bool remove_portion(SQLite::Database& db, std::int64_t seq, std::uint64_t most, std::uint64_t& results) {
  SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
  forget_suite(db, seq);
  std::uint64_t removed_results = 0;
  for (const RunTable& table : run_tables) {
    const std::uint64_t removed = remove_rows(db, table.name, seq, most);
    if (table.name == "results") removed_results = removed;
    most -= removed;
  }
  const bool is_last = most > 0;
  if (is_last) {
    SQLite::Statement run(db, "DELETE FROM runs WHERE seq = ?");
    run.bind(1, seq);
    run.exec();
  } else {
    mark(db, seq);
  }
  transaction.commit();
  results += removed_results;
  return is_last;
}

/// Another process that records results is kept waiting no longer than a portion takes. It looks from time to
/// time whether it may write: so as much time as a portion took is left to others before the next one.
std::uint64_t remove(SQLite::Database& db, std::int64_t seq, const RunPrune& which) {
  std::uint64_t results = 0;
  while (true) {
    const auto begun = std::chrono::steady_clock::now();
    if (remove_portion(db, seq, which.rows_at_once, results)) return results;
    which.leave_to_others(std::chrono::steady_clock::now() - begun);
  }
}

/// Those of which an earlier prune was killed before it had removed them whole: they go in any case.
std::vector<std::pair<std::int64_t, std::string>> half_removed(SQLite::Database& db) {
  SQLite::Statement query(db, std::string("SELECT seq, run_id FROM runs WHERE NOT ") + is_kept_run);
  std::vector<std::pair<std::int64_t, std::string>> runs;
  while (query.executeStep())
    runs.emplace_back(query.getColumn(0).getInt64(), query.getColumn(1).getString());
  return runs;
}

/// False if another process is at work: the room stays in the file, for later runs. It is not waited for
/// long: what matters is done. Of a large ledger it takes longer than a run waits to record its results, so
/// that one that begins meanwhile is kept from it.
bool compact(SQLite::Database& db, const std::filesystem::path& home) {
  const auto no_run_begins = RunLock::take_all(home);
  if (!no_run_begins) return false;
  db.setBusyTimeout(defaults::compact_busy_timeout_ms);
  // A checkpoint that has to leave something says so in its row, and is no error.
  return db.tryExec("VACUUM") == SQLite::OK && db.execAndGet("PRAGMA wal_checkpoint(TRUNCATE)").getInt() == 0;
}

}  // namespace

Result<void> Ledger::remove_run(const std::string& run_id) {
  return guarded(ledger_error, [&] {
    SQLite::Statement query(database_->db, "SELECT seq FROM runs WHERE run_id = ?");
    query.bind(1, run_id);
    const auto seqs = column_of(query, 0);
    query.reset();
    for (const std::int64_t seq : seqs) remove(database_->db, seq, {});
  });
}

Result<PrunedRuns> Ledger::prune(const RunPrune& which) {
  return guarded(ledger_error, [&]() -> Result<PrunedRuns> {
    auto& db = database_->db;
    PrunedRuns done;
    done.bytes_before = bytes_of(db.getFilename());
    SQLite::Statement needed_query(db, select_needed);
    const std::vector<std::int64_t> needed = column_of(needed_query, 1);
    SQLite::Statement query(db, "SELECT seq, started_at_ms, completed_at_ms IS NOT NULL, run_id FROM " +
                                    sound("runs") + " ORDER BY seq DESC");
    auto going = half_removed(db);
    done.left = going.size();
    for (std::uint64_t newer = 0; query.executeStep(); ++newer) {
      ++done.left;
      const std::int64_t seq = query.getColumn(0).getInt64();
      const std::int64_t begun = query.getColumn(1).getInt64();
      const bool ended = query.getColumn(2).getInt() != 0;
      if (which.keep && newer < *which.keep) continue;
      if (which.begun_before_ms && begun >= *which.begun_before_ms) continue;
      if (!ended && begun >= which.unfinished_before_ms) {
        ++done.unfinished;
      } else if (std::ranges::find(needed, seq) != needed.end()) {
        ++done.needed;
      } else {
        going.emplace_back(seq, query.getColumn(3).getString());
      }
    }
    query.reset();
    for (const auto& [seq, run_id] : going) {
      const bool at_work = which.dry_run && RunLock::is_held(database_->home, run_id);
      // Held meanwhile: whoever goes on with a run takes it before looking for the run.
      std::optional<Result<RunLock>> lock;
      if (!which.dry_run) lock.emplace(RunLock::take(database_->home, run_id));
      const bool is_refused = lock && !*lock;
      if (is_refused && lock->error().reason != Reason::usage_invalid) return fail(lock->error());
      if (at_work || is_refused) {
        ++done.unfinished;
        continue;
      }
      done.results += which.dry_run ? count_rows(db, "results", seq) : remove(db, seq, which);
      ++done.runs;
    }
    done.left -= done.runs;
    if (!which.dry_run) done.compacted = compact(db, database_->home);
    db.setBusyTimeout(database_->busy_timeout_ms);
    done.bytes_after = bytes_of(db.getFilename());
    return done;
  });
}

}  // namespace sluice
