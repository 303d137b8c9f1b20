#include "coordinator/ledger/read_only.hpp"

#include "common/files.hpp"
#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/file_swap.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/ledger/schema.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <SQLiteCpp/Backup.h>

namespace sluice {
namespace {

/// Columns in this order: blobs, then a text.
void copy_rows(SQLite::Database& from, const std::string& select, SQLite::Database& to,
               const std::string& insert) {
  SQLite::Statement rows(from, select);
  SQLite::Statement copy(to, insert);
  while (rows.executeStep()) {
    const int text = rows.getColumnCount() - 1;
    for (int i = 0; i < text; ++i) {
      const auto blob = rows.getColumn(i);
      copy.bind(i + 1, blob.getBlob(), blob.getBytes());
    }
    copy.bind(text + 1, rows.getColumn(text).getString());
    copy.exec();
    copy.reset();
  }
}

/// SQLite's name for a file that is only read here, and written elsewhere.
std::string changing_name(const std::filesystem::path& file) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string name = "file:";
  for (const char c : file.string()) {
    if (c != '%' && c != '?' && c != '#') {
      name += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    name += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return name + "?mode=ro";
}

bool has_log(const std::filesystem::path& file) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file.string() + "-wal", error);
  return !error && bytes > 0;
}

/// A process that was killed has left its log of commits, and a copy or the end of the machine took the index
/// of it: SQLite would have to make one beside it.
bool lacks_its_index(const std::filesystem::path& file) {
  std::error_code none;
  return !std::filesystem::exists(file.string() + "-shm", none);
}

}  // namespace

SQLite::Database open_database_read_only(const std::filesystem::path& file, OtherWriters others,
                                         int busy_timeout_ms) {
  const int flags = SQLite::OPEN_READONLY | SQLite::OPEN_URI;
  const std::string name = changing_name(file);
  const bool is_in_read_only_folder = is_read_only_folder(file.parent_path());
  if (others == OtherWriters::perhaps && !is_in_read_only_folder)
    return connected(name, flags, busy_timeout_ms);
  // The file is all there is: else SQLite would make files beside it.
  if (!has_log(file)) return connected(name + "&immutable=1", flags, busy_timeout_ms);
  if (!is_in_read_only_folder || !lacks_its_index(file)) return connected(name, flags, busy_timeout_ms);
  // Of a file that it has to itself SQLite keeps the index in memory; without locks that can be one it only
  // reads. As it closes it would put the log into the file.
  auto alone = connected(name + "&vfs=unix-none", flags, busy_timeout_ms);
  sqlite3_db_config(alone.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  alone.exec("PRAGMA locking_mode = EXCLUSIVE");
  return alone;
}

Result<Ledger> Ledger::open_read_only(const std::filesystem::path& file) {
  return open_as(file, Pins::settled);
}

Result<Ledger> Ledger::open_beside_runs(const std::filesystem::path& file) {
  return open_as(file, Pins::as_they_are);
}

Result<Ledger> Ledger::open_as(const std::filesystem::path& file, Pins pins) {
  if (auto may = check_may_open(file); !may) return fail(may.error());
  try {
    const auto others = pins == Pins::settled ? OtherWriters::none : OtherWriters::perhaps;
    auto database =
        std::make_unique<Database>(open_database_read_only(file, others, defaults::ledger_busy_timeout_ms));
    // Reading pins begins with those that runs have left unsettled.
    if (!is_up_to_date(database->db) || (pins == Pins::settled && database->has_unsettled_pins())) {
      auto copy =
          std::make_unique<Database>(std::string());  // SQLite's name for a file that it removes by itself.
      SQLite::Backup(copy->db, database->db).executeStep();
      database = std::move(copy);
      if (const auto upgrade = bring_up_to_date(database->db, file); !upgrade) return fail(upgrade.error());
      database->prepare();
      SQLite::Transaction transaction(database->db);
      database->settle_pins();
      transaction.commit();
      database->db.exec("PRAGMA query_only = ON");  // A change would be lost without a word.
    } else {
      database->prepare();
    }
    database->home = file.parent_path();
    return Ledger(std::move(database));
  } catch (const SQLite::Exception& error) {
    return fail(ledger_error(file.string() + ": " + error.what()));
  }
}

Result<void> Ledger::copy_pins_from(const Ledger& other) {
  auto& to = database_->db;
  return guarded_transaction(to, ledger_error, [&] {
    auto& from = other.database_->db;
    copy_rows(from, "SELECT key, answer, holder FROM " + sound("pins"), to, upsert_of_pin);
    copy_rows(from, "SELECT key, holder FROM embeddings", to,
              "INSERT OR REPLACE INTO embeddings(key, holder) VALUES (?, ?)");
    copy_rows(from, "SELECT key, holder FROM votes", to,
              "INSERT OR REPLACE INTO votes(key, holder) VALUES (?, ?)");
  });
}

}  // namespace sluice
