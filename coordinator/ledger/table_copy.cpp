#include "coordinator/ledger/table_copy.hpp"

#include "common/next_readable.hpp"
#include "coordinator/ledger/sqlite_damage.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include <sqlite3.h>

namespace sluice {
namespace {

using Walk = CopiedTable::Walk;

std::vector<std::string> columns_in(SQLite::Database& db, const std::string& table) {
  SQLite::Statement query(db, "SELECT name FROM pragma_table_info(?)");
  query.bind(1, table);
  std::vector<std::string> names;
  while (query.executeStep()) names.push_back(query.getColumn(0).getString());
  return names;
}

void copy_value(const SQLite::Column& value, SQLite::Statement& to, int at) {
  if (value.isInteger()) return to.bind(at, value.getInt64());
  if (value.isFloat()) return to.bind(at, value.getDouble());
  if (value.isText()) return to.bind(at, value.getString());
  if (value.isBlob()) return to.bind(at, value.getBlob(), value.getBytes());
  to.bind(at);
}

class Copy {
 public:
  Copy(SQLite::Database& from, SQLite::Database& to, const CopiedTable& table)
      : from_(from), to_(to), table_(table) {
    const auto there = columns_in(from, table.name);
    std::string columns;
    std::string marks;
    for (const std::string& name : columns_in(to, table.name)) {
      if (std::ranges::find(there, name) == there.end()) continue;
      columns += (columns.empty() ? "" : ", ") + name;
      marks += marks.empty() ? "?" : ", ?";
    }
    if (columns.empty()) return;
    const bool checked = table.check && std::ranges::find(there, std::string("checksum")) != there.end();
    select_ = "SELECT " +
              (checked ? row_checks::fits(row_checks::as_it_is(from, *table.check)) : std::string("1")) +
              ", " + table.key + ", " + columns + " FROM " + table.name;
    insert_.emplace(
        to, "INSERT INTO " + table.name + "(" + columns + ") VALUES (" + marks + ") ON CONFLICT DO NOTHING");
  }

  TableCopy run() {
    if (!insert_) return done_;
    table_.walk == Walk::ends ? copy_from_both_ends() : copy_in_order();
    return std::move(done_);
  }

 private:
  std::uint64_t last() const {
    return table_.walk == Walk::numbers ? std::numeric_limits<std::int64_t>::max()
                                        : std::numeric_limits<std::uint64_t>::max();
  }

  void copy_from_both_ends() {
    if (walk(query_from({}, ""))) return;
    ++done_.lost.places;
    walk(query_from({}, " DESC"));
  }

  /// Each round takes a verified row with a greater key than those before it, so that this ends whatever the
  /// pages are like.
  void copy_in_order() {
    std::optional<std::uint64_t> place = 0;
    while (place && !walk(query_from(*place, ""))) {
      const std::uint64_t failed = next_place_;
      const auto is_readable = [this](std::uint64_t at) { return begins_sound(at); };
      place = is_readable(failed) ? failed : next_readable(failed, last(), is_readable);
      ++done_.lost.places;
      if (place != failed) lose(failed, place ? *place - 1 : last());
    }
    settle_doubtful(last());
  }

  SQLite::Statement query_from(std::optional<std::uint64_t> place, const std::string& order) {
    const std::string by = place ? " WHERE " + table_.key + " >= ? ORDER BY " + table_.key : " ORDER BY 2";
    SQLite::Statement query(from_, select_ + by + order);
    if (!place) return query;
    if (table_.walk == Walk::numbers) {
      query.bind(1, static_cast<std::int64_t>(*place));
    } else {
      std::string prefix;
      for (int shift = 56; shift >= 0; shift -= 8) prefix += static_cast<char>(*place >> shift);
      query.bind(1, prefix.data(), static_cast<int>(prefix.size()));
    }
    return query;
  }

  /// Whether what comes from this place on begins with a row that verifies, or is nothing.
  bool begins_sound(std::uint64_t place) {
    try {
      auto query = query_from(place, "");
      return !query.executeStep() || (verifies(query) && place_of(query.getColumn(1)) >= place);
    } catch (const SQLite::Exception& error) {
      if (!is_damage(error)) throw;
      return false;
    }
  }

  /// False where the walk came upon what cannot be read; next_place_ is then behind the last row that
  /// verified.
  bool walk(SQLite::Statement query) {
    while (true) {
      try {
        if (!query.executeStep()) return true;
      } catch (const SQLite::Exception& error) {
        if (!is_damage(error)) throw;
        return false;
      }
      take(query);
    }
  }

  bool verifies(SQLite::Statement& row) const {
    const bool is_no_number = table_.walk == Walk::numbers && row.getColumn(1).getInt64() < 0;
    return row.getColumn(0).getInt() != 0 && !is_no_number;
  }

  std::uint64_t place_of(const SQLite::Column& key) const {
    if (table_.walk == Walk::numbers) return static_cast<std::uint64_t>(key.getInt64());
    char first[8] = {};
    if (key.getBytes() > 0)
      std::memcpy(first, key.getBlob(),
                  std::min<std::size_t>(sizeof first, static_cast<std::size_t>(key.getBytes())));
    std::uint64_t place = 0;
    for (const char byte : first) place = (place << 8) | static_cast<unsigned char>(byte);
    return place;
  }

  void take(SQLite::Statement& row) {
    if (!verifies(row)) {
      ++done_.lost.count;
      if (table_.walk == Walk::numbers) doubtful_.push_back(row.getColumn(1).getInt64());
      return;
    }
    const bool is_taken = insert(row);
    if (is_taken) ++done_.rows;
    if (table_.walk == Walk::ends) {
      if (!is_taken) ++done_.lost.count;
      return;
    }
    const std::uint64_t place = place_of(row.getColumn(1));
    const bool is_in_order = place >= next_place_;
    if (is_in_order) {
      if (place > 0) settle_doubtful(place - 1);
      if (place < last()) next_place_ = place + 1;
    }
    // Out of order it may be one that was there before: damaged pages can lead to it twice.
    if (is_taken || !is_in_order) return;
    ++done_.lost.count;
    lose(place, place);
  }

  /// False for a row that breaks a rule of the table, which is as good as damaged, or is there already.
  bool insert(SQLite::Statement& row) {
    static_cast<void>(insert_->tryReset());
    for (int i = 2; i < row.getColumnCount(); ++i) copy_value(row.getColumn(i), *insert_, i - 1);
    const int code = insert_->tryExecuteStep();
    if (code == SQLITE_DONE) return insert_->getChanges() > 0;
    if ((code & 0xff) == SQLITE_CONSTRAINT || (code & 0xff) == SQLITE_MISMATCH) return false;
    throw SQLite::Exception(to_.getHandle(), code);
  }

  /// The rows since the last one that verified lie between it and `end`, whatever they say.
  void settle_doubtful(std::uint64_t end) {
    for (const std::int64_t key : doubtful_) {
      const auto place = static_cast<std::uint64_t>(key);
      const bool is_believed = place >= next_place_ && place <= end;
      is_believed ? lose(place, place) : lose(next_place_, end);
    }
    doubtful_.clear();
  }

  void lose(std::uint64_t first, std::uint64_t end) {
    if (first <= end)
      done_.lost.stretches.emplace_back(static_cast<std::int64_t>(first), static_cast<std::int64_t>(end));
  }

  SQLite::Database& from_;
  SQLite::Database& to_;
  const CopiedTable& table_;
  std::string select_;
  std::optional<SQLite::Statement> insert_;
  std::uint64_t next_place_ = 0;        ///< Behind the greatest key that verified.
  std::vector<std::int64_t> doubtful_;  ///< What damaged rows behind that one have for a key.
  TableCopy done_;
};

}  // namespace

TableCopy copy_table(SQLite::Database& from, SQLite::Database& to, const CopiedTable& table) {
  return Copy(from, to, table).run();
}

}  // namespace sluice
