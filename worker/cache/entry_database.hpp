#pragma once

#include "worker/cache/entry.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/db.h>

namespace sluice {

/// What a cache is opened for.
enum class CacheAccess : std::uint8_t {
  write,
  read,     ///< Beside owners that may come later.
  beside,   ///< Beside an owner, who may change it meanwhile.
  check,    ///< Tells damage from what an end in the midst of a write left.
  salvage,  ///< A copy, of whose files RocksDB first makes what can be opened.
};

/// The kind of entries that a column family of this name holds.
std::optional<EntryKind> kind_of_family(std::string_view name);

/// The RocksDB database of a cache: a column family for each kind of entries. Thread-safe once it is open.
class EntryDatabase {
 public:
  EntryDatabase() = default;
  EntryDatabase(const EntryDatabase&) = delete;
  EntryDatabase& operator=(const EntryDatabase&) = delete;
  ~EntryDatabase() { close(); }

  /// REQUIRES: it is closed. Made if it is opened for writing and is not there. Corruption if files of it are
  /// there that hold entries, and what names these files is missing or cut off: RocksDB would remove them.
  rocksdb::Status open(const std::string& path, CacheAccess access);
  void close();
  bool is_open() const { return database_ != nullptr; }
  /// REQUIRES: it is open.
  rocksdb::DB* operator->() const { return database_.get(); }
  /// Those that are there, and RocksDB's default one.
  const std::vector<rocksdb::ColumnFamilyHandle*>& families() const { return families_; }
  /// Null for what an older cache that is only read does not have.
  rocksdb::ColumnFamilyHandle* family(EntryKind kind) const { return by_kind_[index(kind)]; }

 private:
  static std::size_t index(EntryKind kind) { return static_cast<std::size_t>(kind) - 1; }
  rocksdb::Status make(const std::string& path);
  rocksdb::Status open_existing(const std::string& path, CacheAccess access);
  rocksdb::Status check_nothing_lost(const std::string& path) const;

  std::unique_ptr<rocksdb::DB> database_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
  std::array<rocksdb::ColumnFamilyHandle*, every_entry_kind.size()> by_kind_{};
};

}  // namespace sluice
