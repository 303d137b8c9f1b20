#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/db.h>

/// Tables that lie in a database's folder and that its list of tables, MANIFEST, does not name. RocksDB
/// removes them when it opens the database for writing: what a process left that died, but also the answers
/// of a cache whose MANIFEST was cut off.
namespace sluice {

struct TableFile {
  std::filesystem::path path;
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
};

/// The files of a database's folder that can hold entries.
struct EntryFiles {
  std::vector<TableFile> tables;
  bool has_logs = false;
  bool has_logged = false;  ///< One of the logs is not empty.
};

/// None where there is no such folder, or it cannot be read.
EntryFiles list_entry_files(const std::filesystem::path& database);

/// The MANIFEST that CURRENT names, and its size: they change before files of entries go.
std::string manifest_state(const std::filesystem::path& database);
/// Whether that MANIFEST ends with a whole record.
bool has_whole_manifest(const std::filesystem::path& database);
/// The same, and that it names all of these tables, with their sizes, and column families. A glance at its
/// bytes, which takes no time; whether RocksDB can read it shows when the database is opened.
bool is_all_in_manifest(const std::filesystem::path& database, std::span<const TableFile> tables,
                        std::span<const std::string_view> families);

/// OK if the database, which does not know the table, has all entries of it, or nothing of it can be read.
/// Corruption names the table.
rocksdb::Status check_unlisted_table(const std::filesystem::path& table, rocksdb::DB& database,
                                     std::span<rocksdb::ColumnFamilyHandle* const> families);

}  // namespace sluice
