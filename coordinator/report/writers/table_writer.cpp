#include "coordinator/report/writers/table_writer.hpp"

#include "common/text/build_commands.hpp"
#include "coordinator/display/display.hpp"
#include "coordinator/display/terminal.hpp"
#include "coordinator/display/text_table.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sluice {
namespace {

using namespace document;

constexpr std::size_t least_columns = 60;
constexpr std::size_t most_columns = 120;  // Longer lines of words are hard to read.
constexpr std::size_t narrow_columns = 80;
constexpr std::size_t label_width = 12;  // "Unexpected: "
constexpr std::size_t step = 2;          // From one level to the next.

std::string_view code_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return ansi::green;
    case Tone::warning:
      return ansi::yellow;
    case Tone::bad:
      return ansi::red;
    case Tone::strong:
      return ansi::bold;
    case Tone::quiet:
      return ansi::dim;
    case Tone::plain:
      break;
  }
  return "";
}

std::string plain(const Text& text) {
  std::string words;
  for (const Span& span : text.spans)
    words += span.emphasis == Span::Emphasis::code ? with_line_signs(span.text) : span.text;
  return printable(words);
}

class TableWriter {
 public:
  TableWriter(const TableStyle& style, Sink& sink)
      : width_(std::min(style.columns, most_columns)),
        table_width_(style.columns),
        colour_(style.colour),
        is_terminal_(style.is_terminal),
        writer_(sink) {}

  void write(const Document& document) {
    if (!document.title.empty()) write_head(document);
    bool is_first = document.title.empty();
    bool verdict_due = !document.title.empty();
    for (const Section& section : document.sections) {
      if (section.blocks.empty()) continue;
      if (verdict_due && !section.before_verdict) {
        write_verdict(document.verdict);
        verdict_due = false;
      }
      if (!is_first) text() += '\n';
      is_first = false;
      if (!section.heading.empty())
        text() += painted(printable(titled(section.heading, section.count)), section.tone) + '\n';
      write_blocks(section.blocks);
    }
    if (verdict_due) write_verdict(document.verdict);
  }

 private:
  std::string& text() { return writer_.text(); }

  std::string painted(std::string_view words, Tone tone) const {
    return sluice::painted(words, colour_ ? tone : Tone::plain);
  }

  /// `lead`, then words that are broken into as many lines as they need, all under their first one.
  void write_lines(std::string lead, std::size_t column, const std::string& words, Tone tone) {
    for (const auto& line : wrapped(words, width_ - column)) {
      text() += lead + painted(line, tone) + '\n';
      lead.assign(column, ' ');
    }
  }

  void write_note(const Note& note, std::size_t indent) {
    if (note.is_outcome && !is_terminal_) {
      text() += painted(without_commands(plain(note.text)), note.tone) + '\n';
      return;
    }
    const std::string label = note.label.empty() ? "" : note.label + ":";
    const std::size_t own_width = label.size() + 1;
    const std::size_t column = label.empty() ? indent
                               : indent == 0 ? own_width
                                             : indent + std::max(own_width, label_width);
    write_lines(std::string(indent, ' ') + padded_right(label, column - indent), column, plain(note.text),
                note.tone);
  }

  void write_rest(const Share& share) {
    if (share.left_out > 0) write_note({share.rest(share.left_out), Tone::quiet}, step);
  }

  void write_head(const Document& document) {
    std::size_t label_column = 0;
    for (const Note& fact : document.facts) label_column = std::max(label_column, fact.label.size() + 2);
    std::vector<std::string> lines;
    for (const Note& fact : document.facts) {
      const std::string label = fact.label.empty() ? "" : fact.label + ":";
      lines.push_back(padded_right(label, label_column) + plain(fact.text));
    }
    text() += drawn_box(document.title, lines, width_);
  }

  void write_verdict(const Verdict& verdict) {
    const std::string label = "Verdict: " + verdict.word;
    text() += '\n';
    write_lines(painted(label, verdict.tone) + " - ", display_width(label) + 3, plain(verdict.reason),
                Tone::plain);
  }

  void write_blocks(const std::vector<Block>& blocks) {
    for (const Block& block : blocks) std::visit([this](const auto& one) { write(one); }, block);
  }

  void write(const Paragraph& paragraph) { write_note({paragraph.text, paragraph.tone}, indent_); }

  void write(const Notes& notes) {
    for (const Note& note : notes.items) write_note(note, indent_ + step * note.level);
    write_rest(notes.share);
  }

  void write(const Entry& entry) {
    write_lines("- ", step, plain(entry.title), Tone::strong);
    for (const Note& note : entry.notes) write_note(note, 2 * step + step * note.level);
    writer_.passed();
  }

  void write(const Entries& entries) {
    for (const Entry& entry : entries.items) write(entry);
    write_rest(entries.share);
  }

  void write(const Table& table) {
    TextTable drawable;
    drawable.whole_names = table.whole_names;
    drawable.keys = table.keys;
    for (const Column& column : table.columns)
      drawable.columns.push_back({printable(column.heading), column.numeric, column.droppable});
    for (const Row& row : table.rows) {
      auto& cells = drawable.rows.emplace_back();
      for (const Cell& cell : row.cells)
        cells.push_back(width_ < narrow_columns && !cell.narrow.empty() ? cell.narrow : plain(cell.text));
      if (!colour_) continue;
      auto& colours = drawable.colours.emplace_back();
      for (const Cell& cell : row.cells) colours.push_back(code_of(cell.tone));
    }
    text() += drawn(drawable, table_width_);
    write_rest(table.share);
  }

  void write(const Fold& fold) {
    write_note({titled(fold.summary, fold.count) + ":"}, indent_);
    indent_ += step;
    write_blocks(fold.blocks);
    indent_ -= step;
  }

  std::size_t width_;        // Of words.
  std::size_t table_width_;  // Columns of numbers may stand on all that there is.
  bool colour_;
  bool is_terminal_;
  BufferedWriter writer_;
  std::size_t indent_ = 0;
};

}  // namespace

std::string painted(std::string_view words, Tone tone) {
  return in_colour(code_of(tone), words);
}

TableStyle within_reading_width(TableStyle style) {
  style.columns = std::clamp(style.columns, least_columns, most_columns);
  return style;
}

void write_table(const Document& document, TableStyle style, Sink& sink) {
  style.columns = std::max(style.columns, least_columns);
  TableWriter(style, sink).write(document);
}

}  // namespace sluice
