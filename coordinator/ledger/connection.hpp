#pragma once

#include "coordinator/ledger/row_checks.hpp"

#include <string>

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

namespace sluice {

/// A connection of one thread at a time, which knows the rows' checksums: without SQLite's own locks, which
/// each value that is bound takes, and without its count of the memory in use, which each allocation locks.
/// Throws SQLite::Exception.
inline SQLite::Database connected(const std::string& name, int flags, int busy_timeout_ms) {
  // Only before SQLite's first use; where that was elsewhere, the count goes on.
  [[maybe_unused]] static const int uncounted = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  SQLite::Database db(name, flags | SQLite::OPEN_NOMUTEX, busy_timeout_ms);
  row_checks::add_functions(db);
  return db;
}

}  // namespace sluice
