// What it takes that a ledger outlives a loss of power: docs/durability.md.
#include "common/disk.hpp"
#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/defaults.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

namespace sluice {

/// SQLite's application id of a marked ledger; others have none. It is in the file, so that it goes where
/// that goes.
constexpr int durable_application_id = 0x736c6472;

bool is_marked_durable(SQLite::Database& db) {
  return db.execAndGet("PRAGMA application_id").getInt() == durable_application_id;
}

void mark_durable(SQLite::Database& db) {
  if (!is_marked_durable(db)) db.exec("PRAGMA application_id = " + std::to_string(durable_application_id));
}

namespace {

/// Has all of the file, its log aside, written to the disk, whoever wrote it. Through SQLite's own
/// descriptor: closing any other gives up the locks of this process on the file.
void sync_file(SQLite::Database& db) {
  sqlite3_file* file = nullptr;
  int code = sqlite3_file_control(db.getHandle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code == SQLITE_OK) code = file->pMethods->xSync(file, SQLITE_SYNC_FULL);
  if (code != SQLITE_OK) throw SQLite::Exception(sqlite3_errstr(code), code);
}

}  // namespace

Ledger::Database::~Database() {
  try {
    sync_if_marked();  // The last one to close the file writes the log into it.
  } catch (const SQLite::Exception&) {
    // Then there is nothing in it that could be read either.
  }
}

void Ledger::Database::set_synchronous() {
  db.exec(outlives == Outlives::power ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF");
  sync_if_marked();
}

void Ledger::Database::make_durable(const std::filesystem::path& folder) {
  mark_durable(db);
  // After the mark: what was written into the file without a sync was so before.
  sync_file(db);
  if (!sync_folders(folder))
    throw SQLite::Exception("its folder cannot be written to the disk", SQLITE_IOERR);
}

void Ledger::Database::sync_if_marked() {
  if (outlives == Outlives::process && is_marked_durable(db)) db.exec("PRAGMA synchronous = NORMAL");
}

/// In place of SQLite's own hook, which would not look for the mark. What keeps it from its work fails no
/// commit, as with that one: the log grows, and the next commit tries again.
int Ledger::Database::on_commit(void* database, sqlite3* handle, const char* name, int pages) {
  if (pages < defaults::checkpoint_pages) return SQLITE_OK;
  try {
    static_cast<Database*>(database)->sync_if_marked();
    sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  } catch (const SQLite::Exception&) {
    // The mark cannot be read now.
  }
  return SQLITE_OK;
}

}  // namespace sluice
