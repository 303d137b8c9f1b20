#include "worker/cache/entry_database.hpp"

#include "worker/cache/database_options.hpp"
#include "worker/cache/lost_tables.hpp"

#include <algorithm>
#include <charconv>
#include <cstdarg>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include <rocksdb/env.h>
#include <rocksdb/sst_file_writer.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// Each kind's own column family, by its number.
struct Family {
  EntryKind kind;
  const char* name;
  bool is_in_every_version;  ///< Of the caches that any sluice ever made.
};
constexpr std::array every_family{
    Family{EntryKind::answer, "answers", true}, Family{EntryKind::outcome, "outcomes", true},
    Family{EntryKind::embedding, "embeddings", false}, Family{EntryKind::vote, "votes", false}};
static_assert(std::ranges::equal(every_family, every_entry_kind, {}, &Family::kind));

rocksdb::ColumnFamilyDescriptor default_family() {
  return {rocksdb::kDefaultColumnFamilyName, family_options()};
}

std::vector<std::string> families_in(const rocksdb::DBOptions& options, const std::string& path) {
  std::vector<std::string> names;
  // A failure shows again, with its reason, when the database is opened.
  rocksdb::DB::ListColumnFamilies(options, path, &names).PermitUncheckedError();
  return names;
}

/// Larger than the numbers of all tables and logs of a folder.
std::uint64_t unused_file_number(const fs::path& folder) {
  std::uint64_t largest = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".sst" && entry.path().extension() != ".log") continue;
    const std::string name = entry.path().stem();
    std::uint64_t number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    largest = std::max(largest, number);
  }
  return largest + 1;
}

/// RocksDB keeps two bits of a file's number for itself, and ends the process over one that needs them.
constexpr std::uint64_t most_files = std::uint64_t{1} << 61;

/// As RocksDB names it: with six digits or more.
std::string table_file(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(digits.size() < 6 ? 6 - digits.size() : 0, '0') + digits + ".sst";
}

/// No entry's: those have 32 bytes.
constexpr std::string_view no_entrys_key = "x";

/// A table of the family that says that nothing is deleted. Its number in the sequence of changes is 0: one
/// that a change of the log has, too, would count as damage.
rocksdb::Status write_empty_table(rocksdb::ColumnFamilyHandle* family, const std::string& file) {
  rocksdb::SstFileWriter table({}, rocksdb::Options(database_options(), family_options()), family);
  auto status = table.Open(file);
  if (status.ok()) status = table.Delete(no_entrys_key);
  return status.ok() ? table.Finish() : status;
}

/// RocksDB knows the families of a database that it repairs by their tables alone, and drops what the log has
/// of others. All caches number them alike, as does one that is made for it. Error: IOError.
rocksdb::Status give_families_tables(const fs::path& database) {
  try {
    EntryDatabase numbered;
    auto status = numbered.open(database.string() + ".families", CacheAccess::write);
    std::uint64_t number = unused_file_number(database);
    if (number > most_files) return rocksdb::Status::IOError("a file's name has too large a number");
    for (const Family& family : every_family) {
      if (status.ok())
        status = write_empty_table(numbered.family(family.kind), (database / table_file(number++)).string());
    }
    return status.ok() ? status : rocksdb::Status::IOError(status.ToString());
  } catch (const fs::filesystem_error& error) {
    return rocksdb::Status::IOError(error.what());
  }
}

/// RocksDB goes on without a log that it cannot turn into a table, for lack of space mostly, and says so in
/// its own log alone.
class LostLogWatch final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list) override {
    if (std::string_view(format).find("ignoring conversion error") != std::string_view::npos) lost_ = true;
  }
  bool has_lost() const { return lost_; }

 private:
  bool lost_ = false;
};

/// Has RocksDB make a database that can be opened of the files that it can read.
rocksdb::Status repair_files(const std::string& path) {
  if (auto status = give_families_tables(path); !status.ok()) return status;
  std::vector descriptors{default_family()};
  for (const Family& family : every_family) descriptors.push_back({family.name, family_options()});
  const auto watch = std::make_shared<LostLogWatch>();
  auto options = database_options();
  options.info_log = watch;
  auto status = rocksdb::RepairDB(path, options, descriptors, family_options());
  return watch->has_lost() ? rocksdb::Status::IOError("a log cannot be turned into a table") : status;
}

rocksdb::DBOptions options_for(CacheAccess access) {
  auto options = database_options();
  // A reader opens all tables now: their files stay readable when an owner that comes later removes them.
  if (access != CacheAccess::write) options.max_open_files = -1;
  if (access == CacheAccess::check) {
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
    options.skip_checking_sst_file_sizes_on_db_open = false;
  } else if (access == CacheAccess::salvage) {
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  }
  return options;
}

}  // namespace

std::optional<EntryKind> kind_of_family(std::string_view name) {
  const auto found = std::ranges::find(every_family, name, &Family::name);
  return found == every_family.end() ? std::nullopt : std::optional(found->kind);
}

void EntryDatabase::close() {
  for (auto* family : families_) database_->DestroyColumnFamilyHandle(family);
  families_.clear();
  by_kind_ = {};
  database_.reset();
}

rocksdb::Status EntryDatabase::open(const std::string& path, CacheAccess access) {
  if (access != CacheAccess::write) return open_existing(path, access);
  const EntryFiles files = list_entry_files(path);
  std::error_code unknown;
  if (!fs::exists(path + "/CURRENT", unknown)) {
    if (files.tables.empty() && !files.has_logs) return make(path);
    return rocksdb::Status::Corruption("CURRENT is missing beside tables or logs");
  }
  std::array<std::string_view, every_family.size()> names;
  std::ranges::transform(every_family, names.begin(), &Family::name);
  if (!is_all_in_manifest(path, files.tables, names)) {
    EntryDatabase looked_at;
    if (auto status = looked_at.open_existing(path, CacheAccess::read); !status.ok()) return status;
  }
  return open_existing(path, access);
}

/// All families at once: opening with those that are missing would write the file of options, and sync it,
/// for each of them.
rocksdb::Status EntryDatabase::make(const std::string& path) {
  rocksdb::DB* made = nullptr;
  auto status = rocksdb::DB::Open(database_options(), path, {default_family()}, &families_, &made);
  if (!status.ok()) return status;
  database_.reset(made);
  std::vector<std::string> names;
  for (const Family& family : every_family) names.emplace_back(family.name);
  std::vector<rocksdb::ColumnFamilyHandle*> added;
  status = made->CreateColumnFamilies(family_options(), names, &added);
  families_.insert(families_.end(), added.begin(), added.end());
  std::ranges::copy(added, by_kind_.begin());
  return status;
}

rocksdb::Status EntryDatabase::open_existing(const std::string& path, CacheAccess access) {
  const bool read_only = access != CacheAccess::write;
  if (access == CacheAccess::salvage) {
    // What is damaged beyond that shows when the database is opened.
    if (auto repaired = repair_files(path); !repaired.ok() && !repaired.IsCorruption()) return repaired;
  }
  const auto options = options_for(access);
  std::vector descriptors{default_family()};
  std::vector<EntryKind> kinds;
  const auto there = read_only ? families_in(options, path) : std::vector<std::string>();
  for (const Family& family : every_family) {
    // A reader may not add what caches of earlier versions lack, or one whose maker died; a repaired one
    // lacks what nothing is left of.
    if (read_only && std::ranges::find(there, family.name) == there.end()) continue;
    descriptors.push_back({family.name, family_options()});
    kinds.push_back(family.kind);
  }
  rocksdb::DB* opened = nullptr;
  const auto status = read_only
                          ? rocksdb::DB::OpenForReadOnly(options, path, descriptors, &families_, &opened)
                          : rocksdb::DB::Open(options, path, descriptors, &families_, &opened);
  if (!status.ok()) return status;
  database_.reset(opened);
  for (std::size_t i = 0; i < kinds.size(); ++i) by_kind_[index(kinds[i])] = families_[i + 1];
  const bool is_owned_by_nobody = access == CacheAccess::read || access == CacheAccess::check;
  return is_owned_by_nobody ? check_nothing_lost(path) : status;
}

/// REQUIRES: nobody changes it.
rocksdb::Status EntryDatabase::check_nothing_lost(const std::string& path) const {
  const EntryFiles files = list_entry_files(path);
  const auto lacks = [&](const Family& family) {
    return this->family(family.kind) == nullptr && (family.is_in_every_version || !has_whole_manifest(path));
  };
  // RocksDB passes over what the log has of families that it does not know.
  if (files.has_logged && std::ranges::any_of(every_family, lacks))
    return rocksdb::Status::Corruption("MANIFEST lacks kinds of entries that the log may hold");
  std::vector<rocksdb::LiveFileMetaData> listed;
  database_->GetLiveFilesMetaData(&listed);
  for (const TableFile& table : files.tables) {
    const std::string name = "/" + table.path.filename().string();
    if (std::ranges::find(listed, name, &rocksdb::LiveFileMetaData::name) != listed.end()) continue;
    // One that was listed once has been replaced, and whoever did that died before it was removed.
    if (is_all_in_manifest(path, {&table, 1}, {})) continue;
    if (auto status = check_unlisted_table(table.path, *database_, families_); !status.ok()) return status;
  }
  return rocksdb::Status::OK();
}

}  // namespace sluice
