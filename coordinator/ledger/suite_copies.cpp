// The files of the suites that runs were of.
#include "common/hash.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/ledger/row_id.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <zstd.h>

namespace sluice {
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

void append(std::string& bytes, std::size_t number) {
  append(bytes, std::to_string(number));
}

std::size_t take_number(std::string_view& bytes) {
  const std::string_view text = take(bytes);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) refuse("has a number that is none");
  return number;
}

/// Texts with their lengths before them, each list with how many it has.
std::string to_bytes(const SuiteCopy& suite) {
  std::string bytes;
  std::size_t texts = 0;
  for (const auto& [path, text] : suite.files) texts += path.size() + text.size();
  bytes.reserve(texts + texts / 8);
  append(bytes, suite.suite);
  append(bytes, suite.files.size());
  for (const auto& [path, text] : suite.files) {
    append(bytes, path);
    append(bytes, text);
  }
  append(bytes, suite.folders.size());
  for (const auto& [path, entries] : suite.folders) {
    append(bytes, path);
    append(bytes, entries.size());
    for (const CopiedEntry& one : entries) {
      append(bytes, one.name);
      append(bytes, static_cast<std::size_t>(one.kind));
    }
  }
  if (!suite.settings) return bytes;
  append(bytes, suite.settings->folder);
  append(bytes, suite.settings->file);
  append(bytes, std::size_t{suite.settings->text ? 1u : 0u});
  append(bytes, suite.settings->text.value_or(""));
  append(bytes, suite.settings->variables.size());
  for (const auto& [name, value] : suite.settings->variables) {
    append(bytes, name);
    append(bytes, value);
  }
  return bytes;
}

SuiteCopy from_bytes(std::string_view bytes) {
  SuiteCopy suite;
  suite.suite = take(bytes);
  for (std::size_t left = take_number(bytes); left > 0; --left) {
    const std::string_view path = take(bytes);
    suite.files.emplace(path, take(bytes));
  }
  for (std::size_t left = take_number(bytes); left > 0; --left) {
    auto& entries = suite.folders[std::string(take(bytes))];
    for (std::size_t more = take_number(bytes); more > 0; --more) {
      const std::string_view name = take(bytes);
      const std::size_t kind = take_number(bytes);
      if (kind > static_cast<std::size_t>(CopiedEntry::Kind::other)) refuse("has an entry of no kind");
      entries.push_back({std::string(name), static_cast<CopiedEntry::Kind>(kind)});
    }
  }
  if (bytes.empty()) return suite;
  CopiedSettings& settings = suite.settings.emplace();
  settings.folder = take(bytes);
  settings.file = take(bytes);
  const bool has_file = take_number(bytes) != 0;
  const std::string_view text = take(bytes);
  if (has_file) settings.text = text;
  for (std::size_t left = take_number(bytes); left > 0; --left) {
    const std::string_view name = take(bytes);
    settings.variables.emplace(name, take(bytes));
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

/// The oldest go where there are more than may be kept, but for that of the run that begins.
void make_room(SQLite::Database& db, const Digest& kept, std::int64_t max_bytes) {
  SQLite::Statement sizes(db, "SELECT id, length(files), digest = ? FROM suites ORDER BY id DESC");
  bind_digest(sizes, 1, kept);
  std::int64_t bytes = 0;
  std::vector<std::int64_t> going;
  while (sizes.executeStep()) {
    bytes += sizes.getColumn(1).getInt64();
    const bool is_kept = sizes.getColumn(2).getInt() != 0;
    if (bytes > max_bytes && !is_kept) going.push_back(sizes.getColumn(0).getInt64());
  }
  for (const std::int64_t id : going) {
    SQLite::Statement forget(db, "DELETE FROM suites WHERE id = ?");
    forget.bind(1, id);
    forget.exec();
  }
}

}  // namespace

void forget_suite(SQLite::Database& db, std::int64_t run_seq) {
  SQLite::Statement copy(
      db,
      "DELETE FROM suites WHERE digest = (SELECT digest FROM run_suites WHERE id = ?1) AND "
      "NOT EXISTS (SELECT 1 FROM run_suites AS other WHERE other.digest = suites.digest AND "
      "other.id <> ?1)");
  copy.bind(1, row_id(run_seq, 0));
  copy.exec();
}

Result<void> Ledger::note_suite(const std::string& run_id, const SuiteCopy& suite, std::int64_t max_bytes) {
  auto& db = database_->db;
  const std::string bytes = to_bytes(suite);
  const Digest digest = sha256(bytes);
  // Packed before the transaction, for which the run's results would have to wait.
  const auto files_if_missing = [&]() -> std::string {
    SQLite::Statement known(db, "SELECT " + row_checks::fits(row_checks::ledger_table("suites")) +
                                    " FROM suites WHERE digest = ?");
    bind_digest(known, 1, digest);
    const bool is_sound = known.executeStep() && known.getColumn(0).getInt() != 0;
    return is_sound ? std::string() : packed(bytes);
  };
  auto files = guarded(ledger_error, files_if_missing);
  if (!files) return fail(std::move(files.error()));
  return guarded_transaction(db, ledger_error, [&] {
    if (files->empty()) *files = files_if_missing();  // Another process may have removed them since.
    if (!files->empty()) {
      // A row that was damaged gives way to the files that are at hand.
      SQLite::Statement damaged(db, "DELETE FROM suites WHERE digest = ?");
      bind_digest(damaged, 1, digest);
      damaged.exec();
      SQLite::Statement insert(db, "INSERT INTO suites(digest, files) VALUES (?, ?)");
      bind_digest(insert, 1, digest);
      insert.bindNoCopy(2, files->data(), static_cast<int>(files->size()));
      insert.exec();
      make_room(db, digest, max_bytes);
    }
    SQLite::Statement of_run(db, "INSERT OR REPLACE INTO run_suites(id, digest) VALUES (?, ?)");
    of_run.bind(1, row_id(database_->run_seq(run_id), 0));
    bind_digest(of_run, 2, digest);
    of_run.exec();
  });
}

Result<std::shared_ptr<const SuiteCopy>> Ledger::suite_of(const std::string& run_id) const {
  return guarded(ledger_error, [&]() -> std::shared_ptr<const SuiteCopy> {
    SQLite::Statement of_run(database_->db, "SELECT digest FROM " + sound("run_suites") +
                                                " WHERE id = (SELECT " + row_id("seq", "0") +
                                                " FROM runs WHERE run_id = ?)");
    of_run.bind(1, run_id);
    if (!of_run.executeStep()) return nullptr;
    // Found by the index, and only then checked: the checksums of all copies would be long in coming.
    SQLite::Statement found(database_->db, "SELECT id FROM suites WHERE digest = ?");
    found.bind(1, of_run.getColumn(0).getBlob(), of_run.getColumn(0).getBytes());
    if (!found.executeStep()) return nullptr;
    SQLite::Statement query(database_->db, "SELECT files FROM " + sound("suites") + " WHERE id = ?");
    query.bind(1, found.getColumn(0).getInt64());
    if (!query.executeStep()) return nullptr;
    return std::make_shared<const SuiteCopy>(from_bytes(unpacked(bytes_in(query.getColumn(0)))));
  });
}

}  // namespace sluice
