#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sluice {

/// A column of a drawn table.
struct TableColumn {
  std::string heading;
  bool numeric = false;    ///< To the right.
  bool droppable = false;  ///< May be left out, last one first, when the table is too wide.
};

/// A table with box-drawing lines whose columns are as wide as what stands in them.
struct TextTable {
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;  ///< A printable cell for each column.
  bool whole_names = false;                    ///< Columns are dropped before the first one is cut short.
};

/// The table in at most `max_width` columns: the first column is cut short to 10, then droppable columns go,
/// then the first column is cut further, but never below 4. Each line ends with a line feed.
std::string drawn(const TextTable& table, std::size_t max_width);
/// `No room for cost, held in 80 columns`: the columns that go, in the table's order; empty if none does.
std::string no_room_for(const TextTable& table, std::size_t max_width);

/// A box of exactly `width` columns with a title and lines below it, cut where they do not fit.
std::string drawn_box(const std::string& title, const std::vector<std::string>& lines, std::size_t width);

}  // namespace sluice
