#include "coordinator/display/text_table.hpp"

#include "coordinator/display/display.hpp"
#include "coordinator/display/terminal.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

std::string repeated(std::string_view piece, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += piece;
  return out;
}

// The columns that stay, and how wide each is.
struct Layout {
  std::vector<std::size_t> shown;
  std::vector<std::size_t> widths;
  bool key_above = false;  // The first column stands in lines of its own, above what it is the key of.

  // Each cell has a space on both sides and a line before it; one more line closes the row.
  std::size_t total() const {
    return std::accumulate(widths.begin(), widths.end(), std::size_t{1}) + 3 * widths.size();
  }
};

void shrink_first(Layout& layout, std::size_t max_width, std::size_t least) {
  if (layout.total() <= max_width || layout.widths.front() <= least) return;
  const std::size_t excess = layout.total() - max_width;
  layout.widths.front() = std::max(least, layout.widths.front() - std::min(excess, layout.widths.front()));
}

std::size_t widest_cell(const TextTable& table, std::size_t column) {
  std::size_t width = 0;
  for (const auto& row : table.rows) width = std::max(width, display_width(row[column]));
  return width;
}

/// `gpt-5-`, `mini/`, `short`: what a heading is broken into where it is too wide.
std::vector<std::string> pieces_of(const std::string& heading) {
  std::vector<std::string> pieces(1);
  for (const char c : heading) {
    pieces.back() += c;
    if (c == ' ' || c == '/' || c == '-' || c == '_') pieces.emplace_back();
  }
  return pieces;
}

std::vector<std::string> heading_lines(const std::string& heading, std::size_t width) {
  if (display_width(heading) <= width) return {heading};
  std::vector<std::string> lines(1);
  for (const std::string& piece : pieces_of(heading)) {
    const bool fits = display_width(lines.back() + piece) <= width + (piece.ends_with(' ') ? 1 : 0);
    fits || lines.back().empty() ? lines.back() += piece : lines.emplace_back(piece);
  }
  for (std::string& line : lines) {
    if (line.ends_with(' ')) line.pop_back();
  }
  return lines;
}

std::size_t least_width(const TextTable& table, std::size_t column) {
  std::size_t width = widest_cell(table, column);
  for (const std::string& piece : pieces_of(table.columns[column].heading))
    width = std::max(width, display_width(piece) - (piece.ends_with(' ') ? 1 : 0));
  return width;
}

/// Breaks headings, the widest one first, until the table fits or none can be broken any more.
void break_headings(const TextTable& table, Layout& layout, std::size_t max_width) {
  std::vector<std::size_t> least;
  for (const std::size_t column : layout.shown) least.push_back(least_width(table, column));
  while (layout.total() > max_width) {
    std::optional<std::size_t> widest;
    for (std::size_t i = 0; i < least.size(); ++i) {
      if (layout.widths[i] > least[i] && (!widest || layout.widths[i] > layout.widths[*widest])) widest = i;
    }
    if (!widest) break;
    --layout.widths[*widest];
  }
  for (std::size_t i = 0; i < least.size(); ++i) {
    std::size_t filled = widest_cell(table, layout.shown[i]);
    for (const auto& line : heading_lines(table.columns[layout.shown[i]].heading, layout.widths[i]))
      filled = std::max(filled, display_width(line));
    layout.widths[i] = std::min(layout.widths[i], filled);
  }
}

/// All columns in one table whose names are whole: with headings of several lines, or else with the first
/// column above the others. Then a second key is cut short, but not below `least_key`. Nothing where there is
/// no room even so.
std::optional<Layout> whole_layout(const TextTable& table, Layout layout, std::size_t max_width,
                                   std::size_t least_key) {
  break_headings(table, layout, max_width);
  if (layout.total() <= max_width || layout.shown.size() < 2) return layout;
  const std::size_t key_width = layout.widths.front() + 4;
  layout.key_above = true;
  layout.shown.erase(layout.shown.begin());
  layout.widths.erase(layout.widths.begin());
  for (std::size_t i = 0; i < layout.shown.size(); ++i)
    layout.widths[i] =
        std::max(display_width(table.columns[layout.shown[i]].heading), widest_cell(table, layout.shown[i]));
  break_headings(table, layout, max_width);
  if (layout.shown.front() < table.keys) shrink_first(layout, max_width, least_key);
  if (layout.total() > max_width) return std::nullopt;
  const std::size_t wanted = std::min(key_width, max_width);
  if (layout.total() < wanted) layout.widths.back() += wanted - layout.total();
  return layout;
}

/// Without the last column that may stand in a table below; false where none is left.
bool drop_column(const TextTable& table, Layout& layout) {
  for (std::size_t i = layout.shown.size(); i-- > 1;) {
    if (!table.columns[layout.shown[i]].droppable) continue;
    layout.shown.erase(layout.shown.begin() + static_cast<std::ptrdiff_t>(i));
    layout.widths.erase(layout.widths.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  return false;
}

Layout layout_of(const TextTable& table, std::size_t max_width) {
  Layout all;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    all.shown.push_back(column);
    all.widths.push_back(std::max(display_width(table.columns[column].heading), widest_cell(table, column)));
  }
  const bool keeps_names = table.whole_names && table.keys > 0;
  if (keeps_names) {
    if (auto whole = whole_layout(table, all, max_width, 24)) return *whole;
  }
  Layout layout = all;
  if (!table.whole_names) shrink_first(layout, max_width, 10);
  while (layout.total() > max_width && drop_column(table, layout)) {
  }
  // Names above the others leave room for more columns.
  if (keeps_names && layout.total() > max_width) {
    for (Layout fewer = all; drop_column(table, fewer);) {
      if (auto whole = whole_layout(table, fewer, max_width, 24)) return *whole;
    }
    if (auto whole = whole_layout(table, layout, max_width, 10)) return *whole;
  }
  shrink_first(layout, max_width, 4);
  return layout;
}

std::string rule(const Layout& layout, std::string_view left, std::string_view middle,
                 std::string_view right) {
  std::string out(left);
  for (std::size_t i = 0; i < layout.widths.size(); ++i) {
    if (i > 0) out += middle;
    out += repeated("─", layout.widths[i] + 2);
  }
  out += right;
  out += '\n';
  return out;
}

/// `colours`: by column; empty: none.
template <class CellOf>
std::string row_of(const TextTable& table, const Layout& layout, const CellOf& cell_of,
                   std::span<const std::string_view> colours = {}) {
  std::string out = "│";
  for (std::size_t i = 0; i < layout.shown.size(); ++i) {
    const std::size_t column = layout.shown[i];
    const std::string cell = truncated_to(cell_of(column), layout.widths[i]);
    const std::string padded = table.columns[column].numeric ? padded_left(cell, layout.widths[i])
                                                             : padded_right(cell, layout.widths[i]);
    out += ' ' + in_colour(colours.empty() ? "" : colours[column], padded) + " │";
  }
  out += '\n';
  return out;
}

std::string headings(const TextTable& table, const Layout& layout) {
  std::vector<std::vector<std::string>> lines(table.columns.size());
  std::size_t height = 1;
  for (std::size_t i = 0; i < layout.shown.size(); ++i) {
    auto& own = lines[layout.shown[i]];
    own = heading_lines(table.columns[layout.shown[i]].heading, layout.widths[i]);
    height = std::max(height, own.size());
  }
  std::string out;
  for (std::size_t line = 0; line < height; ++line) {
    out += row_of(table, layout, [&](std::size_t column) {
      return line < lines[column].size() ? lines[column][line] : std::string();
    });
  }
  return out;
}

/// The key of the rows that follow, over the whole width.
std::string key_lines(const std::string& key, const Layout& layout) {
  std::string out;
  if (key.empty()) return out;
  const std::size_t inner = layout.total() - 4;
  for (const std::string& line : wrapped(key, inner)) out += "│ " + padded_right(line, inner) + " │\n";
  return out;
}

std::size_t height_of(const std::vector<GridCell>& row) {
  std::size_t height = 1;
  for (const GridCell& cell : row) height = std::max(height, cell.size());
  return height;
}

std::string grid_row(const std::vector<GridCell>& row, const Layout& layout) {
  const GridLine none;
  std::string out;
  for (std::size_t line = 0; line < height_of(row); ++line) {
    out += "│";
    for (std::size_t i = 0; i < layout.widths.size(); ++i) {
      const GridLine& one = line < row[i].size() ? row[i][line] : none;
      const std::string padded = padded_right(one.text, layout.widths[i]);
      const std::size_t coloured = std::min(one.coloured, one.text.size());
      out += ' ' + in_colour(one.colour, std::string_view(padded).substr(0, coloured)) +
             padded.substr(coloured) + " │";
    }
    out += '\n';
  }
  return out;
}

/// What has no place in the layout, with what its rows are of; nothing where all has.
std::optional<TextTable> rest_of(const TextTable& table, const Layout& layout) {
  if (table.keys == 0) return std::nullopt;
  TextTable rest;
  rest.keys = table.keys;
  rest.whole_names = table.whole_names;
  std::vector<std::size_t> taken;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (column >= table.keys && std::ranges::binary_search(layout.shown, column)) continue;
    taken.push_back(column);
    rest.columns.push_back(table.columns[column]);
  }
  if (taken.size() <= table.keys) return std::nullopt;
  rest.columns[table.keys].droppable = false;  // One more has its place with each table.
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    std::vector<std::string> cells;
    for (const std::size_t column : taken) cells.push_back(table.rows[row][column]);
    const auto from = cells.begin() + static_cast<std::ptrdiff_t>(table.keys);
    if (std::all_of(from, cells.end(), [](const std::string& cell) { return cell.empty(); })) continue;
    rest.rows.push_back(std::move(cells));
    if (table.colours.empty()) continue;
    auto& colours = rest.colours.emplace_back();
    for (const std::size_t column : taken) colours.push_back(table.colours[row][column]);
  }
  return rest;
}

}  // namespace

std::string drawn(const TextTable& table, std::size_t max_width) {
  const Layout layout = layout_of(table, max_width);
  std::string out = rule(layout, "╭", "┬", "╮");
  out += headings(table, layout);
  out += rule(layout, "├", layout.key_above ? "┴" : "┼", "┤");
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto& row = table.rows[i];
    const bool has_same_key = i > 0 && table.keys > 1 && row.front() == table.rows[i - 1].front();
    if (layout.key_above && !has_same_key) out += key_lines(row.front(), layout);
    const std::span<const std::string_view> colours =
        table.colours.empty() ? std::span<const std::string_view>() : table.colours[i];
    out += row_of(
        table, layout, [&](std::size_t column) { return row[column]; }, colours);
  }
  out += rule(layout, "╰", "┴", "╯");
  if (const auto rest = rest_of(table, layout)) out += drawn(*rest, max_width);
  return out;
}

std::string drawn_grid(const std::vector<GridCell>& headings, const std::vector<std::vector<GridCell>>& rows,
                       const std::vector<std::size_t>& widths) {
  Layout layout;
  layout.widths = widths;
  const std::string between = rule(layout, "├", "┼", "┤");
  const bool is_ruled =
      std::ranges::any_of(rows, [](const std::vector<GridCell>& row) { return height_of(row) > 1; });
  std::string out = rule(layout, "╭", "┬", "╮") + grid_row(headings, layout) + between;
  for (const std::vector<GridCell>& row : rows) {
    if (is_ruled && &row != rows.data()) out += between;
    out += grid_row(row, layout);
  }
  return out + rule(layout, "╰", "┴", "╯");
}

std::string drawn_box(const std::string& title, const std::vector<std::string>& lines, std::size_t width) {
  const std::size_t inner = width - 4;
  const auto line = [&](std::string_view text) {
    return "│ " + padded_right(truncated_to(text, inner), inner) + " │\n";
  };
  std::string out =
      "╭" + repeated("─", inner + 2) + "╮\n" + line(title) + "├" + repeated("─", inner + 2) + "┤\n";
  for (const auto& text : lines) out += line(text);
  out += "╰" + repeated("─", inner + 2) + "╯\n";
  return out;
}

}  // namespace sluice
