#pragma once

#include "coordinator/facts/observation.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <SQLiteCpp/SQLiteCpp.h>

namespace sluice {

/// How observations become rows of their table, and rows observations.

/// `id, timestamp, ...`: the table's columns but for the checksum.
std::string column_names();
/// The same as values of an update that sets the status to `?1`.
std::string columns_with_new_status();
/// The statement that inserts so many rows. `on_conflict` is SQLite's: OR FAIL spares the copies of pages
/// with which a statement of several rows would undo what it has done.
std::string insertion(std::string_view on_conflict, std::size_t rows);
/// Runs such a statement. False where one of the rows is there already: those before it are inserted. Throws
/// SQLite::Exception.
bool insert_rows(SQLite::Statement& statement, std::span<const Observation> rows);
/// Reads the first columns of a row, which are those of column_names. The system prompt is none of them.
void read_row(SQLite::Statement& row, Observation& into);

}  // namespace sluice
