#include "coordinator/ledger/read_only.hpp"

#include "common/files.hpp"
#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/file_swap.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/ledger/schema.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <SQLiteCpp/Backup.h>

namespace sluice {
namespace {

/// Columns in this order: blobs, then a text.
void copy_rows(SQLite::Database& from, const std::string& select, SQLite::Database& to,
               const std::string& insert) {
  SQLite::Statement rows(from, select);
  SQLite::Statement copy(to, insert);
  while (rows.executeStep()) {
    const int text = rows.getColumnCount() - 1;
    for (int i = 0; i < text; ++i) {
      const auto blob = rows.getColumn(i);
      copy.bind(i + 1, blob.getBlob(), blob.getBytes());
    }
    copy.bind(text + 1, rows.getColumn(text).getString());
    copy.exec();
    copy.reset();
  }
}

/// SQLite's name for a file that is only read here, and written elsewhere.
std::string changing_name(const std::filesystem::path& file) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string name = "file:";
  for (const char c : file.string()) {
    if (c != '%' && c != '?' && c != '#') {
      name += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    name += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return name + "?mode=ro";
}

bool has_log(const std::filesystem::path& file) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file.string() + "-wal", error);
  return !error && bytes > 0;
}

/// A run that was killed has left its log of commits, and a copy or the end of the machine took the index of
/// it: SQLite would have to make one beside it.
bool needs_an_index(const std::filesystem::path& file) {
  std::error_code none;
  return has_log(file) && !std::filesystem::exists(file.string() + "-shm", none) &&
         is_read_only_folder(file.parent_path());
}

/// Removed with all in it.
class TemporaryCopy {
 public:
  /// Of the file and its log. Throws std::filesystem::filesystem_error.
  explicit TemporaryCopy(const std::filesystem::path& file) {
    namespace fs = std::filesystem;
    std::string pattern = (fs::temp_directory_path() / "sluice-ledger-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw fs::filesystem_error("no folder can be made", pattern,
                                 std::error_code(errno, std::generic_category()));
    folder_ = pattern;
    try {
      for (const char* ending : {"", "-wal"}) {
        fs::copy_file(file.string() + ending, this->file().string() + ending);
        fs::permissions(this->file().string() + ending, fs::perms::owner_read | fs::perms::owner_write);
      }
    } catch (...) {
      remove();
      throw;
    }
  }
  TemporaryCopy(const TemporaryCopy&) = delete;
  TemporaryCopy& operator=(const TemporaryCopy&) = delete;
  ~TemporaryCopy() { remove(); }

  std::filesystem::path file() const { return folder_ / "ledger.db"; }

 private:
  void remove() const {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::filesystem::path folder_;
};

}  // namespace

std::string read_only_name(const std::filesystem::path& file) {
  return changing_name(file) + (has_log(file) ? "" : "&immutable=1");
}

std::string name_beside_writers(const std::filesystem::path& file) {
  return is_read_only_folder(file.parent_path()) ? read_only_name(file) : changing_name(file);
}

Result<Ledger> Ledger::open_read_only(const std::filesystem::path& file) {
  return open_as(read_only_name(file), file, Pins::settled);
}

Result<Ledger> Ledger::open_beside_runs(const std::filesystem::path& file) {
  return open_as(name_beside_writers(file), file, Pins::as_they_are);
}

Result<Ledger> Ledger::open_as(const std::string& name, const std::filesystem::path& file, Pins pins) {
  if (auto may = check_may_open(file); !may) return fail(may.error());
  try {
    std::optional<TemporaryCopy> files;
    if (needs_an_index(file)) files.emplace(file);
    auto database = files ? std::make_unique<Database>(files->file().string(), SQLite::OPEN_READWRITE)
                          : std::make_unique<Database>(name, SQLite::OPEN_READONLY | SQLite::OPEN_URI);
    // Reading pins begins with those that runs have left unsettled.
    if (files || !is_up_to_date(database->db) || (pins == Pins::settled && database->has_unsettled_pins())) {
      auto copy = std::make_unique<Database>("");  // SQLite's name for a file that it removes by itself.
      SQLite::Backup(copy->db, database->db).executeStep();
      database = std::move(copy);
      if (const auto upgrade = bring_up_to_date(database->db, file); !upgrade) return fail(upgrade.error());
      database->prepare();
      SQLite::Transaction transaction(database->db);
      database->settle_pins();
      transaction.commit();
      database->db.exec("PRAGMA query_only = ON");  // A change would be lost without a word.
    } else {
      database->prepare();
    }
    database->home = file.parent_path();
    return Ledger(std::move(database));
  } catch (const SQLite::Exception& error) {
    return fail(ledger_error(file.string() + ": " + error.what()));
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(ledger_error(file.string() +
                             " has a log that cannot be read where it is, and no copy can be " +
                             "made: " + error.code().message() + "; set TMPDIR"));
  }
}

Result<void> Ledger::copy_pins_from(const Ledger& other) {
  return guarded(ledger_error, [&] {
    auto& from = other.database_->db;
    auto& to = database_->db;
    SQLite::Transaction transaction(to, SQLite::TransactionBehavior::IMMEDIATE);
    copy_rows(from, "SELECT key, answer, holder FROM " + sound("pins"), to, upsert_of_pin);
    copy_rows(from, "SELECT key, holder FROM embeddings", to,
              "INSERT OR REPLACE INTO embeddings(key, holder) VALUES (?, ?)");
    copy_rows(from, "SELECT key, holder FROM votes", to,
              "INSERT OR REPLACE INTO votes(key, holder) VALUES (?, ?)");
    transaction.commit();
  });
}

}  // namespace sluice
