#include "coordinator/perturb/scanners.hpp"

#include <algorithm>
#include <vector>

namespace sluice {

namespace {

bool is_small_or_digit(char c) {
  return is_small(c) || is_digit(c);
}

/// `//name:word` as go/ast defines directives, and the older forms that the tools still read.
bool is_directive(std::string_view comment) {
  for (const std::string_view old : {"//line ", "/*line ", "//export ", "//extern "}) {
    if (comment.starts_with(old)) return true;
  }
  if (!comment.starts_with("//")) return false;
  comment.remove_prefix(2);
  const auto words = comment.substr(std::min(comment.find_first_not_of(" \t"), comment.size()));
  if (words.starts_with("+build")) return true;
  const auto colon = comment.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 >= comment.size()) return false;
  return std::ranges::all_of(comment.substr(0, colon), is_small_or_digit) &&
         is_small_or_digit(comment[colon + 1]);
}

bool starts_with_any_case(std::string_view text, std::string_view lowered) {
  const auto equal = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  return text.size() >= lowered.size() && std::ranges::equal(text.substr(0, lowered.size()), lowered, equal);
}

/// One of its lines reads `Output:` or `Unordered output:`, as go/doc matches them: an example's expected
/// output, which `go test` compares.
bool holds_expected_output(std::string_view comment) {
  comment.remove_prefix(2);
  for (auto rest = comment;;) {
    const auto first = std::min(rest.find_first_not_of(" \t\r\n\f\v"), rest.size());
    rest.remove_prefix(first);
    for (const std::string_view words : {"output:", "unordered output:"}) {
      if (starts_with_any_case(rest, words)) return true;
    }
    const auto feed = rest.find('\n');
    if (feed == std::string_view::npos) return false;
    rest.remove_prefix(feed + 1);
  }
}

/// Comments above `import "C"`, alone or in a list, are C code for cgo: where the last such import stands; 0
/// if there is none.
std::size_t end_of_cgo_preamble(std::string_view text) {
  constexpr std::string_view package = "\"C\"";
  for (auto at = text.rfind(package); at != std::string_view::npos && at > 0;
       at = text.rfind(package, at - 1)) {
    auto before = without_trailing_blanks(text.substr(0, at));
    if (before.empty() || before.ends_with('\n') || before.ends_with("import")) return at;
    if (!before.ends_with('(')) continue;
    before.remove_suffix(1);
    if (without_trailing_blanks(before).ends_with("import")) return at;
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
    if (at_comment()) {
      cut_comments();
    } else if (c == '`') {
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

  struct Comment {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  bool at_comment() const { return cursor_.looking_at("//") || cursor_.looking_at("/*"); }

  Comment skip_comment() {
    const auto from = cursor_.position();
    if (cursor_.peek(1) == '/') {
      cursor_.skip_line();
    } else {
      cursor_.skip_block_comment();
    }
    return {from, cursor_.position()};
  }

  /// All up to the next code. If one holds an expected output all stay: without a comment before it, text
  /// that nobody compared could become the beginning of a group, and be compared.
  void cut_comments() {
    std::vector<Comment> comments;
    bool expected_output = false;
    while (!cursor_.done() && at_comment()) {
      comments.push_back(skip_comment());
      expected_output = expected_output || holds_expected_output(text_of(comments.back()));
      while (is_blank(cursor_.peek()) || cursor_.peek() == '\r' || cursor_.peek() == '\n') cursor_.advance();
    }
    const auto end = cursor_.position();
    for (const Comment& comment : comments) {
      cursor_.move_to(comment.end);
      cursor_.cut(expected_output ? SegmentKind::directive : kind_of(comment), comment.begin);
    }
    cursor_.move_to(end);
  }

  SegmentKind kind_of(const Comment& comment) const {
    const auto text = text_of(comment);
    if (comment.begin < preamble_end_ || is_directive(text)) return SegmentKind::directive;
    return text.starts_with("/*") ? SegmentKind::block_comment : SegmentKind::line_comment;
  }

  std::string_view text_of(const Comment& comment) const {
    return cursor_.text().substr(comment.begin, comment.end - comment.begin);
  }

  Cursor& cursor_;
  std::size_t preamble_end_;
};

}  // namespace

void scan_go(Cursor& cursor) {
  GoScanner(cursor).run();
}

}  // namespace sluice
