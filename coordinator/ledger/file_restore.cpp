// What can be saved of damaged SQLite files: rows that can be read and whose checksums fit.
#include "coordinator/facts/database_files.hpp"
#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/defaults.hpp"
#include "coordinator/ledger/file_check.hpp"
#include "coordinator/ledger/observation_checks.hpp"
#include "coordinator/ledger/observation_store.hpp"
#include "coordinator/ledger/read_only.hpp"
#include "coordinator/ledger/row_id.hpp"
#include "coordinator/ledger/sqlite_damage.hpp"
#include "coordinator/ledger/table_copy.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// By table; one that cannot be read at all has lost everything.
using Losses = std::map<std::string, LostRows>;

void name_losses(const std::string& table, const LostRows& lost, RestoredFile& restored) {
  if (lost.count > 0)
    restored.left_out.push_back(std::to_string(lost.count) + (lost.count == 1 ? " row of " : " rows of ") +
                                table + " that " + (lost.count == 1 ? "does" : "do") + " not verify");
  if (lost.places > 0)
    restored.left_out.push_back("rows of " + table + " that cannot be read, in " +
                                std::to_string(lost.places) + (lost.places == 1 ? " place" : " places"));
}

Losses copy_tables(SQLite::Database& from, SQLite::Database& to, std::span<const CopiedTable> tables,
                   RestoredFile& restored) {
  Losses all;
  for (const CopiedTable& table : tables) {
    try {
      auto copy = copy_table(from, to, table);
      restored.rows += copy.rows;
      name_losses(table.name, copy.lost, restored);
      all.emplace(table.name, std::move(copy.lost));
    } catch (const SQLite::Exception& error) {
      if (!is_damage(error)) throw;
      restored.left_out.push_back("the table " + table.name + ", which cannot be read: " + error.what());
      all[table.name].stretches.emplace_back(0, std::numeric_limits<std::int64_t>::max());
    }
  }
  return all;
}

/// The file on its own, on the disk.
void settle(SQLite::Database& db) {
  db.exec("PRAGMA synchronous = FULL");
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.exec("PRAGMA journal_mode = DELETE");
}

std::vector<CopiedTable> ledger_copies() {
  using Walk = CopiedTable::Walk;
  std::vector<CopiedTable> all;
  for (const auto& table : row_checks::ledger_tables()) {
    const bool by_hash = table.name == "pins";
    const bool by_text = table.name == "limits" || table.name == "calibrations";
    all.push_back({std::string(table.name), std::string(table.key.substr(0, table.key.find(','))),
                   by_hash   ? Walk::hashes
                   : by_text ? Walk::ends
                             : Walk::numbers,
                   table});
  }
  all.push_back({"embeddings", "key", Walk::hashes, {}});
  all.push_back({"votes", "key", Walk::hashes, {}});
  for (const RunTable& table : run_tables) {
    if (std::ranges::find(all, table.name, &CopiedTable::name) == all.end())
      all.push_back({std::string(table.name), "id", Walk::numbers, {}});
  }
  return all;
}

/// Rows of runs that are not known any more belong to nobody.
void drop_orphans(SQLite::Database& db, RestoredFile& restored) {
  for (const RunTable& table : run_tables) {
    const std::string name(table.name);
    const int dropped = db.exec("DELETE FROM " + name + " WHERE id >> 32 NOT IN (SELECT seq FROM runs)");
    if (dropped == 0) continue;
    restored.rows -= static_cast<std::uint64_t>(dropped);
    if (table.is_missed)
      restored.left_out.push_back(std::to_string(dropped) + " of " + name +
                                  " whose run is not known any more");
  }
  db.exec("DELETE FROM suites WHERE digest NOT IN (SELECT digest FROM run_suites)");
}

/// Whether rows of the run may be missing in the table.
bool has_losses(const Losses& losses, const char* table, std::int64_t seq) {
  const auto at = losses.find(table);
  return at != losses.end() && std::ranges::any_of(at->second.stretches, [seq](const auto& stretch) {
           return run_seq_of(stretch.first) <= seq && seq <= run_seq_of(stretch.second);
         });
}

/// Of a run that came to its end: what its row says was there. Nothing else notices that a whole part of a
/// table is missing.
bool lacks_rows(SQLite::Database& db, std::int64_t seq, const PastRun& run) {
  const StatusCounts& statuses = run.summary->statuses;
  return count_rows(db, "results", seq) < run.run.trials ||
         count_rows(db, "cases", seq) < statuses.total() - statuses.passed;
}

/// Has whoever goes on with them find no end of runs that lost what a report is made of. Of others that is
/// said: their verdict is all that is left.
Result<void> open_runs_again(Ledger& ledger, SQLite::Database& db, const Losses& losses,
                             const MayGoOn& may_go_on, RestoredFile& restored) {
  std::vector<std::pair<std::int64_t, std::string>> runs;
  SQLite::Statement query(db, "SELECT seq, run_id FROM " + kept_runs + " ORDER BY seq");
  while (query.executeStep())
    runs.emplace_back(query.getColumn(0).getInt64(), query.getColumn(1).getString());
  for (const auto& [seq, run_id] : runs) {
    const auto run = ledger.find_run(run_id);
    if (!run) {  // From before rows had checksums, with what no run comes to.
      if (auto removed = ledger.remove_run(run_id); !removed) return removed;
      restored.left_out.push_back("run " + run_id.substr(0, 8) + ", whose row is damaged");
      continue;
    }
    const bool goes_on = may_go_on(*run);
    const bool is_counted = goes_on && run->summary && has_come_to_its_end(*run->summary);
    const bool lacks_retrievals = has_losses(losses, "retrievals", seq);
    const bool lacks_results = is_counted
                                   ? lacks_rows(db, seq, *run)
                                   : has_losses(losses, "results", seq) || has_losses(losses, "cases", seq);
    if (!lacks_results && !lacks_retrievals && !has_losses(losses, "quality", seq)) continue;
    if (!goes_on || lacks_retrievals) {
      restored.left_out.push_back("rows of run " + run_id.substr(0, 8) + ", which cannot be gone on with");
      continue;
    }
    if (auto opened = ledger.reopen_run(run_id); !opened) return opened;
    restored.reopened.push_back(run_id);
  }
  return {};
}

std::optional<SQLite::Database> open_damaged(const fs::path& file, std::vector<std::string>& left_out) {
  std::error_code none;
  if (!fs::exists(file, none)) return std::nullopt;
  try {
    auto db = open_database_read_only(file, OtherWriters::none, defaults::ledger_busy_timeout_ms);
    db.execAndGet("SELECT count(*) FROM sqlite_master");
    return db;
  } catch (const SQLite::Exception& error) {
    if (!is_damage(error)) throw;
    left_out.push_back(std::string("all of it, which cannot be read: ") + error.what());
    return std::nullopt;
  }
}

void remove_file(const fs::path& file) {
  std::error_code none;
  for (const std::string& one : database_files(file.string())) fs::remove(one, none);
}

}  // namespace

Result<RestoredFile> restore_ledger_file(const fs::path& damaged, const fs::path& restored,
                                         const MayGoOn& may_go_on) {
  try {
    remove_file(restored);
    if (const auto made = Ledger::open(restored); !made) return fail(made.error());
    RestoredFile done;
    SQLite::Database to(restored.string(), SQLite::OPEN_READWRITE, defaults::ledger_busy_timeout_ms);
    to.exec("PRAGMA synchronous = OFF");
    Losses losses;
    auto from = open_damaged(damaged, done.left_out);
    if (!from || is_marked_durable(*from)) mark_durable(to);  // Nobody knows of one that cannot be read.
    if (from) {
      SQLite::Transaction all(to);
      losses = copy_tables(*from, to, ledger_copies(), done);
      drop_orphans(to, done);
      all.commit();
    }
    {
      auto ledger = Ledger::open(restored);
      if (!ledger) return fail(ledger.error());
      if (auto opened = open_runs_again(*ledger, to, losses, may_go_on, done); !opened)
        return fail(opened.error());
    }
    settle(to);
    return done;
  } catch (const SQLite::Exception& error) {
    return fail(ledger_error("cannot restore " + damaged.string() + ": " + error.what()));
  }
}

Result<RestoredFile> restore_observations_file(const fs::path& damaged, const fs::path& restored) {
  try {
    remove_file(restored);
    if (const auto made = ObservationStore::open(restored); !made) return fail(made.error());
    RestoredFile done;
    SQLite::Database to(restored.string(), SQLite::OPEN_READWRITE);
    to.exec("PRAGMA synchronous = OFF");
    if (auto from = open_damaged(damaged, done.left_out)) {
      SQLite::Transaction all(to);
      const auto& [observations, prompts] = observation_checks();
      const std::array<CopiedTable, 2> tables{
          CopiedTable{"observations", "rowid", CopiedTable::Walk::numbers, observations},
          CopiedTable{"prompts", "hash", CopiedTable::Walk::ends, prompts}};
      copy_tables(*from, to, tables, done);
      all.commit();
    }
    settle(to);
    return done;
  } catch (const SQLite::Exception& error) {
    return fail(Reason::output_failed, "cannot restore " + damaged.string() + ": " + error.what() +
                                           "; check the space and the permissions of its folder");
  }
}

}  // namespace sluice
