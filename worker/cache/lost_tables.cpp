#include "worker/cache/lost_tables.hpp"

#include "worker/cache/database_options.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <rocksdb/sst_file_reader.h>
#include <rocksdb/utilities/debug.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

// RocksDB's format of a MANIFEST: blocks with the records of a log, whose contents are edits.
constexpr std::size_t block_bytes = 32768;
constexpr std::size_t record_header_bytes = 7;  ///< Checksum (4), size (2, little endian), type.
constexpr int last_record_type = 4;
constexpr std::uint64_t most_levels = 7;
/// Their tags, before level, number and size of a table, and before a family's name.
constexpr char new_table_tag = 103;
constexpr std::string_view family_tag = "\xC9\x01";

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes += static_cast<char>(value | 128);
  return bytes + static_cast<char>(value);
}

/// What its records hold, one after the other; nothing if it does not end with a whole one. RocksDB takes a
/// record that is cut off for the end, and those before it for all that there is.
std::optional<std::string> edits_in(std::string_view manifest) {
  const auto byte = [&](std::size_t at) { return std::size_t{static_cast<unsigned char>(manifest[at])}; };
  std::string edits;
  bool is_whole = false;
  for (std::size_t at = 0; at < manifest.size();) {
    const std::size_t left_of_block = block_bytes - at % block_bytes;
    if (left_of_block < record_header_bytes) {
      at += left_of_block;
      continue;
    }
    if (manifest.size() - at < record_header_bytes) return std::nullopt;
    const std::size_t size = byte(at + 4) | byte(at + 5) << 8;
    const std::size_t type = byte(at + 6);
    at += record_header_bytes;
    const bool fits = size <= left_of_block - record_header_bytes && size <= manifest.size() - at;
    if (type < 1 || type > last_record_type || !fits) return std::nullopt;
    edits += manifest.substr(at, size);
    at += size;
    is_whole = type == 1 || type == last_record_type;
  }
  return is_whole ? std::optional(std::move(edits)) : std::nullopt;
}

/// Empty where CURRENT does not name one.
fs::path manifest_of(const fs::path& database) {
  std::string name;
  std::getline(std::ifstream(database / "CURRENT", std::ios::binary), name);
  const bool is_here = name.starts_with("MANIFEST-") && name.find('/') == std::string::npos;
  return is_here ? database / name : fs::path();
}

std::optional<std::string> edits_of(const fs::path& database) {
  std::ifstream file(manifest_of(database), std::ios::binary);
  return edits_in(std::string{std::istreambuf_iterator<char>(file), {}});
}

bool names_table(std::string_view edits, const TableFile& table) {
  const std::string numbers = varint(table.number) + varint(table.bytes);
  for (auto at = edits.find(numbers); at != std::string_view::npos; at = edits.find(numbers, at + 1)) {
    if (at >= 2 && edits[at - 2] == new_table_tag && static_cast<unsigned char>(edits[at - 1]) < most_levels)
      return true;
  }
  return false;
}

bool names_family(std::string_view edits, std::string_view family) {
  const std::string added = std::string(family_tag) + static_cast<char>(family.size()) + std::string(family);
  return edits.find(added) != std::string_view::npos;
}

}  // namespace

EntryFiles list_entry_files(const fs::path& database) {
  EntryFiles files;
  std::error_code error;
  for (fs::directory_iterator entry(database, error), end; !error && entry != end; entry.increment(error)) {
    const bool is_log = entry->path().extension() == ".log";
    if (!is_log && entry->path().extension() != ".sst") continue;
    std::error_code unknown;
    const std::uintmax_t bytes = entry->file_size(unknown);
    files.has_logs = files.has_logs || is_log;
    files.has_logged = files.has_logged || (is_log && bytes > 0);
    if (is_log) continue;
    TableFile& table = files.tables.emplace_back(TableFile{entry->path(), 0, bytes});
    const std::string name = entry->path().stem();
    std::from_chars(name.data(), name.data() + name.size(), table.number);
  }
  return files;
}

std::string manifest_state(const fs::path& database) {
  const fs::path manifest = manifest_of(database);
  std::error_code unknown;
  return manifest.string() + ":" + std::to_string(fs::file_size(manifest, unknown));
}

bool has_whole_manifest(const fs::path& database) {
  return edits_of(database).has_value();
}

bool is_all_in_manifest(const fs::path& database, std::span<const TableFile> tables,
                        std::span<const std::string_view> families) {
  const auto edits = edits_of(database);
  return edits && std::ranges::all_of(tables, [&](const auto& one) { return names_table(*edits, one); }) &&
         std::ranges::all_of(families, [&](const auto& one) { return names_family(*edits, one); });
}

rocksdb::Status check_unlisted_table(const fs::path& table, rocksdb::DB& database,
                                     std::span<rocksdb::ColumnFamilyHandle* const> families) {
  rocksdb::SstFileReader reader(rocksdb::Options(database_options(), family_options()));
  const auto opened = reader.Open(table.string());
  // Its writer died before its end: the entries are still in the log, or in the tables that it was made of.
  if (opened.IsCorruption()) return rocksdb::Status::OK();
  if (!opened.ok()) return opened;
  const auto properties = reader.GetTableProperties();
  const std::string name = properties ? properties->column_family_name : std::string();
  const auto family = std::ranges::find_if(families, [&](auto* one) { return one->GetName() == name; });
  const std::unique_ptr<rocksdb::Iterator> entry(reader.NewIterator(rocksdb::ReadOptions()));
  const auto lost = rocksdb::Status::Corruption("MANIFEST, the list of tables, lacks a table with entries",
                                                table.filename().string());
  for (entry->SeekToFirst(); entry->Valid(); entry->Next()) {
    if (family == families.end()) return lost;
    rocksdb::PinnableSlice value;
    const auto found = database.Get(rocksdb::ReadOptions(), *family, entry->key(), &value);
    if (!found.ok() && !found.IsNotFound()) return found;
    if (found.ok()) continue;
    // What was erased since has a mark of that.
    std::vector<rocksdb::KeyVersion> versions;
    const auto looked =
        rocksdb::GetAllKeyVersions(&database, *family, entry->key(), entry->key(), 1, &versions);
    if (!looked.ok()) return looked;
    if (versions.empty()) return lost;
  }
  return entry->status().ok() ? rocksdb::Status::OK() : lost;
}

}  // namespace sluice
