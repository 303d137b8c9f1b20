#include "coordinator/observations/answer_grid.hpp"

#include "common/text/printable.hpp"
#include "common/text/text.hpp"
#include "coordinator/display/display.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/display/terminal.hpp"
#include "coordinator/display/text_table.hpp"
#include "coordinator/facts/status_counts.hpp"
#include "coordinator/gate/quoted.hpp"
#include "coordinator/observations/observation_page.hpp"
#include "coordinator/suite/prompts/arm.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t least_grid_columns = 40;
constexpr std::size_t least_arm_columns = 18;  ///< Of an arm with answers of any length.
constexpr std::size_t least_id_columns = 10;
constexpr std::size_t id_share = 4;       ///< A quarter of the page is the tests' ids at most.
constexpr std::size_t cell_frame = 3;     ///< A space on both sides, and the line beside it.
constexpr std::size_t cell_lines = 3;     ///< Of an answer, and of an id.
constexpr std::size_t cell_bytes = 4096;  ///< More than these lines take.
constexpr std::string_view before_reason = "└ ";

struct Mark {
  std::string_view sign;
  std::string_view colour;
};

Mark mark_of(CaseStatus status) {
  switch (status) {
    case CaseStatus::pass:
      return {"✓", ansi::green};
    case CaseStatus::warn:
      return {"⚠", ansi::yellow};
    case CaseStatus::flaky:
      return {"~", ansi::yellow};
    case CaseStatus::fail:
      return {"✗", ansi::red};
    case CaseStatus::error:
      return {"!", ansi::red};
  }
  return {"", ""};
}

/// The text in at most `most` lines, with "…" if anything was cut.
std::vector<std::string> first_lines(std::string_view text, std::size_t width, std::size_t most) {
  std::vector<std::string> lines = wrapped(text, width);
  if (lines.size() <= most) return lines;
  lines.resize(most);
  lines.back() = truncated_to(lines.back() + "…", width);
  return lines;
}

/// The beginning of a foreign text as one line.
std::string shown_text(std::string_view text) {
  const std::string_view start = beginning(text, cell_bytes);
  return one_line(printable(start)) + (start.size() < text.size() ? "…" : "");
}

/// What a cell says, before its width is known.
struct CellText {
  std::optional<CaseStatus> status{};
  std::string beside{};  ///< Words beside the mark: these have a line of their own.
  std::string body{};
  std::string reason{};  ///< Why it did not pass; empty: not known.
};

/// A test's trials under an arm.
struct TestCell {
  const Observation* shown = nullptr;  ///< The first that is not perturbed.
  std::set<std::string> statuses{};    ///< Of all that are not.
  std::uint64_t trials = 0;
  std::uint64_t passed = 0;
  bool knows_passed = true;  ///< A score passes by the gate, and a graded answer not at all.

  void add(const Observation& one) {
    if (shown == nullptr) shown = &one;
    if (!one.status.empty()) statuses.insert(one.status);
    ++trials;
    // One that warns passes, as among the repeats of a report.
    const bool has_passed =
        one.status == to_string(CaseStatus::pass) || one.status == to_string(CaseStatus::warn);
    passed += has_passed ? 1 : 0;
    knows_passed = knows_passed && !one.status.empty() && (!has_passed || all_pass_or_fail(one.metrics));
  }
};

std::string instead_of_answer(const Observation& one, const AnswerGrid& grid) {
  if (!one.raw_response.empty()) return "(blanks alone)";
  if (grid.run.lost_answers.contains(one.trial)) return "(in no cache any more)";
  return one.error ? shown_text(*one.error) : std::string(words_for_empty(one));
}

/// Why a case did not pass, by the answer that is shown or else by the gate.
void add_reason(const Observation& one, const AnswerGrid& grid, CellText& to) {
  const auto missed = grid.missed.find(one.case_id);
  if (one.error && !one.raw_response.empty()) {
    to.reason = shown_text(*one.error);
  } else if (const auto failed = first_failed_metric(one.metrics)) {
    to.reason = shown_text(failed->name + (failed->detail.empty() ? "" : ": " + failed->detail));
  } else if (missed != grid.missed.end() && !missed->second.empty()) {
    to.reason = shown_text(missed->second.front());
  }
}

CellText text_of(const TestCell& cell, const AnswerGrid& grid) {
  const Observation& one = *cell.shown;
  CellText said{case_status_from(status_of(grid.run, one.case_id, cell.statuses))};
  if (cell.trials > 1) {
    said.beside = cell.knows_passed
                      ? wording::grouped(cell.passed) + " of " + wording::grouped(cell.trials) + " passed"
                      : wording::counted(cell.trials, "repeat");
  } else if (said.status == CaseStatus::error && one.reason_code) {
    said.beside = shown_text(*one.reason_code);
  }
  said.body = shown_text(one.raw_response);
  if (said.body.empty()) said.body = instead_of_answer(one, grid);
  if (said.status && said.status != CaseStatus::pass) add_reason(one, grid, said);
  return said;
}

/// The mark stands before the other lines.
GridCell lines_of(const CellText& said, std::size_t width) {
  constexpr std::string_view indent = "  ";
  const Mark mark = said.status ? mark_of(*said.status) : Mark{" ", ""};
  const std::string lead = std::string(mark.sign) + " ";
  const std::size_t text_width = std::max(width, indent.size() + 1) - indent.size();
  GridCell lines;
  if (!said.beside.empty()) lines.push_back({lead + truncated_to(said.beside, text_width), mark.colour});
  for (const std::string& line :
       first_lines(said.body, text_width, said.reason.empty() ? cell_lines : cell_lines - 1)) {
    if (lines.empty()) {
      lines.push_back({lead + line, mark.colour, mark.sign.size()});
    } else {
      lines.push_back({std::string(indent) + line});
    }
  }
  if (said.reason.empty()) return lines;
  const auto cut = first_lines(truncated_to(said.reason, text_width), text_width, 1);
  lines.push_back({std::string(before_reason) + cut.front(), ansi::dim});
  return lines;
}

GridCell plain_lines(const std::string& text, std::size_t width) {
  GridCell lines;
  for (std::string& line : first_lines(text, width, cell_lines)) lines.push_back({std::move(line)});
  return lines;
}

std::size_t widest(const GridCell& cell) {
  std::size_t width = 0;
  for (const GridLine& line : cell) width = std::max(width, display_width(line.text));
  return width;
}

/// What each of the columns gets of so much room: what it needs, or as much as the others that lack some.
std::vector<std::size_t> shared_out(const std::vector<std::size_t>& needed, std::size_t room) {
  std::vector<std::size_t> by_need(needed.size());
  std::iota(by_need.begin(), by_need.end(), std::size_t{0});
  std::ranges::stable_sort(by_need, {}, [&](std::size_t i) { return needed[i]; });
  std::vector<std::size_t> widths(needed.size());
  std::size_t left = by_need.size();
  for (const std::size_t i : by_need) {
    widths[i] = std::min(needed[i], room / left--);
    room -= widths[i];
  }
  return widths;
}

struct TestRow {
  std::string test;
  std::map<std::string, TestCell> cells{};  ///< By arm.
  std::uint64_t perturbed = 0;
};

/// An arm with what stands in its cells, row by row.
struct ArmColumn {
  std::string heading;
  std::vector<std::optional<CellText>> cells{};
  std::size_t needed = 0;  ///< As many columns as it would take with all the room there is.
};

class GridPage {
 public:
  GridPage(const AnswerGrid& grid, std::size_t columns, bool colour)
      : grid_(grid), columns_(std::max(columns, least_grid_columns)), colour_(colour) {}

  std::string text() {
    collect_rows();
    std::size_t widest_id = 0;
    for (const TestRow& row : rows_) widest_id = std::max(widest_id, display_width(row.test));
    id_width_ =
        std::min(std::max(widest_id, heading_of_ids.size()), std::max(least_id_columns, columns_ / id_share));
    room_ = columns_ - 1 - (id_width_ + cell_frame);
    collect_columns();
    std::size_t first = 0;
    for (const std::size_t end : ends_of_tables()) {
      add_table(first, end);
      first = end;
    }
    add_notes();
    return std::move(page_);
  }

 private:
  static constexpr std::string_view heading_of_ids = "Test";

  void collect_rows() {
    std::map<std::string, std::size_t> places;
    for (const Observation& one : grid_.run.observations) {
      std::string test = one.case_id;
      const std::string of_arm = arm_separator + one.arm;
      if (!one.arm.empty() && test.ends_with(of_arm)) test.resize(test.size() - of_arm.size());
      const auto [place, is_new] = places.try_emplace(std::move(test), places.size());
      if (place->second >= grid_.most_rows.value_or(SIZE_MAX)) continue;
      if (is_new) rows_.push_back({shown_text(place->first)});
      TestRow& row = rows_[place->second];
      if (one.perturbation.empty()) {
        row.cells[one.arm].add(one);
      } else {
        ++row.perturbed;
      }
    }
    left_out_ = places.size() - rows_.size();
  }

  void collect_columns() {
    std::vector<std::string> arms = grid_.arms;
    for (const TestRow& row : rows_) {
      for (const auto& [arm, cell] : row.cells) {
        if (std::ranges::find(arms, arm) == arms.end()) arms.push_back(arm);
      }
    }
    for (const std::string& arm : arms) {
      ArmColumn column;
      for (const TestRow& row : rows_) {
        const auto cell = row.cells.find(arm);
        auto& to = column.cells.emplace_back();
        if (cell == row.cells.end()) continue;
        to = text_of(cell->second, grid_);
        if (to->status) used_.insert(*to->status);
        has_reasons_ |= !to->reason.empty();
        if (column.heading.empty())
          column.heading = shown_text(arm.empty() ? cell->second.shown->model : arm);
        column.needed = std::max(column.needed, widest(lines_of(*to, room_ - cell_frame)));
      }
      // An arm of which nothing is wanted.
      if (column.needed == 0) continue;
      column.needed = std::max(column.needed, widest(plain_lines(column.heading, room_ - cell_frame)));
      arms_.push_back(std::move(column));
    }
  }

  /// Behind the last arm of each table, where one has no more than `most`.
  std::vector<std::size_t> ends_of_tables(std::size_t most) const {
    std::vector<std::size_t> ends;
    std::size_t first = 0;
    std::size_t used = 0;
    for (std::size_t i = 0; i < arms_.size(); ++i) {
      const std::size_t least = std::min(arms_[i].needed, least_arm_columns) + cell_frame;
      if (i > first && (used + least > room_ || i - first == most)) {
        ends.push_back(i);
        first = i;
        used = 0;
      }
      used += least;
    }
    if (first < arms_.size()) ends.push_back(arms_.size());
    return ends;
  }

  /// So that all tables have about as many arms.
  std::vector<std::size_t> ends_of_tables() const {
    const std::size_t tables = ends_of_tables(SIZE_MAX).size();
    return tables == 0 ? std::vector<std::size_t>() : ends_of_tables((arms_.size() + tables - 1) / tables);
  }

  void add_table(std::size_t first, std::size_t end) {
    std::vector<std::size_t> needed;
    for (std::size_t i = first; i < end; ++i) needed.push_back(arms_[i].needed);
    std::vector<std::size_t> widths = shared_out(needed, room_ - cell_frame * needed.size());
    widths.insert(widths.begin(), id_width_);
    std::vector<GridCell> headings{plain_lines(std::string(heading_of_ids), id_width_)};
    for (std::size_t i = first; i < end; ++i)
      headings.push_back(plain_lines(arms_[i].heading, widths[headings.size()]));
    std::vector<std::vector<GridCell>> rows;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      auto& cells = rows.emplace_back();
      cells.push_back(plain_lines(rows_[row].test, id_width_));
      for (std::size_t i = first; i < end; ++i) {
        const auto& said = arms_[i].cells[row];
        cells.push_back(said ? coloured(lines_of(*said, widths[cells.size()]))
                             : GridCell{GridLine{wording::dash}});
      }
    }
    page_ += drawn_grid(headings, rows, widths);
  }

  GridCell coloured(GridCell cell) const {
    if (!colour_) {
      for (GridLine& line : cell) line.colour = "";
    }
    return cell;
  }

  void add_notes() {
    std::string legend;
    for (const CaseStatus status : used_)
      legend += (legend.empty() ? "" : ", ") + std::string(mark_of(status).sign) + " " +
                std::string(to_string(status));
    if (has_reasons_) legend += (legend.empty() ? "" : ", ") + std::string(before_reason) + "why";
    if (!legend.empty()) page_ += legend + "\n";
    const std::string command = "sluice show " + shell_word(printable(grid_.named));
    std::uint64_t perturbed = 0;
    for (const TestRow& row : rows_) perturbed += row.perturbed;
    if (perturbed > 0)
      page_ += paragraph("Without " + wording::counted(perturbed, "answer") + " to perturbed forms: `" +
                             command + " CASE` shows those of a case.",
                         columns_);
    if (left_out_ > 0)
      page_ += paragraph(wording::counted(left_out_, "more test") + ": `" + command +
                             " --grid --filter '*'` shows all, another --filter those that fit.",
                         columns_);
  }

  const AnswerGrid& grid_;
  std::size_t columns_;
  bool colour_;
  std::vector<TestRow> rows_;
  std::vector<ArmColumn> arms_;
  std::set<CaseStatus> used_;  ///< In some cell.
  bool has_reasons_ = false;
  std::size_t left_out_ = 0;
  std::size_t id_width_ = 0;
  std::size_t room_ = 0;  ///< For the arms.
  std::string page_;
};

}  // namespace

std::string answer_grid(const AnswerGrid& grid, std::size_t columns, bool colour) {
  return GridPage(grid, columns, colour).text();
}

}  // namespace sluice
