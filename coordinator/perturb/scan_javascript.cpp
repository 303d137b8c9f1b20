#include "coordinator/perturb/scanners.hpp"

namespace sluice {

namespace {

/// JavaScript and TypeScript as far as no grammar is needed to tell what a slash is.
class JavaScriptScanner {
 public:
  JavaScriptScanner(Cursor& cursor, bool typescript) : cursor_(cursor), typescript_(typescript) {}

  void run() {
    while (!cursor_.done()) scan_token(cursor_.peek());
  }

 private:
  void scan_token(char c) {
    if (cursor_.looking_at("//") || cursor_.looking_at("/*")) return cut_comment();
    if (c == '\'' || c == '"') return cut_string();
    if (c == '`') return cut_template();
    if (c == '/')
      return cursor_.doubt("a slash may divide, or open a regular expression, or close an element");
    if (cursor_.looking_at("<!--") || cursor_.looking_at("-->")) {
      return cursor_.doubt("an HTML comment may begin or end here");
    }
    cursor_.advance();
  }

  /// An element of JSX holds text without quotes. Where what closes it looks like a part of a string or
  /// comment, the one is not known from the other.
  void doubt_elements(std::size_t from) {
    const auto text = cursor_.text().substr(from, cursor_.position() - from);
    if (text.find("</") != std::string_view::npos || text.find("/>") != std::string_view::npos) {
      cursor_.doubt("an element of JSX may stand here", from);
    }
  }

  void cut_string() {
    const auto from = cursor_.position();
    cursor_.cut_quoted(false);
    doubt_elements(from);
  }

  /// With the plain expressions in it, which perturbations leave alone.
  void cut_template() {
    const auto from = cursor_.position();
    cursor_.advance();
    while (!cursor_.done() && cursor_.peek() != '`') {
      if (cursor_.peek() == '\\') {
        cursor_.skip_escape();
      } else if (cursor_.looking_at("${")) {
        skip_plain_expression();
      } else {
        cursor_.advance();
      }
    }
    if (cursor_.at_end()) cursor_.doubt("a template is not closed", from);
    cursor_.advance();
    cursor_.cut(SegmentKind::string, from);
    doubt_elements(from);
  }

  void skip_plain_expression() {
    cursor_.advance(2);
    const auto length = cursor_.rest().find_first_of("{}`'\"/\\\t\r\n");
    if (length == std::string_view::npos || cursor_.peek(length) != '}') {
      return cursor_.doubt("an expression within a template holds more than names and operators");
    }
    cursor_.advance(length + 1);
  }

  /// TypeScript reads some comments, and so does whatever compiles JSX.
  bool is_directive(std::string_view comment) const {
    if (comment.find("@jsx") != std::string_view::npos) return true;
    if (!typescript_) return false;
    if (comment.starts_with("///")) return comment.find('<') != std::string_view::npos;
    return comment.find("@ts-") != std::string_view::npos;
  }

  void cut_comment() {
    const auto from = cursor_.position();
    const bool block = cursor_.peek(1) == '*';
    block ? cursor_.skip_block_comment() : cursor_.skip_line();
    const auto comment = cursor_.text().substr(from, cursor_.position() - from);
    for (const std::string_view separator : {"\xE2\x80\xA8", "\xE2\x80\xA9"}) {
      if (comment.find(separator) != std::string_view::npos) {
        cursor_.doubt("a line separator (U+2028, U+2029) stands in a comment", from);
      }
    }
    const auto plain = block ? SegmentKind::block_comment : SegmentKind::line_comment;
    const bool directive = is_directive(comment);
    cursor_.cut(directive ? SegmentKind::directive : plain, from);
    if (!directive) doubt_elements(from);
  }

  Cursor& cursor_;
  bool typescript_;
};

}  // namespace

void scan_javascript(Cursor& cursor, bool typescript) {
  JavaScriptScanner(cursor, typescript).run();
}

}  // namespace sluice
