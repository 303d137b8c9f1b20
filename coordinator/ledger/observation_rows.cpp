#include "coordinator/ledger/observation_rows.hpp"

#include "coordinator/ledger/observation_checks.hpp"
#include "coordinator/ledger/row_checks.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <sqlite3.h>

namespace sluice {

std::string column_names() {
  std::string list;
  const Observation any;
  for_each_column(
      any, [&](const char* name, const auto&) { list += (list.empty() ? "" : ", ") + std::string(name); });
  return list;
}

const std::array<row_checks::Table, 2>& observation_checks() {
  static const std::string columns = column_names();
  static const std::array<row_checks::Table, 2> tables{
      row_checks::Table{"observations", columns, "id"},
      row_checks::Table{"prompts", "hash, text, last_used", "hash"}};
  return tables;
}

namespace {

/// Binds a row's values behind the first `bound` ones, and the checksum over them behind the last.
class Binder {
 public:
  Binder(SQLite::Statement& statement, int bound)
      : statement_(statement), sum_(observation_checks().front()), index_(bound) {}

  template <class T>
  void operator()(const char* /*name*/, const T& value) {
    ++index_;
    if constexpr (std::is_same_v<T, std::string>) {
      bind_text(value);
    } else if constexpr (std::is_same_v<T, JsonText>) {
      bind_text(value.text);
    } else if constexpr (std::is_same_v<T, std::optional<std::string>>) {
      value ? bind_text(*value) : bind_null();
    } else if constexpr (std::is_same_v<T, std::optional<double>>) {
      value ? bind_real(*value) : bind_null();
    } else {
      const auto number = static_cast<std::int64_t>(value);
      statement_.bind(index_, number);
      sum_.integer(number);
    }
  }
  void bind_sum() { statement_.bind(++index_, sum_.value()); }
  int bound() const { return index_; }

 private:
  void bind_text(const std::string& text) {
    statement_.bindNoCopy(index_, text);
    sum_.text(text);
  }
  void bind_real(double number) {
    statement_.bind(index_, number);
    sum_.real(number);
  }
  void bind_null() {
    statement_.bind(index_);
    sum_.null();
  }

  SQLite::Statement& statement_;
  row_checks::RowSum sum_;
  int index_;
};

class ColumnReader {
 public:
  explicit ColumnReader(SQLite::Statement& row) : row_(row) {}

  template <class T>
  void operator()(const char* /*name*/, T& value) {
    const SQLite::Column column = row_.getColumn(index_++);
    if constexpr (std::is_same_v<T, std::string>) {
      value = column.getString();
    } else if constexpr (std::is_same_v<T, JsonText>) {
      value.text = column.getString();
    } else if constexpr (std::is_same_v<T, std::optional<std::string>>) {
      if (column.isNull()) return value.reset();
      value = column.getString();
    } else if constexpr (std::is_same_v<T, std::optional<double>>) {
      if (column.isNull()) return value.reset();
      value = column.getDouble();
    } else {
      value = static_cast<T>(column.getInt64());
    }
  }

 private:
  SQLite::Statement& row_;
  int index_ = 0;
};

}  // namespace

std::string insertion(std::string_view on_conflict, std::size_t rows) {
  std::string row = "(";
  const Observation any;
  for_each_column(any, [&](const char*, const auto&) { row += "?, "; });
  row += "?)";
  std::string text = "INSERT OR " + std::string(on_conflict) + " INTO observations(" + column_names() +
                     ", checksum) VALUES ";
  for (std::size_t i = 0; i < rows; ++i) text += (i > 0 ? ", " : "") + row;
  return text;
}

bool insert_rows(SQLite::Statement& statement, std::span<const Observation> rows) {
  static_cast<void>(statement.tryReset());
  int bound = 0;
  for (const Observation& one : rows) {
    Binder binder(statement, bound);
    for_each_column(one, [&](const char* name, const auto& value) { binder(name, value); });
    binder.bind_sum();
    bound = binder.bound();
  }
  const int code = statement.tryExecuteStep();
  if (code == SQLITE_CONSTRAINT) return false;
  if (code != SQLITE_DONE) throw SQLite::Exception(statement.getErrorMsg(), code);
  return true;
}

std::string columns_with_new_status() {
  std::string list = column_names();
  return list.replace(list.find(", status,"), 9, ", ?1,");
}

void read_row(SQLite::Statement& row, Observation& into) {
  for_each_column(into, ColumnReader(row));
}

}  // namespace sluice
