#pragma once

#include "coordinator/ledger/ledger.hpp"

#include <filesystem>
#include <optional>

#include <SQLiteCpp/SQLiteCpp.h>

namespace sluice {

/// Version of the ledger's tables; kept in SQLite's user_version.
inline constexpr int schema_version = 15;

/// Whether there is nothing to do for bring_up_to_date. Throws SQLite::Exception.
bool is_up_to_date(SQLite::Database& db);

/// Makes the tables of a new file, or brings those of an earlier version up to date: all steps in one
/// transaction, so that whatever ends the process in between leaves the file as it was. Columns and
/// tables are only ever added, so that an older sluice that has the file open can end its run. Nothing if
/// there was nothing to do. Refuses, by its name, a file of a later version, and one that is no ledger.
/// Throws SQLite::Exception.
Result<std::optional<LedgerUpgrade>> bring_up_to_date(SQLite::Database& db,
                                                      const std::filesystem::path& file);

}  // namespace sluice
