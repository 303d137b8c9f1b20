#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

namespace sluice {

/// Whether what went wrong lies in the file's own bytes, and not in the machine around it: a lock, a
/// permission, a full or failing disk, memory. A schema whose text is damaged is an error of SQL to SQLite
/// (SQLITE_ERROR).
inline bool is_damage(const SQLite::Exception& error) {
  switch (error.getErrorCode() & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
    case SQLITE_ERROR:
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH:
      return true;
    default:
      return false;
  }
}

}  // namespace sluice
