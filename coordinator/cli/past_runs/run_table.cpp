#include "coordinator/cli/past_runs/run_table.hpp"

#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/display/display.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/session/resume_run.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t least_table_columns = 80;
constexpr std::size_t year_characters = 5;
constexpr std::size_t least_suite = 5;
constexpr std::size_t wide_gap = 2;
constexpr std::size_t indent = 2;  ///< Of a model that stands below its run.

enum Column : std::size_t { run, date, suite, mode, verdict, result, cases, cost, model, column_count };
using Row = std::array<std::string, column_count>;
using Widths = std::array<std::size_t, column_count>;

Row row_of(const PastRun& past) {
  Row row;
  row[run] = short_id(past.run.run_id);
  row[date] = minute_of_start(past);
  row[suite] = past.run.suite;
  row[mode] = past.run.mode;
  row[model] = past.run.model;
  row[verdict] = verdict_of(past);
  row[result] = result_words(past);
  row[cases] = std::to_string(past.summary ? past.summary->statuses.total() : past.run.trials);
  row[cost] = cost_words(past);
  for (auto& cell : row) cell = printable(cell);
  return row;
}

/// Of all but the model.
Widths widths_of(const std::vector<Row>& rows) {
  Widths widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < model; ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  return widths;
}

/// Where the last column begins. Of the others one that no row has anything in takes no room.
std::size_t model_column(const Widths& widths, std::size_t gap) {
  std::size_t column = 0;
  for (std::size_t i = 0; i < model; ++i) column += widths[i] > 0 ? widths[i] + gap : 0;
  return column;
}

std::size_t widest_model(const std::vector<Row>& rows) {
  std::size_t width = 0;
  for (const Row& row : rows) width = std::max(width, display_width(row[model]));
  return width;
}

/// The model, which tells runs apart, is whole: behind the rest, or below it where that has no room.
std::string model_words(const std::string& name, std::size_t column, std::size_t gap, std::size_t columns) {
  if (name.empty()) return "\n";
  if (column + display_width(name) <= columns) return std::string(gap, ' ') + name + '\n';
  std::string text = "\n";
  for (const std::string& line : wrapped(name, columns - indent))
    text += std::string(indent, ' ') + line + '\n';
  return text;
}

/// The rows as a line of `columns` takes them, or as near as they come to that.
struct Layout {
  Layout(std::vector<Row> all, std::size_t columns) : rows(std::move(all)), widths(widths_of(rows)) {
    const auto is_too_wide = [&] { return model_column(widths, wide_gap) + widest_model(rows) > columns; };
    if (is_too_wide()) {
      for (Row& row : std::span(rows).subspan(1)) row[date].erase(0, year_characters);
      widths = widths_of(rows);
    }
    gap = is_too_wide() ? 1 : wide_gap;
    const std::size_t wanted = display_width(rows.front()[model]);
    while (model_column(widths, gap) + wanted > columns && widths[suite] > least_suite) --widths[suite];
    const std::size_t column = model_column(widths, gap);
    models_beside = std::ranges::count_if(
        rows, [&](const Row& row) { return column + display_width(row[model]) <= columns; });
  }

  std::vector<Row> rows;
  Widths widths;
  std::size_t gap = wide_gap;
  std::ptrdiff_t models_beside = 0;  ///< How many stand in the line of their run.
};

bool paid_anything(const PastRun& past) {
  return past.summary && past.summary->paid_cost.value_or(0) > 0;
}

/// What runs cost is left out before a suite's name is cut for it, or a model stands below its run.
Layout layout_of(const std::vector<PastRun>& runs, std::size_t columns) {
  std::vector<Row> rows{{"RUN", "STARTED", "SUITE", "MODE", "VERDICT", "RESULT", "CASES", "COST", "MODEL"}};
  for (const PastRun& past : runs) rows.push_back(row_of(past));
  std::vector<Row> without_cost = rows;
  for (Row& row : without_cost) row[cost].clear();
  Layout without(std::move(without_cost), columns);
  if (std::ranges::none_of(runs, paid_anything)) return without;
  Layout with(std::move(rows), columns);
  const bool has_room =
      with.widths[suite] == without.widths[suite] && with.models_beside == without.models_beside;
  return has_room ? with : without;
}

/// Which of them can be gone on with, and how; empty if none can.
std::string unfinished_line(const std::vector<PastRun>& runs) {
  const auto first = std::ranges::find_if(runs, is_unfinished);
  if (first == runs.end()) return "";
  const auto count = static_cast<std::size_t>(std::ranges::count_if(runs, is_unfinished));
  const std::string others =
      count == 1 ? "" : " (" + wording::counted(count - 1, "other") + " stopped before the end too)";
  return "\n" + short_id(first->run.run_id) + " stopped before its end: `" + resume_command(first->run) +
         "` goes on with it" + others + "\n";
}

}  // namespace

std::string run_table(const std::vector<PastRun>& runs, std::size_t columns, bool colour) {
  columns = std::max(columns, least_table_columns);
  const Layout layout = layout_of(runs, columns);
  const Widths& widths = layout.widths;
  const std::size_t gap = layout.gap;
  std::string text;
  for (const Row& row : layout.rows) {
    for (std::size_t i = 0; i < cases; ++i) {
      const std::string cell = padded_right(truncated_to(row[i], widths[i]), widths[i] + gap);
      text += colour && i == verdict ? painted_as(row[i], cell) : cell;
    }
    text += padded_left(row[cases], widths[cases]);
    if (widths[cost] > 0) text += std::string(gap, ' ') + padded_left(row[cost], widths[cost]);
    const std::string behind = model_words(row[model], model_column(widths, gap), gap, columns);
    if (behind.starts_with('\n')) text.erase(text.find_last_not_of(' ') + 1);
    text += behind;
  }
  return text + unfinished_line(runs);
}

}  // namespace sluice
