// What can be saved of damaged SQLite files: rows that can be read and whose checksums fit.
#include "common/next_readable.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/file_check.hpp"
#include "coordinator/ledger/observation_checks.hpp"
#include "coordinator/ledger/observation_store.hpp"
#include "coordinator/ledger/read_only.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include <sqlite3.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// By what a table is walked, so that the walk can go on behind rows that cannot be read.
enum class Walk : std::uint8_t {
  numbers,  ///< An integer: the key itself, or SQLite's own number of the row.
  hashes,   ///< A blob, by its first 8 bytes.
  ends,     ///< Any other key: from both ends.
};

struct Copied {
  std::string name;
  std::string key;
  Walk walk = Walk::numbers;
  std::optional<row_checks::Table> check;  ///< Nothing: its rows have no checksum.
};

std::vector<std::string> columns_in(SQLite::Database& db, const std::string& table) {
  SQLite::Statement query(db, "SELECT name FROM pragma_table_info(?)");
  query.bind(1, table);
  std::vector<std::string> names;
  while (query.executeStep()) names.push_back(query.getColumn(0).getString());
  return names;
}

void copy_value(const SQLite::Column& value, SQLite::Statement& to, int at) {
  if (value.isInteger()) return to.bind(at, value.getInt64());
  if (value.isFloat()) return to.bind(at, value.getDouble());
  if (value.isText()) return to.bind(at, value.getString());
  if (value.isBlob()) return to.bind(at, value.getBlob(), value.getBytes());
  to.bind(at);
}

/// Copies a table from a damaged file.
class TableCopy {
 public:
  TableCopy(SQLite::Database& from, SQLite::Database& to, const Copied& table, RestoredFile& restored)
      : from_(from), table_(table), restored_(restored) {
    const auto there = columns_in(from, table.name);
    std::string columns;
    std::string marks;
    for (const std::string& name : columns_in(to, table.name)) {
      if (std::ranges::find(there, name) == there.end()) continue;
      columns += (columns.empty() ? "" : ", ") + name;
      marks += marks.empty() ? "?" : ", ?";
    }
    if (columns.empty()) return;
    const bool checked = table.check && std::ranges::find(there, std::string("checksum")) != there.end();
    select_ = "SELECT " + (checked ? row_checks::fits(*table.check) : std::string("1")) + ", " + table.key +
              ", " + columns + " FROM " + table.name;
    insert_.emplace(to, "INSERT OR IGNORE INTO " + table.name + "(" + columns + ") VALUES (" + marks + ")");
  }

  /// Keys of rows that are left out, and the stretches that could not be read, both ends included.
  struct Lost {
    std::vector<std::int64_t> rows;
    std::vector<std::pair<std::int64_t, std::int64_t>> stretches;
    std::uint64_t count = 0;  ///< Of rows that do not verify.
  };

  Lost copy() {
    if (!insert_) return std::move(lost_);
    if (table_.walk == Walk::ends) {
      if (!walk_from("", 0, "")) {
        lost_.stretches.emplace_back(0, 0);
        walk_from("", 0, " DESC");
      }
      return std::move(lost_);
    }
    const std::uint64_t last = table_.walk == Walk::numbers ? std::numeric_limits<std::int64_t>::max()
                                                            : std::numeric_limits<std::uint64_t>::max();
    std::optional<std::uint64_t> place = 0;
    while (place && !walk_from(" >= ?", *place, "")) {
      const std::uint64_t failed = next_place_;
      place = next_readable(failed, last, [this](std::uint64_t at) { return is_readable(at); });
      lost_.stretches.emplace_back(static_cast<std::int64_t>(failed),
                                   static_cast<std::int64_t>(place ? *place - 1 : last));
    }
    return std::move(lost_);
  }

 private:
  SQLite::Statement query_from(const std::string& condition, std::uint64_t place, const std::string& order) {
    SQLite::Statement query(from_, select_ + (condition.empty() ? "" : " WHERE " + table_.key + condition) +
                                       " ORDER BY " + (condition.empty() ? "2" : table_.key) + order);
    if (condition.empty()) return query;
    if (table_.walk == Walk::numbers) {
      query.bind(1, static_cast<std::int64_t>(place));
    } else {
      std::string prefix;
      for (int shift = 56; shift >= 0; shift -= 8) prefix += static_cast<char>(place >> shift);
      query.bind(1, prefix.data(), static_cast<int>(prefix.size()));
    }
    return query;
  }

  bool is_readable(std::uint64_t place) {
    try {
      auto query = query_from(" >= ?", place, "");
      query.executeStep();
      return true;
    } catch (const SQLite::Exception&) {
      return false;
    }
  }

  /// False where the walk came upon what cannot be read; next_place_ is then behind the last row it read.
  bool walk_from(const std::string& condition, std::uint64_t place, const std::string& order) {
    next_place_ = place;
    try {
      auto query = query_from(condition, place, order);
      while (query.executeStep()) take(query);
      return true;
    } catch (const SQLite::Exception&) {
      return false;
    }
  }

  void take(SQLite::Statement& row) {
    const auto key = row.getColumn(1);
    if (table_.walk == Walk::numbers) {
      next_place_ = static_cast<std::uint64_t>(key.getInt64()) + 1;
    } else if (table_.walk == Walk::hashes) {
      char first[8] = {};
      if (key.getBytes() > 0)
        std::memcpy(first, key.getBlob(),
                    std::min<std::size_t>(sizeof first, static_cast<std::size_t>(key.getBytes())));
      next_place_ = 0;
      for (const char byte : first) next_place_ = (next_place_ << 8) | static_cast<unsigned char>(byte);
      ++next_place_;
    }
    if (row.getColumn(0).getInt() == 0) {
      ++lost_.count;
      if (table_.walk == Walk::numbers) lost_.rows.push_back(key.getInt64());
      return;
    }
    static_cast<void>(insert_->tryReset());
    for (int i = 2; i < row.getColumnCount(); ++i) copy_value(row.getColumn(i), *insert_, i - 1);
    // A row that breaks a rule of the table is as good as damaged.
    if (insert_->tryExecuteStep() == SQLITE_DONE) {
      restored_.rows += static_cast<std::uint64_t>(insert_->getChanges());
    } else {
      ++lost_.count;
    }
  }

  SQLite::Database& from_;
  const Copied& table_;
  RestoredFile& restored_;
  std::string select_;
  std::optional<SQLite::Statement> insert_;
  std::uint64_t next_place_ = 0;
  Lost lost_;
};

void name_losses(const std::string& table, const TableCopy::Lost& lost, RestoredFile& restored) {
  if (lost.count > 0)
    restored.left_out.push_back(std::to_string(lost.count) + (lost.count == 1 ? " row of " : " rows of ") +
                                table + " that " + (lost.count == 1 ? "does" : "do") + " not verify");
  if (!lost.stretches.empty())
    restored.left_out.push_back("rows of " + table + " that cannot be read, in " +
                                std::to_string(lost.stretches.size()) +
                                (lost.stretches.size() == 1 ? " place" : " places"));
}

using LostRows = std::map<std::string, TableCopy::Lost>;

LostRows copy_tables(SQLite::Database& from, SQLite::Database& to, std::span<const Copied> tables,
                     RestoredFile& restored) {
  LostRows all;
  for (const Copied& table : tables) {
    try {
      auto lost = TableCopy(from, to, table, restored).copy();
      name_losses(table.name, lost, restored);
      all.emplace(table.name, std::move(lost));
    } catch (const SQLite::Exception& error) {
      // The table's own definition is damaged.
      restored.left_out.push_back("the table " + table.name + ", which cannot be read: " + error.what());
      TableCopy::Lost everything;
      everything.stretches.emplace_back(0, std::numeric_limits<std::int64_t>::max());
      all.emplace(table.name, std::move(everything));
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

std::vector<Copied> ledger_copies() {
  std::vector<Copied> all;
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
  all.push_back({"leases", "id", Walk::numbers, {}});
  return all;
}

/// Rows of runs that are not known any more belong to nobody.
void drop_orphans(SQLite::Database& db, RestoredFile& restored) {
  for (const char* table : {"results", "cases", "quality", "retrievals", "spends", "leases"}) {
    const int dropped =
        db.exec(std::string("DELETE FROM ") + table + " WHERE id >> 32 NOT IN (SELECT seq FROM runs)");
    if (dropped == 0) continue;
    restored.rows -= static_cast<std::uint64_t>(dropped);
    restored.left_out.push_back(std::to_string(dropped) + " of " + table +
                                " whose run is not known any more");
  }
}

/// Of runs that lost results, or other rows that they need.
std::set<std::string> runs_with_losses(SQLite::Database& db, const LostRows& lost) {
  std::set<std::string> runs;
  SQLite::Statement query(db, "SELECT run_id FROM runs WHERE seq BETWEEN ?1 AND ?2");
  const auto add = [&](std::int64_t first, std::int64_t last) {
    query.bind(1, first >> 32);
    query.bind(2, last >> 32);
    while (query.executeStep()) runs.insert(query.getColumn(0).getString());
    query.reset();
  };
  for (const char* table : {"results", "quality", "retrievals"}) {
    const auto at = lost.find(table);
    if (at == lost.end()) continue;
    for (const std::int64_t row : at->second.rows) add(row, row);
    for (const auto& [first, last] : at->second.stretches) add(first, last);
  }
  return runs;
}

std::optional<SQLite::Database> open_damaged(const fs::path& file, std::vector<std::string>& left_out) {
  std::error_code none;
  if (!fs::exists(file, none)) return std::nullopt;
  try {
    SQLite::Database db(read_only_name(file), SQLite::OPEN_READONLY | SQLite::OPEN_URI,
                        defaults::ledger_busy_timeout_ms);
    db.execAndGet("SELECT count(*) FROM sqlite_master");
    row_checks::add_functions(db);
    return db;
  } catch (const SQLite::Exception& error) {
    left_out.push_back(std::string("all of it, which cannot be read: ") + error.what());
    return std::nullopt;
  }
}

void remove_file(const fs::path& file) {
  std::error_code none;
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) fs::remove(file.string() + ending, none);
}

}  // namespace

Result<RestoredFile> restore_ledger_file(const fs::path& damaged, const fs::path& restored) {
  try {
    remove_file(restored);
    if (const auto made = Ledger::open(restored); !made) return fail(made.error());
    RestoredFile done;
    std::set<std::string> reopened;
    {
      SQLite::Database to(restored.string(), SQLite::OPEN_READWRITE);
      to.exec("PRAGMA synchronous = OFF");
      if (auto from = open_damaged(damaged, done.left_out)) {
        SQLite::Transaction all(to);
        const auto tables = ledger_copies();
        const auto lost = copy_tables(*from, to, tables, done);
        drop_orphans(to, done);
        reopened = runs_with_losses(to, lost);
        all.commit();
      }
    }
    {
      auto ledger = Ledger::open(restored);
      if (!ledger) return fail(ledger.error());
      for (const std::string& run : reopened) {
        if (auto opened = ledger->reopen_run(run); !opened) return fail(opened.error());
      }
    }
    done.reopened.assign(reopened.begin(), reopened.end());
    SQLite::Database db(restored.string(), SQLite::OPEN_READWRITE, defaults::ledger_busy_timeout_ms);
    settle(db);
    return done;
  } catch (const SQLite::Exception& error) {
    return fail(ledger_error(restored.string() + ": " + error.what()));
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
      const std::array<Copied, 2> tables{Copied{"observations", "rowid", Walk::numbers, observations},
                                         Copied{"prompts", "hash", Walk::ends, prompts}};
      copy_tables(*from, to, tables, done);
      all.commit();
    }
    settle(to);
    return done;
  } catch (const SQLite::Exception& error) {
    return fail(Reason::output_failed, restored.string() + ": " + error.what());
  }
}

}  // namespace sluice
