#include "coordinator/ledger/file_check.hpp"

#include "common/defaults.hpp"
#include "common/documents/json_depth.hpp"
#include "common/files.hpp"
#include "common/text/text.hpp"
#include "coordinator/facts/observation.hpp"
#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/defaults.hpp"
#include "coordinator/ledger/observation_checks.hpp"
#include "coordinator/ledger/read_only.hpp"
#include "coordinator/ledger/schema.hpp"
#include "coordinator/ledger/sqlite_damage.hpp"

#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fcntl.h>

namespace sluice {
namespace {

using Tables = std::span<const row_checks::Table>;

bool has_table(SQLite::Database& db, std::string_view name) {
  SQLite::Statement query(db, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
  query.bind(1, std::string(name));
  return query.executeStep();
}

void check_pages(SQLite::Database& db, std::vector<std::string>& damage) {
  SQLite::Statement query(db, "PRAGMA integrity_check(" + std::to_string(defaults::named_damages) + ")");
  while (query.executeStep()) {
    const std::string line = query.getColumn(0).getString();
    if (line != "ok") damage.push_back("its pages: " + line);
  }
}

/// A file of an earlier version has tables without checksums, or none of that name.
void check_rows(SQLite::Database& db, const row_checks::Table& table, std::vector<std::string>& damage) {
  if (!row_checks::has_column(db, table.name, "checksum")) return;
  SQLite::Statement query(
      db, "SELECT count(*), min(" + std::string(table.key.substr(0, table.key.find(','))) + ") FROM " +
              std::string(table.name) + " WHERE NOT " + row_checks::fits(row_checks::as_it_is(db, table)));
  query.executeStep();
  const auto count = query.getColumn(0).getInt64();
  if (count == 0) return;
  const auto first = query.getColumn(1);
  damage.push_back("its table " + std::string(table.name) + ": " + std::to_string(count) +
                   (count == 1 ? " row whose checksum does" : " rows whose checksums do") + " not fit" +
                   (first.isInteger() ? ", at " + std::to_string(first.getInt64()) : std::string()));
}

/// Columns of JSON. Rows have a `run_id`; `case_id` is the expression for what else names them.
struct JsonColumns {
  const row_checks::Table& table;
  std::string case_id;
  std::vector<std::string> names;
};

JsonColumns json_of_ledger() {
  return {row_checks::ledger_table("runs"), "''", {"settings", "flags"}};
}

JsonColumns json_of_observations() {
  JsonColumns json{observation_checks().front(), "case_id", {}};
  const Observation any;
  for_each_column(any, [&](const char* name, const auto& value) {
    if (std::is_same_v<std::decay_t<decltype(value)>, JsonText>) json.names.emplace_back(name);
  });
  return json;
}

/// Readers take such a column for no JSON, or say that it is damaged (parse_tree). Of a row whose checksum
/// does not fit, that is said.
void check_nesting(SQLite::Database& db, const JsonColumns& json, std::vector<std::string>& nested) {
  const std::string table(json.table.name);
  std::vector<std::string> names;
  std::string selected = "SELECT run_id, " + json.case_id;
  for (const std::string& name : json.names) {
    if (!row_checks::has_column(db, table, name)) continue;  // Of a file of an earlier version.
    selected += ", " + name;
    names.push_back(name);
  }
  if (names.empty()) return;
  const bool has_sums = row_checks::has_column(db, table, "checksum");
  SQLite::Statement query(
      db, selected + " FROM " + table +
              (has_sums ? " WHERE " + row_checks::fits(row_checks::as_it_is(db, json.table)) : ""));
  std::size_t more = 0;
  while (query.executeStep()) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!nests_deeper_than(bytes_in(query.getColumn(static_cast<int>(i) + 2)), defaults::max_checked_depth))
        continue;
      if (nested.size() == defaults::named_damages) {
        ++more;
        continue;
      }
      const std::string case_id = excerpt(query.getColumn(1).getString(), defaults::quoted_bytes);
      nested.push_back("its table " + table + ": the JSON of run " +
                       query.getColumn(0).getString().substr(0, 8) +
                       (case_id.empty() ? "" : ", case " + case_id) + " in the column " + names[i] +
                       " nests deeper than " + std::to_string(defaults::max_checked_depth) +
                       " levels, and is read as none");
    }
  }
  if (more > 0) nested.push_back("its table " + table + ": the same in " + std::to_string(more) + " more");
}

Error unreadable(const std::filesystem::path& file, const std::string& why) {
  return {Reason::ledger_failed,
          "cannot look at " + file.string() + ": " + why + "; check the permissions of SLUICE_HOME"};
}

/// `problem`: what makes the file none of ours, if anything.
Result<CheckedFile> check_file(const std::filesystem::path& file, Tables tables, const JsonColumns& json,
                               std::string (*problem)(SQLite::Database& db)) {
  CheckedFile checked;
  if (auto log = log_damage(file); !log.empty()) checked.damage.push_back(std::move(log));
  try {
    auto db = open_database_read_only(file, OtherWriters::none, defaults::ledger_busy_timeout_ms);
    if (auto foreign = problem(db); !foreign.empty()) {
      checked.is_foreign = true;
      checked.damage.push_back(std::move(foreign));
      return checked;
    }
    check_pages(db, checked.damage);
    for (const auto& table : tables) check_rows(db, table, checked.damage);
    check_nesting(db, json, checked.nested);
  } catch (const SQLite::Exception& error) {
    if (!is_damage(error)) return fail(unreadable(file, error.what()));
    checked.damage.push_back(std::string("it cannot be read: ") + error.what());
  }
  return checked;
}

int pragma_of(SQLite::Database& db, const char* name) {
  return db.execAndGet(std::string("PRAGMA ") + name).getInt();
}

std::string no_ledger_of_ours(SQLite::Database& db) {
  const int version = pragma_of(db, "user_version");
  if (version < 0 || (version == 0 && !has_table(db, "runs")))
    return "it is a database of something else, and no run ledger";
  if (version > schema_version) {
    return "it has version " + std::to_string(version) + ", which this sluice does not know: a newer one " +
           "wrote it, or it is damaged";
  }
  return {};
}

std::string no_observations_of_ours(SQLite::Database& db) {
  if (pragma_of(db, "application_id") == observations_application_id) return {};
  return "it is a database of something else, and holds no observations";
}

/// A first byte can be read: what else is wrong is damage.
Result<void> check_access(const std::filesystem::path& file) {
  const FileDescriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened.is_open()) return fail(unreadable(file, unreadable_file(errno).message));
  if (auto regular = check_regular(opened); !regular) return fail(unreadable(file, regular.error().message));
  return {};
}

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = (number << 8) | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

/// SQLite's sum over pairs of words, which goes on over the whole log.
struct LogSum {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  bool is_big_endian = false;

  void add(std::string_view bytes) {
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      first += word(bytes, at) + second;
      second += word(bytes, at + 4) + first;
    }
  }
  bool stands_at(std::string_view bytes, std::size_t at) const {
    return big_endian(bytes, at) == first && big_endian(bytes, at + 4) == second;
  }

 private:
  std::uint32_t word(std::string_view bytes, std::size_t at) const {
    const std::uint32_t number = big_endian(bytes, at);
    return is_big_endian ? number : __builtin_bswap32(number);
  }
};

}  // namespace

std::string log_damage(const std::filesystem::path& file) {
  constexpr std::size_t header_bytes = 32;
  constexpr std::size_t frame_header_bytes = 24;
  const auto log = read_file(file.string() + "-wal", defaults::max_checked_log_bytes);
  if (!log || log->empty()) return {};
  const std::string_view bytes = *log;
  if (bytes.size() < header_bytes) return {};  // Its process died as it began it.
  LogSum sum;
  sum.is_big_endian = (big_endian(bytes, 0) & 1) != 0;
  sum.add(bytes.substr(0, 24));
  if (!sum.stands_at(bytes, 24)) return "the first bytes of its log of commits (-wal) are damaged";
  const std::string_view salts = bytes.substr(16, 8);
  const std::size_t page_bytes = big_endian(bytes, 8);
  const std::size_t frame_bytes = frame_header_bytes + page_bytes;
  // What a frame of an earlier round of the log left has other salts; one that ends a commit names a size.
  const auto ends_commit = [&](std::size_t at) {
    return bytes.substr(at + 8, 8) == salts && big_endian(bytes, at + 4) != 0;
  };
  std::size_t number = 0;
  for (std::size_t at = header_bytes; at + frame_bytes <= bytes.size(); at += frame_bytes) {
    ++number;
    const std::string_view frame = bytes.substr(at, frame_bytes);
    sum.add(frame.substr(0, 8));
    sum.add(frame.substr(frame_header_bytes));
    if (frame.substr(8, 8) == salts && sum.stands_at(frame, 16)) continue;
    // Without a commit from here on it is what a killed process had not committed.
    for (std::size_t later = at; later + frame_bytes <= bytes.size(); later += frame_bytes) {
      if (ends_commit(later))
        return "its log of commits (-wal) is damaged at frame " + std::to_string(number) +
               ": what it held from there on is lost";
    }
    return {};
  }
  return {};
}

Result<CheckedFile> check_ledger_file(const std::filesystem::path& file) {
  if (auto access = check_access(file); !access) return fail(access.error());
  return check_file(file, row_checks::ledger_tables(), json_of_ledger(), no_ledger_of_ours);
}

Result<CheckedFile> check_observations_file(const std::filesystem::path& file) {
  if (auto access = check_access(file); !access) return fail(access.error());
  return check_file(file, observation_checks(), json_of_observations(), no_observations_of_ours);
}

}  // namespace sluice
