// The files of the suites that runs were of.
#include "common/hash.hpp"
#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/ledger.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include <zstd.h>

namespace sluice {

const char* const drop_unused_suites =
    "DELETE FROM suites WHERE digest NOT IN (SELECT digest FROM run_suites)";

namespace {

constexpr int packing_level = 3;  // Once for each edit of a suite: 5 ms a megabyte.
/// Of what is unpacked: a file that others could write is not to fill the memory.
constexpr std::size_t max_unpacked_bytes = 2 * defaults::max_copied_suite_bytes;

[[noreturn]] void refuse(const char* what) {
  throw SQLite::Exception(std::string("the copy of a suite in it ") + what);
}

void append(std::string& bytes, std::string_view text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  std::array<char, sizeof size> head{};
  std::memcpy(head.data(), &size, sizeof size);
  bytes.append(head.data(), head.size()).append(text);
}

std::string_view take(std::string_view& bytes) {
  std::uint32_t size = 0;
  if (bytes.size() < sizeof size) refuse("ends in the midst of a file");
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes.remove_prefix(sizeof size);
  if (bytes.size() < size) refuse("ends in the midst of a file");
  const std::string_view text = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return text;
}

std::string to_bytes(const SuiteCopy& suite) {
  std::string bytes;
  for (const auto& [path, text] : suite.files) {
    append(bytes, path);
    append(bytes, text);
  }
  return bytes;
}

SuiteCopy from_bytes(std::string_view bytes) {
  SuiteCopy suite;
  while (!bytes.empty()) {
    const std::string_view path = take(bytes);
    suite.files.emplace(path, take(bytes));
  }
  return suite;
}

std::string packed(std::string_view bytes) {
  std::string result(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress(result.data(), result.size(), bytes.data(), bytes.size(), packing_level);
  if (ZSTD_isError(size) != 0) refuse("cannot be packed");
  result.resize(size);
  return result;
}

std::string unpacked(std::string_view bytes) {
  const auto size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size > max_unpacked_bytes) refuse("cannot be unpacked");  // Errors are the largest numbers.
  std::string result(size, '\0');
  const std::size_t got = ZSTD_decompress(result.data(), result.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(got) != 0 || got != size) refuse("cannot be unpacked");
  return result;
}

}  // namespace

Result<void> Ledger::note_suite(const std::string& run_id, const SuiteCopy& suite) {
  return guarded_transaction(database_->db, ledger_error, [&] {
    const std::string bytes = to_bytes(suite);
    const Digest digest = sha256(bytes);
    auto& db = database_->db;
    SQLite::Statement known(db, "SELECT 1 FROM suites WHERE digest = ?");
    known.bind(1, digest.data(), static_cast<int>(digest.size()));
    if (!known.executeStep()) {
      const std::string files = packed(bytes);
      SQLite::Statement insert(db, "INSERT INTO suites(digest, files) VALUES (?, ?)");
      insert.bind(1, digest.data(), static_cast<int>(digest.size()));
      insert.bindNoCopy(2, files.data(), static_cast<int>(files.size()));
      insert.exec();
    }
    SQLite::Statement of_run(db, "INSERT OR REPLACE INTO run_suites(id, digest) VALUES (?, ?)");
    of_run.bind(1, database_->run_seq(run_id) << 32);
    of_run.bind(2, digest.data(), static_cast<int>(digest.size()));
    of_run.exec();
  });
}

Result<std::shared_ptr<const SuiteCopy>> Ledger::suite_of(const std::string& run_id) const {
  return guarded(ledger_error, [&]() -> std::shared_ptr<const SuiteCopy> {
    SQLite::Statement of_run(database_->db, "SELECT digest FROM " + sound("run_suites") + " WHERE id = ?");
    of_run.bind(1, database_->run_seq(run_id) << 32);
    if (!of_run.executeStep()) return nullptr;
    // Found by the index, and only then checked: the checksums of all copies would be long in coming.
    SQLite::Statement found(database_->db, "SELECT id FROM suites WHERE digest = ?");
    found.bind(1, of_run.getColumn(0).getBlob(), of_run.getColumn(0).getBytes());
    if (!found.executeStep()) return nullptr;
    SQLite::Statement query(database_->db, "SELECT files FROM " + sound("suites") + " WHERE id = ?");
    query.bind(1, found.getColumn(0).getInt64());
    if (!query.executeStep()) return nullptr;
    const SQLite::Column files = query.getColumn(0);
    const std::string_view bytes(static_cast<const char*>(files.getBlob()),
                                 static_cast<std::size_t>(files.getBytes()));
    return std::make_shared<const SuiteCopy>(from_bytes(unpacked(bytes)));
  });
}

}  // namespace sluice
