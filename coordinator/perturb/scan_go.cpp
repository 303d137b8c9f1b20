#include "coordinator/perturb/scanners.hpp"

namespace sluice {

namespace {

bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || is_digit(c);
}

/// `//name:word` as go/ast defines directives, and the older forms that the tools still read.
bool is_directive(std::string_view comment) {
  for (const std::string_view old :
       {"//line ", "/*line ", "//export ", "//extern ", "// +build", "//+build"}) {
    if (comment.starts_with(old)) return true;
  }
  if (!comment.starts_with("//")) return false;
  comment.remove_prefix(2);
  const auto colon = comment.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 >= comment.size()) return false;
  for (const char c : comment.substr(0, colon)) {
    if (!is_lower_or_digit(c)) return false;
  }
  return is_lower_or_digit(comment[colon + 1]);
}

/// `// Output:` and what follows it: an example's expected output, which `go test` compares.
bool is_expected_output(std::string_view comment) {
  comment.remove_prefix(2);
  while (!comment.empty() && is_blank(comment.front())) comment.remove_prefix(1);
  for (const std::string_view word : {"Output:", "output:", "Unordered output:", "unordered output:"}) {
    if (comment.starts_with(word)) return true;
  }
  return false;
}

/// Comments above `import "C"`, alone or in a list, are C code for cgo: where the last such import stands; 0
/// if there is none.
std::size_t end_of_cgo_preamble(std::string_view text) {
  constexpr std::string_view package = "\"C\"";
  for (auto at = text.rfind(package); at != std::string_view::npos && at > 0;
       at = text.rfind(package, at - 1)) {
    const auto line_begin = text.rfind('\n', at) + 1;
    auto before = text.substr(line_begin, at - line_begin);
    while (!before.empty() && is_blank(before.back())) before.remove_suffix(1);
    if (before.empty() || before.ends_with("import")) return at;
  }
  return 0;
}

class GoScanner {
 public:
  explicit GoScanner(Cursor& cursor) : cursor_(cursor), preamble_end_(end_of_cgo_preamble(cursor.text())) {}

  void run() {
    while (!cursor_.done()) step();
  }

 private:
  void step() {
    const char c = cursor_.peek();
    if (cursor_.looking_at("//") || cursor_.looking_at("/*")) return cut_comment();
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') in_expected_output_ = false;
    if (c == '`') {
      cut_raw_string();
    } else if (c == '"' || c == '\'') {
      cursor_.cut_quoted(false);
    } else {
      cursor_.advance();
    }
  }

  void cut_raw_string() {
    const auto from = cursor_.position();
    cursor_.advance();
    if (!cursor_.skip_past("`")) cursor_.doubt("a raw string is not closed", from);
    cursor_.cut(SegmentKind::string, from);
  }

  void cut_comment() {
    const auto from = cursor_.position();
    const bool block = cursor_.peek(1) == '*';
    if (!block) {
      cursor_.skip_line();
    } else if (cursor_.advance(2); !cursor_.skip_past("*/")) {
      cursor_.doubt("a comment is not closed", from);
    }
    const auto comment = cursor_.text().substr(from, cursor_.position() - from);
    in_expected_output_ = in_expected_output_ || is_expected_output(comment);
    const bool read = from < preamble_end_ || in_expected_output_ || is_directive(comment);
    const auto plain = block ? SegmentKind::block_comment : SegmentKind::line_comment;
    cursor_.cut(read ? SegmentKind::directive : plain, from);
  }

  Cursor& cursor_;
  std::size_t preamble_end_;
  bool in_expected_output_ = false;
};

}  // namespace

void scan_go(Cursor& cursor) {
  GoScanner(cursor).run();
}

}  // namespace sluice
