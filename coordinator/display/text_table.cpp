#include "coordinator/display/text_table.hpp"

#include "coordinator/display/display.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>

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

Layout layout_of(const TextTable& table, std::size_t max_width) {
  Layout layout;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    std::size_t width = display_width(table.columns[column].heading);
    for (const auto& row : table.rows) width = std::max(width, display_width(row[column]));
    layout.shown.push_back(column);
    layout.widths.push_back(width);
  }
  if (!table.whole_names) shrink_first(layout, max_width, 10);
  for (std::size_t column = table.columns.size(); column-- > 1 && layout.total() > max_width;) {
    if (!table.columns[column].droppable) continue;
    layout.shown.erase(layout.shown.begin() + static_cast<std::ptrdiff_t>(column));
    layout.widths.erase(layout.widths.begin() + static_cast<std::ptrdiff_t>(column));
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

template <class CellOf>
std::string row_of(const TextTable& table, const Layout& layout, const CellOf& cell_of) {
  std::string out = "│";
  for (std::size_t i = 0; i < layout.shown.size(); ++i) {
    const std::string cell = truncated_to(cell_of(layout.shown[i]), layout.widths[i]);
    const bool right = table.columns[layout.shown[i]].numeric;
    out += ' ' + (right ? padded_left(cell, layout.widths[i]) : padded_right(cell, layout.widths[i])) + " │";
  }
  out += '\n';
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
  for (const auto& row : table.rows) {
    auto& cells = rest.rows.emplace_back();
    for (const std::size_t column : taken) cells.push_back(row[column]);
    const auto from = cells.begin() + static_cast<std::ptrdiff_t>(table.keys);
    if (std::all_of(from, cells.end(), [](const std::string& cell) { return cell.empty(); }))
      rest.rows.pop_back();
  }
  return rest;
}

}  // namespace

std::string drawn(const TextTable& table, std::size_t max_width) {
  const Layout layout = layout_of(table, max_width);
  std::string out = rule(layout, "╭", "┬", "╮");
  out += row_of(table, layout, [&](std::size_t column) { return table.columns[column].heading; });
  out += rule(layout, "├", "┼", "┤");
  for (const auto& row : table.rows) {
    out += row_of(table, layout, [&](std::size_t column) { return row[column]; });
  }
  out += rule(layout, "╰", "┴", "╯");
  if (const auto rest = rest_of(table, layout)) out += drawn(*rest, max_width);
  return out;
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
