#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A column of a drawn table.
struct TableColumn {
  std::string heading;
  bool numeric = false;    ///< To the right.
  bool droppable = false;  ///< May go into a table below, last one first, when this one is too wide.
};

/// A table with box-drawing lines whose columns are as wide as what stands in them.
struct TextTable {
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;  ///< A printable cell for each column.
  /// By row and column what begins a cell's colour, which ends with the cell; empty: there is none.
  std::vector<std::vector<std::string_view>> colours{};
  /// Headings are broken, the first column goes above the others, once for rows of the same, a second key is
  /// cut short to 24, and then columns go, before the first is cut short.
  bool whole_names = false;
  /// So many columns say what a row is of. 0: of a long list, where what goes is gone.
  std::size_t keys = 1;
};

/// The table in at most `max_width` columns: the first column is cut short to 10, then droppable columns go,
/// then the first column is cut further, but never below 4. What went stands in a table of its own below,
/// behind the key columns. Each line ends with a line feed.
std::string drawn(const TextTable& table, std::size_t max_width);

/// A line of a cell of several.
struct GridLine {
  std::string text;           ///< Printable.
  std::string_view colour{};  ///< What begins the colour of its first `coloured` bytes; empty: none.
  std::size_t coloured = SIZE_MAX;
};
using GridCell = std::vector<GridLine>;

/// A table with cells of several lines, below a row of headings. A line stands between its rows where one is
/// higher than a line. Each row has a cell for each of `widths`, which are as many columns as it takes.
std::string drawn_grid(const std::vector<GridCell>& headings, const std::vector<std::vector<GridCell>>& rows,
                       const std::vector<std::size_t>& widths);

/// A box of exactly `width` columns with a title and lines below it, cut where they do not fit.
std::string drawn_box(const std::string& title, const std::vector<std::string>& lines, std::size_t width);

}  // namespace sluice
