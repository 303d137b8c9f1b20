// The languages that a few forms of strings and one of comments describe: TOML, JSON, Makefile.
#include "coordinator/perturb/scanners.hpp"

#include <algorithm>

namespace sluice {

namespace {

void cut_toml_literal(Cursor& cursor, std::string_view delimiter) {
  const auto from = cursor.position();
  cursor.advance(delimiter.size());
  const auto line_end = cursor.text().find('\n', cursor.position());
  const bool closed = cursor.skip_past(delimiter);
  if (!closed || (delimiter.size() == 1 && cursor.position() > line_end)) {
    cursor.doubt("a string is not closed", from);
  }
  if (delimiter.size() == 3) {
    while (cursor.peek() == delimiter.front()) cursor.advance();
  }
  cursor.cut(SegmentKind::string, from);
}

void cut_toml_multi_line_basic(Cursor& cursor) {
  const auto from = cursor.position();
  cursor.advance(3);
  while (!cursor.at_end() && !cursor.looking_at("\"\"\"")) {
    cursor.peek() == '\\' ? cursor.skip_escape() : cursor.advance();
  }
  if (cursor.at_end()) cursor.doubt("a string is not closed", from);
  while (cursor.peek() == '"') cursor.advance();
  cursor.cut(SegmentKind::string, from);
}

/// Makefiles are read line by line; what a recipe or a `define` holds is the shell's.
class MakefileScanner {
 public:
  explicit MakefileScanner(Cursor& cursor) : cursor_(cursor) {}

  void run() {
    if (const auto at = cursor_.text().find(".RECIPEPREFIX"); at != std::string_view::npos) {
      return cursor_.doubt("another character than the tab may begin a recipe", at);
    }
    while (!cursor_.done()) scan_logical_line();
  }

 private:
  void scan_logical_line() {
    if (cursor_.peek() == '\t') return cut_continued_line();
    const auto rest = cursor_.rest();
    const auto first = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
    if (first.starts_with("define ") || first.starts_with("override define ")) return cut_define();
    scan_line();
  }

  void skip_continued_line() {
    while (!cursor_.at_line_end()) cursor_.peek() == '\\' ? cursor_.skip_escape() : cursor_.advance();
  }

  void cut_continued_line() {
    const auto from = cursor_.position();
    skip_continued_line();
    cursor_.cut(SegmentKind::string, from);
    cursor_.skip_line_and_end();
  }

  void cut_define() {
    const auto from = cursor_.position();
    while (!cursor_.at_end()) {
      cursor_.skip_line_and_end();
      cursor_.skip_blanks();
      if (cursor_.looking_at("endef")) break;
    }
    if (cursor_.at_end()) cursor_.doubt("a define has no endef", from);
    cursor_.skip_line();
    cursor_.cut(SegmentKind::string, from);
    cursor_.skip_line_and_end();
  }

  void scan_line() {
    for (int depth = 0; !cursor_.at_line_end();) {
      const char c = cursor_.peek();
      if (c == '\\') {
        cursor_.skip_escape();
      } else if (c == ';') {
        return cut_continued_line();
      } else if (c == '#' && depth > 0) {
        return cursor_.doubt("a # stands within a reference or call");
      } else if (c == '#') {
        const auto from = cursor_.position();
        skip_continued_line();
        cursor_.cut(SegmentKind::line_comment, from);
      } else {
        if (c == '(' || c == '{') ++depth;
        if ((c == ')' || c == '}') && depth > 0) --depth;
        cursor_.advance();
      }
    }
    cursor_.skip_line_and_end();
  }

  Cursor& cursor_;
};

}  // namespace

void scan_toml(Cursor& cursor) {
  while (!cursor.done()) {
    const char c = cursor.peek();
    if (c == '#') {
      cursor.cut_line(SegmentKind::line_comment);
    } else if (cursor.looking_at("\"\"\"")) {
      cut_toml_multi_line_basic(cursor);
    } else if (cursor.looking_at("'''")) {
      cut_toml_literal(cursor, "'''");
    } else if (c == '"') {
      cursor.cut_quoted(false);
    } else if (c == '\'') {
      cut_toml_literal(cursor, "'");
    } else {
      cursor.advance();
    }
  }
}

void scan_json(Cursor& cursor) {
  while (!cursor.done()) {
    const char c = cursor.peek();
    if (c == '"') {
      cursor.cut_quoted(false);
    } else if (cursor.looking_at("//") || cursor.looking_at("/*") || c == '\'' || c == '#') {
      cursor.doubt("what stands here is no JSON");
    } else {
      cursor.advance();
    }
  }
}

void scan_makefile(Cursor& cursor) {
  MakefileScanner(cursor).run();
}

}  // namespace sluice
