// The languages that a few forms of strings and one of comments describe: TOML, JSON, Makefile.
#include "coordinator/perturb/scanners.hpp"

#include <algorithm>
#include <array>

namespace sluice {

namespace {

void cut_toml_literal(Cursor& cursor, std::string_view delimiter) {
  const auto from = cursor.position();
  cursor.advance(delimiter.size());
  const bool closed = cursor.skip_past(delimiter);
  const auto literal = cursor.text().substr(from, cursor.position() - from);
  if (!closed || (delimiter.size() == 1 && literal.find('\n') != std::string_view::npos)) {
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
    if (begins_define()) return cut_define();
    if (cursor_.peek() == '\t') return cut_continued_line();
    scan_line();
  }

  /// The word that begins `ahead` bytes from here: up to a blank or the line end.
  std::string_view word_at(std::size_t ahead) const {
    std::size_t end = ahead;
    while (is_word_byte(cursor_.peek(end))) ++end;
    const char behind = cursor_.peek(end);
    const bool whole = is_blank(behind) || behind == '\n' || behind == '\r' || behind == '\0';
    return whole ? cursor_.rest().substr(ahead, end - ahead) : std::string_view();
  }

  std::size_t blanks_at(std::size_t ahead) const {
    std::size_t end = ahead;
    while (is_blank(cursor_.peek(end))) ++end;
    return end - ahead;
  }

  /// `define` behind any modifiers. Behind a tab too, which begins no recipe where no rule is open.
  bool begins_define() const {
    std::size_t at = blanks_at(0);
    for (auto word = word_at(at); std::ranges::find(define_modifiers, word) != define_modifiers.end();
         word = word_at(at)) {
      at += word.size();
      at += blanks_at(at);
    }
    return word_at(at) == "define" || cursor_.rest().substr(at).starts_with("define#");
  }

  static constexpr std::array<std::string_view, 4> define_modifiers{"override", "export", "private",
                                                                    "unexport"};

  void skip_continued_line() {
    while (!cursor_.at_line_end()) cursor_.peek() == '\\' ? cursor_.skip_escape() : cursor_.advance();
  }

  void cut_continued_line() {
    const auto from = cursor_.position();
    skip_continued_line();
    cursor_.cut(SegmentKind::string, from);
    cursor_.skip_line_and_end();
  }

  /// Up to its `endef`. Others nest in it; behind a tab or a continued line the words mean nothing.
  void cut_define() {
    const auto from = cursor_.position();
    for (int depth = 1; depth > 0;) {
      skip_continued_line();
      if (cursor_.at_end()) {
        cursor_.doubt("a define has no endef", from);
        break;
      }
      cursor_.skip_line_and_end();
      if (cursor_.peek() == '\t') continue;
      const auto word = word_at(blanks_at(0));
      if (word == "define") ++depth;
      if (word == "endef") --depth;
    }
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
