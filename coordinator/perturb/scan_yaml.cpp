#include "coordinator/perturb/scanners.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace sluice {

namespace {

/// Reads line by line and keeps the columns of the open block collections, which decide where scalars of
/// several lines end (YAML 1.2.2, chapters 7 and 8).
class YamlScanner {
 public:
  explicit YamlScanner(Cursor& cursor) : cursor_(cursor) {}

  void run() {
    while (!cursor_.done()) scan_line();
  }

 private:
  void scan_line() {
    line_begin_ = cursor_.position();
    while (cursor_.peek() == ' ') cursor_.advance();
    const auto indentation = column();
    cursor_.skip_blanks();
    if (cursor_.at_line_end()) return cursor_.skip_line_and_end();
    if (cursor_.peek() == '#') {
      close_plain();
      cut_comment();
    } else if (indentation == 0 && is_document_marker()) {
      columns_.clear();
      open_plain_.reset();
      cursor_.advance(3);
      scan_node();
    } else if (open_plain_ && indentation > open_plain_->parent) {
      continue_plain();
    } else if (indentation == 0 && cursor_.peek() == '%') {
      open_plain_.reset();
      cursor_.cut_line(SegmentKind::directive);
    } else {
      scan_node();
    }
    cursor_.skip_line_and_end();
  }

  void close_plain() {
    if (open_plain_) open_plain_->closed = true;
  }

  int column() const { return static_cast<int>(cursor_.position() - line_begin_); }

  bool ends_indicator(std::size_t ahead) const {
    const char c = cursor_.peek(ahead);
    return is_blank(c) || c == '\n' || c == '\r' || c == '\0';
  }

  bool is_document_marker() const {
    return (cursor_.looking_at("---") || cursor_.looking_at("...")) && ends_indicator(3);
  }

  /// What names the kind of a whole file, as cloud-init reads it, must stay in the first line.
  bool names_file_kind() const {
    return cursor_.position() == 0 && (cursor_.looking_at("#cloud-") || cursor_.looking_at("## template:"));
  }

  void cut_comment() {
    const bool stays = below_kept_scalar_ || names_file_kind();
    cursor_.cut_line(stays ? SegmentKind::directive : SegmentKind::line_comment);
  }

  /// An entry of a block collection begins here.
  void enter(int at) {
    while (!columns_.empty() && columns_.back() > at) columns_.pop_back();
    if (columns_.empty() || columns_.back() != at) columns_.push_back(at);
  }

  /// The column that whatever goes on with the node at `at` must be indented beyond.
  int parent_of(int at) {
    while (!columns_.empty() && columns_.back() >= at) columns_.pop_back();
    return columns_.empty() ? -1 : columns_.back();
  }

  /// The rest of a line, or more if a scalar or flow collection goes on; ends before a line end.
  void scan_node() {
    open_plain_.reset();
    below_kept_scalar_ = false;
    while (!cursor_.done()) {
      cursor_.skip_blanks();
      const char c = cursor_.peek();
      if (cursor_.at_line_end()) return;
      if (c == '#') return cut_comment();
      if ((c == '-' || c == '?' || c == ':') && ends_indicator(1)) {
        enter(column());
        cursor_.advance();
      } else if (c == '&' || c == '!' || c == '*') {
        while (!ends_indicator(0)) cursor_.advance();
      } else if (c == '"' || c == '\'') {
        scan_quoted_node();
      } else if (c == '[' || c == '{') {
        scan_flow();
      } else if (c == '|' || c == '>') {
        return scan_block_scalar();
      } else if (c == '@' || c == '`' || c == '%') {
        return cursor_.doubt("a plain scalar begins with a reserved character");
      } else if (!scan_plain()) {
        return;
      }
    }
  }

  void cut_quoted() {
    if (cursor_.peek() == '"') return cursor_.cut_quoted(true);
    const auto from = cursor_.position();
    do {
      cursor_.advance();
      if (!cursor_.skip_past("'")) return cursor_.doubt("a string is not closed", from);
    } while (cursor_.peek() == '\'');
    cursor_.cut(SegmentKind::string, from);
  }

  void scan_quoted_node() {
    const auto at = column();
    cut_quoted();
    cursor_.skip_blanks();
    if (cursor_.peek() == ':' && ends_indicator(1)) {
      enter(at);
      cursor_.advance();
    } else if (!cursor_.at_line_end() && cursor_.peek() != '#') {
      cursor_.doubt("something follows a closed string");
    }
  }

  /// A scalar without quotes. True if the node goes on behind it: it is a key, or a comment follows.
  bool scan_plain() {
    const auto at = column();
    const auto end = skip_plain_line(true);
    if (cursor_.peek() == ':') {
      enter(at);
      cursor_.advance();
      return true;
    }
    open_plain_ = OpenPlain{parent_of(at), end, cursor_.peek() == '#'};
    return open_plain_->closed;
  }

  /// To the line end, a comment, or with `keys` the colon of a key. Returns where the text ends.
  std::size_t skip_plain_line(bool keys) {
    auto end = cursor_.position();
    for (; !cursor_.at_line_end(); cursor_.advance()) {
      const char c = cursor_.peek();
      if (c == '#' && is_blank(cursor_.previous())) {
        return end;
      }
      if (keys && c == ':' && ends_indicator(1)) return end;
      if (!is_blank(c)) end = cursor_.position() + 1;
    }
    return end;
  }

  /// A further line of a plain scalar: folded with the ones before, the line ends between them included.
  void continue_plain() {
    if (open_plain_->closed) return cursor_.doubt("a comment stands within a scalar of several lines");
    const auto end = skip_plain_line(false);
    const auto stopped = cursor_.position();
    cursor_.move_to(end);
    cursor_.cut(SegmentKind::string, open_plain_->end);
    cursor_.move_to(stopped);
    open_plain_->end = end;
    if (cursor_.peek() == '#') {
      close_plain();
      cut_comment();
    }
  }

  /// A flow collection to its closing bracket. Its line ends are left alone: plain scalars may be folded
  /// there.
  void scan_flow() {
    const auto from = cursor_.position();
    bool token_begins = true;
    for (int depth = 0; !cursor_.done();) {
      const char c = cursor_.peek();
      if ((c == '"' || c == '\'') && token_begins) {
        cut_quoted();
        if (cursor_.peek() == ':') cursor_.advance();
      } else if (c == '#' && (is_blank(cursor_.previous()) || cursor_.previous() == '\n')) {
        cut_comment();
      } else if (c == '\n' || c == '\r') {
        cut_line_end();
      } else {
        if (c == '[' || c == '{') ++depth;
        if (c == ']' || c == '}') --depth;
        token_begins = c == '[' || c == '{' || c == ',' || (c == ':' && ends_indicator(1)) ||
                       (token_begins && is_blank(c));
        cursor_.advance();
        if (depth == 0) return check_behind_flow();
      }
    }
    cursor_.doubt("a flow collection is not closed", from);
  }

  void cut_line_end() {
    const auto from = cursor_.position();
    cursor_.skip_line_and_end();
    line_begin_ = cursor_.position();
    cursor_.skip_blanks();
    cursor_.cut(SegmentKind::string, from);
  }

  void check_behind_flow() {
    if (!ends_indicator(0) && cursor_.peek() != ':')
      cursor_.doubt("something follows a closed flow collection");
  }

  /// `|` or `>` with its indicators, and the lines that are indented deeper than the parent.
  void scan_block_scalar() {
    const int parent = std::max(columns_.empty() ? -1 : columns_.back(), -1);
    std::optional<int> indentation;
    bool keeps = false;
    for (cursor_.advance(); !ends_indicator(0); cursor_.advance()) {
      const char c = cursor_.peek();
      if (c >= '1' && c <= '9') {
        indentation = std::max(parent, 0) + (c - '0');
      } else if (c == '+') {
        keeps = true;
      } else if (c != '-') {
        return cursor_.doubt("a block scalar has an unknown indicator");
      }
    }
    cursor_.skip_blanks();
    if (cursor_.peek() == '#') cut_comment();
    if (!cursor_.at_line_end()) return cursor_.doubt("something follows the indicator of a block scalar");
    cut_block_lines(parent, indentation);
    below_kept_scalar_ = keeps;
  }

  /// Its lines with the blank ones around them, from the line end behind the header to the last one's line
  /// end.
  void cut_block_lines(int parent, std::optional<int> indentation) {
    const auto from = cursor_.position();
    cursor_.skip_line_and_end();
    while (!cursor_.at_end()) {
      const auto line = cursor_.position();
      line_begin_ = line;
      while (cursor_.peek() == ' ') cursor_.advance();
      const auto indented = column();
      const bool marks_document = indented == 0 && is_document_marker();
      cursor_.skip_blanks();
      if (!cursor_.at_line_end()) {
        if (!indentation && indented > parent) indentation = indented;
        if (!indentation || indented < *indentation || marks_document) {
          cursor_.move_to(line);
          break;
        }
      }
      cursor_.skip_line_and_end();
    }
    cursor_.cut(SegmentKind::string, from);
    if (!cursor_.at_end()) cursor_.move_to(cursor_.position() - 1);
  }

  struct OpenPlain {
    int parent = -1;
    std::size_t end = 0;
    bool closed = false;  ///< A comment stands behind it: nothing may go on with it.
  };

  Cursor& cursor_;
  std::size_t line_begin_ = 0;
  std::vector<int> columns_;
  std::optional<OpenPlain> open_plain_;
  /// A comment that ends a scalar with kept line ends must stay, or blank lines below it would become
  /// content.
  bool below_kept_scalar_ = false;
};

}  // namespace

void scan_yaml(Cursor& cursor) {
  YamlScanner(cursor).run();
}

}  // namespace sluice
