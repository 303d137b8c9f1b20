#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <SQLiteCpp/SQLiteCpp.h>

/// SQLite notices damage to its pages' structure, and none to what rows hold. Rows that a result, a score or
/// a gate is read from therefore carry a checksum (a column of that name) over their table's name and
/// columns, an XXH3 of 64 bits: against damage, not against whoever writes to the file. A row without one
/// (null) is from before there were any.
namespace sluice::row_checks {

struct Table {
  std::string_view name;
  std::string_view columns;  ///< Those that the checksum covers, in its order.
  std::string_view key;      ///< The primary key's.
  /// Few rows: a trigger of the connection seals what is written. Elsewhere each statement does (`sum`).
  bool is_sealed_by_trigger = false;
  /// Columns that came later, all in one version. The checksum covers them too; that of a row from before
  /// does not, and is known by its fitting the others alone.
  std::string_view later_columns{};
};

/// Of the ledger; what is not here says whose cache has which entry, and entries have digests of their own.
std::span<const Table> ledger_tables();
const Table& ledger_table(std::string_view name);  ///< REQUIRES: there is one.

/// The checksum of a row whose values are at hand: what `sum` is for SQL, for less. One at a time in a
/// thread.
class RowSum {
 public:
  explicit RowSum(const Table& table);
  /// The columns' values, in the table's order and as SQLite keeps them.
  void null();
  void integer(std::int64_t value);
  void real(double value);
  void text(std::string_view value);
  std::int64_t value() const;
};

/// Makes `row_sum` and `row_fits` known to the connection, which all of what follows needs.
void add_functions(SQLite::Database& db);
/// The checksum of these values, as an expression: of the table's columns, or what stands for them.
std::string sum(const Table& table, std::string_view values);
/// True of a row that is as it was written, as an expression.
std::string fits(const Table& table);
/// The table as the file has it: one of an earlier version lacks the later columns.
Table as_it_is(SQLite::Database& db, Table table);
/// Stands for the table in a FROM clause; the name is the table's own. Reading a row that is not as it was
/// written is an error which names it. Of `runs`, those that prune removes are left out. A column that no
/// index finds is to be compared by IS: of `column = ?` SQLite concludes that it may hand the checksum what
/// the question mark stands for.
std::string sound(const Table& table);
/// Adds the column where a table that is there lacks it.
void add_columns(SQLite::Database& db, std::span<const Table> tables);
/// Has the connection seal what it writes to the tables that say so.
void add_triggers(SQLite::Database& db, std::span<const Table> tables);

bool has_column(SQLite::Database& db, std::string_view table, std::string_view column);
/// Whether the table has all columns that are checked, and the checksums: one of an earlier version lacks
/// some.
bool is_checked(SQLite::Database& db, const Table& table);

}  // namespace sluice::row_checks
