#include "coordinator/report/html/html_writer.hpp"

#include "coordinator/report/html/xml_text.hpp"

#include <string>
#include <string_view>
#include <variant>

namespace sluice {
namespace {

using namespace document;

std::string_view class_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "good";
    case Tone::warning:
      return "warning";
    case Tone::bad:
      return "bad";
    case Tone::strong:
      return "strong";
    case Tone::quiet:
      return "quiet";
    case Tone::plain:
      break;
  }
  return "plain";
}

/// The words between backticks are code.
std::string marked(std::string_view text) {
  std::string out;
  bool is_code = false;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find('`', begin);
    const bool closes = end != std::string_view::npos && (is_code || text.find('`', end + 1) != text.npos);
    out += xml_escaped(text.substr(begin, closes ? end - begin : text.npos));
    if (!closes) return out;
    out += is_code ? "</code>" : "<code>";
    is_code = !is_code;
    begin = end + 1;
  }
}

std::string html_of(const Span& span) {
  switch (span.emphasis) {
    case Span::Emphasis::none:
      break;
    case Span::Emphasis::strong:
      return "<strong>" + xml_escaped(span.text) + "</strong>";
    case Span::Emphasis::code:
      return "<code>" + xml_escaped(span.text) + "</code>";
    case Span::Emphasis::marked:
      return marked(span.text);
  }
  return xml_escaped(span.text);
}

std::string html_of(const Text& text) {
  std::string out;
  for (const Span& span : text.spans) out += html_of(span);
  return out;
}

class HtmlWriter {
 public:
  explicit HtmlWriter(BufferedWriter& writer) : writer_(writer) {}

  void write(const Document& document) {
    text() += "<h1>" + xml_escaped(document.title) + "</h1>\n<p class=\"verdict " +
              std::string(class_of(document.verdict.tone)) + "\"><strong>" +
              xml_escaped(document.verdict.word) + "</strong> " + html_of(document.verdict.reason) +
              "</p>\n<dl class=\"facts\">";
    for (const Note& fact : document.facts)
      text() += "<dt>" + xml_escaped(fact.label) + "</dt><dd>" + html_of(fact.text) + "</dd>";
    text() += "</dl>\n";
    for (const Section& section : document.sections) {
      if (section.blocks.empty()) continue;
      if (!section.heading.empty())
        text() += "<h2>" + xml_escaped(titled(section.heading, section.count)) + "</h2>\n";
      write_blocks(section.blocks);
    }
  }

 private:
  std::string& text() { return writer_.text(); }

  void write_blocks(const std::vector<Block>& blocks) {
    for (const Block& block : blocks) {
      std::visit([this](const auto& one) { write(one); }, block);
      writer_.passed();
    }
  }

  void write(const Paragraph& paragraph) {
    if (paragraph.text.spans.empty()) return;
    text() +=
        "<p class=\"" + std::string(class_of(paragraph.tone)) + "\">" + html_of(paragraph.text) + "</p>\n";
  }

  void write_item(const Note& note) {
    text() += "<li class=\"" + std::string(class_of(note.tone)) + "\">";
    if (!note.label.empty()) text() += xml_escaped(note.label) + ": ";
    text() += html_of(note.text) + "</li>\n";
  }

  void write(const Notes& notes) {
    text() += "<ul>\n";
    for (const Note& note : notes.items) write_item(note);
    text() += "</ul>\n";
    write_rest(notes.share);
  }

  void write(const Entries& entries) {
    text() += "<ul>\n";
    for (const Entry& entry : entries.items) {
      text() += "<li>" + html_of(entry.title) + "<ul>\n";
      for (const Note& note : entry.notes) write_item(note);
      text() += "</ul></li>\n";
      writer_.passed();
    }
    text() += "</ul>\n";
    write_rest(entries.share);
  }

  void write(const Table& table) {
    const auto style = [&](std::size_t i) {
      const bool is_number = i < table.columns.size() && table.columns[i].numeric;
      return std::string(is_number ? " class=\"number\"" : "");
    };
    text() += "<div class=\"scroll\"><table><thead><tr>";
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      text() += "<th" + style(i) + ">" + xml_escaped(table.columns[i].heading) + "</th>";
    text() += "</tr></thead><tbody>\n";
    for (const Row& row : table.rows) {
      text() += "<tr>";
      for (std::size_t i = 0; i < row.cells.size(); ++i)
        text() += "<td" + style(i) + ">" + html_of(row.cells[i].text) + "</td>";
      text() += "</tr>\n";
    }
    text() += "</tbody></table></div>\n";
    write_rest(table.share);
  }

  void write(const Fold& fold) {
    text() += "<details><summary>" + xml_escaped(titled(fold.summary, fold.count)) + "</summary>\n";
    write_blocks(fold.blocks);
    text() += "</details>\n";
  }

  void write_rest(const Share& share) {
    if (share.left_out > 0)
      text() += "<p class=\"quiet\">" + xml_escaped(share.rest(share.left_out)) + "</p>\n";
  }

  BufferedWriter& writer_;
};

}  // namespace

void write_html(const Document& document, BufferedWriter& writer) {
  HtmlWriter(writer).write(document);
}

}  // namespace sluice
