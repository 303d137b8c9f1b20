#include "coordinator/report/writers/markdown_writer.hpp"

#include "coordinator/report/writers/markdown_text.hpp"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

namespace sluice {
namespace {

using namespace document;

std::string inline_of(const Span& span) {
  if (span.emphasis == Span::Emphasis::code)
    return markdown_code(with_line_signs(span.text), span.most_bytes);
  if (span.emphasis == Span::Emphasis::marked) return markdown_sentence(span.text, span.most_bytes);
  const std::string words = markdown_words(span.text, span.most_bytes);
  return span.emphasis == Span::Emphasis::strong ? "**" + words + "**" : words;
}

std::string inline_of(const Text& text) {
  std::string out;
  for (const Span& span : text.spans) out += inline_of(span);
  return out;
}

std::string item_of(const Note& note, std::size_t level) {
  std::string item = std::string(2 * level, ' ') + "- ";
  if (!note.label.empty()) item += note.label + ": ";
  return item + inline_of(note.text) + "\n";
}

std::string item_of(const Entry& entry) {
  std::string item = "- " + inline_of(entry.title) + "\n";
  for (const Note& note : entry.notes) item += item_of(note, 1 + note.level);
  return item;
}

class MarkdownWriter {
 public:
  MarkdownWriter(const MarkdownStyle& style, Sink& sink) : style_(style), writer_(sink) {}

  void write(const Document& document) {
    text() += "## " + document.verdict.word + ": " + inline_of(document.verdict.reason) + "\n";
    std::vector<const Section*> sections;
    for (const Section& section : document.sections) {
      if (!section.blocks.empty()) sections.push_back(&section);
    }
    std::ranges::stable_sort(sections, {}, &Section::rank);
    for (const Section* section : sections) write(*section);
  }

 private:
  std::string& text() { return writer_.text(); }

  void write(const Section& section) {
    if (!section.heading.empty() && section.rank >= Rank::further) {
      text() += '\n';
      write_fold(titled(section.heading, section.count), section.blocks);
      return;
    }
    if (!section.heading.empty())
      text() += "\n### " + markdown_words(titled(section.heading, section.count)) + "\n";
    write_blocks(section.blocks);
  }

  // A blank line stands before each block.
  void write_blocks(const std::vector<Block>& blocks) {
    for (const Block& block : blocks) {
      text() += '\n';
      std::visit([this](const auto& one) { write(one); }, block);
      writer_.passed();
    }
  }

  void write(const Paragraph& paragraph) {
    if (!paragraph.text.spans.empty()) text() += inline_of(paragraph.text) + "\n";
  }

  void write(const Notes& notes) {
    BoundedText list(notes.share.most_bytes);
    for (const Note& note : notes.items) list.add(item_of(note, note.level));
    write_list(list, notes.share);
  }

  void write(const Entries& entries) {
    BoundedText list(entries.share.most_bytes);
    for (const Entry& entry : entries.items) list.add(item_of(entry));
    write_list(list, entries.share);
  }

  void write(const Table& table) {
    std::string rule = "|";
    text() += '|';
    for (const Column& column : table.columns) {
      text() += " " + markdown_words(column.heading) + " |";
      rule += " " + std::string(column.numeric ? style_.numeric_column : "---") + " |";
    }
    text() += "\n" + rule + "\n";
    BoundedText list(table.share.most_bytes);
    for (std::size_t i = 0; i < table.rows.size();) {
      std::string rows;
      const std::uint64_t counts = table.rows[i].counts;
      do {
        rows += '|';
        for (const Cell& cell : table.rows[i].cells) rows += " " + inline_of(cell.text) + " |";
        rows += '\n';
      } while (++i < table.rows.size() && table.rows[i].with_previous);
      list.add(rows, counts);
    }
    write_list(list, table.share);
  }

  void write(const Fold& fold) { write_fold(titled(fold.summary, fold.count), fold.blocks); }

  void write_fold(const std::string& summary, const std::vector<Block>& blocks) {
    text() += "<details><summary>" + summary + "</summary>\n";
    write_blocks(blocks);
    text() += "\n</details>\n";
  }

  void write_list(const BoundedText& list, const Share& share) {
    text() += list.text();
    const std::uint64_t left_out = list.left_out() + share.left_out;
    if (left_out > 0) text() += "\n_" + share.rest(left_out) + "._\n";
  }

  const MarkdownStyle& style_;
  BufferedWriter writer_;
};

}  // namespace

void write_markdown(const Document& document, const MarkdownStyle& style, Sink& sink) {
  MarkdownWriter(style, sink).write(document);
}

}  // namespace sluice
