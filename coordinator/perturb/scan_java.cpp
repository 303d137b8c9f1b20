#include "coordinator/perturb/scanners.hpp"

namespace sluice {

namespace {

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The code unit of the `u` escape whose first `u` stands at `at`; -1 if it is none.
int escaped_unit(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] == 'u') ++at;
  if (at + 4 > text.size()) return -1;
  int unit = 0;
  for (const char c : text.substr(at, 4)) {
    const int digit = hex_value(c);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

/// Unicode escapes are replaced before anything else is read: one that stands for an ASCII character may end
/// a comment or open a string.
void doubt_escaped_ascii(Cursor& cursor) {
  const auto text = cursor.text();
  for (std::size_t at = 0; (at = text.find('\\', at)) != std::string_view::npos;) {
    std::size_t end = at;
    while (end < text.size() && text[end] == '\\') ++end;
    const bool escapes = (end - at) % 2 == 1 && end < text.size() && text[end] == 'u';
    const int unit = escapes ? escaped_unit(text, end) : -1;
    if (unit >= 0 && unit < 0x80) return cursor.doubt("a Unicode escape stands for an ASCII character", at);
    at = end;
  }
}

/// The compiler reads this tag of a documentation comment.
bool deprecates(std::string_view comment) {
  return comment.starts_with("/**") && comment.find("@deprecated") != std::string_view::npos;
}

void cut_block_comment(Cursor& cursor) {
  const auto from = cursor.position();
  cursor.skip_block_comment();
  const auto comment = cursor.text().substr(from, cursor.position() - from);
  cursor.cut(deprecates(comment) ? SegmentKind::directive : SegmentKind::block_comment, from);
}

void cut_text_block(Cursor& cursor) {
  const auto from = cursor.position();
  cursor.advance(3);
  while (!cursor.at_end() && !cursor.looking_at("\"\"\"")) {
    cursor.peek() == '\\' ? cursor.skip_escape() : cursor.advance();
  }
  if (cursor.at_end()) cursor.doubt("a text block is not closed", from);
  cursor.advance(3);
  cursor.cut(SegmentKind::string, from);
}

}  // namespace

void scan_java(Cursor& cursor) {
  doubt_escaped_ascii(cursor);
  while (!cursor.done()) {
    const char c = cursor.peek();
    if (cursor.looking_at("//")) {
      cursor.cut_line(SegmentKind::line_comment);
    } else if (cursor.looking_at("/*")) {
      cut_block_comment(cursor);
    } else if (cursor.looking_at("\"\"\"")) {
      cut_text_block(cursor);
    } else if (c == '"' || c == '\'') {
      cursor.cut_quoted(false);
    } else {
      cursor.advance();
    }
  }
}

}  // namespace sluice
