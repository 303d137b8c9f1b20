#pragma once

#include <cstdint>
#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>

namespace sluice {

/// Whether others may write to a file while it is read here.
enum class OtherWriters : std::uint8_t { none, perhaps };

/// Opens a database of ours for reading alone, for the ledger's own sources, also where nothing can be
/// written beside it; makes no file there. In a read-only folder nobody is taken to write. Throws
/// SQLite::Exception.
SQLite::Database open_database_read_only(const std::filesystem::path& file, OtherWriters others,
                                         int busy_timeout_ms);

}  // namespace sluice
