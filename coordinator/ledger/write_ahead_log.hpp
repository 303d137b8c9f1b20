#pragma once

#include "coordinator/ledger/defaults.hpp"

#include <thread>

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

namespace sluice {

/// The change of mode is refused at once while another process is at it, where SQLite waits elsewhere: two
/// runs that begin in a new home would not both get their file. Throws SQLite::Exception.
inline void use_write_ahead_log(SQLite::Database& db) {
  int code = SQLITE_BUSY;
  for (int tries = 0; tries < defaults::log_change_tries && code == SQLITE_BUSY; ++tries) {
    if (tries > 0) std::this_thread::sleep_for(defaults::log_change_wait);
    code = db.tryExec("PRAGMA journal_mode = WAL");
  }
  if (code != SQLITE_OK) throw SQLite::Exception(db.getHandle(), code);
}

}  // namespace sluice
