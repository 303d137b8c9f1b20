#include "coordinator/perturb/scanners.hpp"

#include <string>
#include <utility>
#include <vector>

namespace sluice {

namespace {

/// POSIX shells and bash. What is quoted or substituted is passed over by recursion; only whole words at the
/// outermost level become segments.
class ShellScanner {
 public:
  explicit ShellScanner(Cursor& cursor) : cursor_(cursor) {}

  void run() {
    scan_commands(false);
    if (!pending_.empty()) cursor_.doubt("a here-document has no end");
  }

 private:
  struct HereDocument {
    std::string delimiter;
    bool strips_tabs = false;
  };
  static constexpr int max_depth = 50;

  /// One level deeper for as long as it lives; a doubt where that is too deep for the recursion.
  class Level {
   public:
    explicit Level(ShellScanner& scanner) : depth_(scanner.depth_) {
      if (++depth_ > max_depth) scanner.cursor_.doubt("substitutions are nested too deeply");
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --depth_; }

   private:
    int& depth_;
  };

  /// Up to the end, or with `nested` to behind the parenthesis that closes a substitution.
  void scan_commands(bool nested) {
    const Level level(*this);
    for (int parentheses = 0; !cursor_.done();) {
      const char c = cursor_.peek();
      if (c == '(') ++parentheses;
      if (c == ')' && nested && parentheses-- == 0) {
        cursor_.advance();
        break;
      }
      if (nested && cursor_.looking_at("case") && !is_word_byte(cursor_.previous()) &&
          is_blank(cursor_.peek(4))) {
        cursor_.doubt("a case within a substitution has parentheses of its own");
      }
      scan_token(c);
    }
  }

  void scan_token(char c) {
    if (c == '\n') {
      cursor_.advance();
      skip_here_documents();
    } else if (c == '\\') {
      cursor_.skip_escape();
      escape_end_ = cursor_.position();
    } else if (c == '#' && begins_word()) {
      depth_ == 1 ? cursor_.cut_line(SegmentKind::line_comment) : cursor_.skip_line();
    } else if (cursor_.looking_at("((")) {
      opaque([&] { skip_arithmetic_or_subshell(); });
    } else if (cursor_.looking_at("<<<")) {
      cursor_.advance(3);
    } else if (cursor_.looking_at("<<")) {
      read_here_operator();
    } else if (c == '\'' || c == '"' || c == '`' || c == '$') {
      opaque([&] { skip_quoted(c); });
    } else {
      cursor_.advance();
    }
  }

  /// At the outermost level what is passed over becomes a string.
  template <class Skip>
  void opaque(Skip skip) {
    const auto from = cursor_.position();
    const bool outermost = depth_ == 1;
    skip();
    if (outermost && cursor_.position() > from + 1) cursor_.cut(SegmentKind::string, from);
  }

  bool begins_word() const {
    if (cursor_.position() == escape_end_ && escape_end_ > 0 && cursor_.previous() != '\n') return false;
    const char before = cursor_.previous();
    return before == '\0' || std::string_view(" \t\n;&|()<>").find(before) != std::string_view::npos;
  }

  void skip_quoted(char c) {
    if (c == '\'') {
      const auto from = cursor_.position();
      cursor_.advance();
      if (!cursor_.skip_past("'")) cursor_.doubt("a string is not closed", from);
    } else if (c == '"') {
      skip_double_quoted();
    } else if (c == '`') {
      cursor_.skip_quoted(true);
    } else {
      skip_dollar(false);
    }
  }

  /// `$'...'`, `${...}`, `$(...)`, `$((...))`, or a plain name.
  void skip_dollar(bool in_quotes) {
    cursor_.advance();
    if (cursor_.peek() == '\'' && !in_quotes) {
      cursor_.skip_quoted(true);
    } else if (cursor_.peek() == '{') {
      skip_parameter(in_quotes);
    } else if (cursor_.looking_at("((")) {
      skip_arithmetic_or_subshell();
    } else if (cursor_.peek() == '(') {
      cursor_.advance();
      scan_commands(true);
    } else if (cursor_.peek() == '#' || cursor_.peek() == '$') {
      cursor_.advance();
    }
  }

  void skip_double_quoted() {
    const Level level(*this);
    const auto from = cursor_.position();
    cursor_.advance();
    while (!cursor_.done()) {
      const char c = cursor_.peek();
      if (c == '"') return cursor_.advance();
      if (c == '\\') {
        cursor_.skip_escape();
      } else if (c == '$') {
        skip_dollar(true);
      } else if (c == '`') {
        cursor_.skip_quoted(true);
      } else {
        cursor_.advance();
      }
    }
    cursor_.doubt("a string is not closed", from);
  }

  void skip_parameter(bool in_quotes) {
    const Level level(*this);
    const auto from = cursor_.position();
    cursor_.advance();
    while (!cursor_.done() && cursor_.peek() != '}') {
      const char c = cursor_.peek();
      if (c == '\'' && in_quotes) return cursor_.doubt("an apostrophe stands in an expansion within quotes");
      if (c == '\\') {
        cursor_.skip_escape();
      } else if (c == '\'' || c == '"' || c == '`') {
        skip_quoted(c);
      } else if (c == '$') {
        skip_dollar(in_quotes);
      } else {
        cursor_.advance();
      }
    }
    if (cursor_.at_end()) return cursor_.doubt("an expansion is not closed", from);
    cursor_.advance();
  }

  /// Arithmetic up to `))`. Two subshells opened at once look alike: a parenthesis closed alone gives them
  /// away.
  void skip_arithmetic_or_subshell() {
    const Level level(*this);
    const auto from = cursor_.position();
    cursor_.advance(2);
    for (int depth = 0; !cursor_.done();) {
      const char c = cursor_.peek();
      if (c == '(') ++depth;
      if (c == ')' && depth-- == 0) {
        if (cursor_.peek(1) == ')') return cursor_.advance(2);
        break;
      }
      if (c == '\\') {
        cursor_.skip_escape();
      } else if (c == '\'' || c == '"' || c == '`') {
        skip_quoted(c);
      } else if (c == '$') {
        skip_dollar(false);
      } else {
        cursor_.advance();
      }
    }
    cursor_.doubt("two parentheses may open arithmetic or subshells", from);
  }

  /// `<<` or `<<-` and the delimiter, whose quotes are taken away.
  void read_here_operator() {
    const auto from = cursor_.position();
    cursor_.advance(2);
    HereDocument document;
    if (cursor_.peek() == '-') {
      document.strips_tabs = true;
      cursor_.advance();
    }
    cursor_.skip_blanks();
    while (!cursor_.at_end() &&
           std::string_view(" \t\n\r;&|()<>").find(cursor_.peek()) == std::string_view::npos) {
      const char c = cursor_.peek();
      cursor_.advance();
      if (c == '$' || c == '`') cursor_.doubt("the end of a here-document is no plain word", from);
      if (c != '"' && c != '\'' && c != '\\') document.delimiter += c;
    }
    if (document.delimiter.empty()) return cursor_.doubt("the end of a here-document is no plain word", from);
    if (depth_ == 1) cursor_.cut(SegmentKind::string, from);
    pending_.push_back(std::move(document));
  }

  void skip_here_documents() {
    if (pending_.empty()) return;
    // The line end belongs to it: a blank line behind would be its first.
    const auto from = cursor_.position() - 1;
    for (const auto& document : std::exchange(pending_, {})) {
      if (!skip_here_document(document)) return cursor_.doubt("a here-document has no end", from);
    }
    // A blank behind the delimiter would be part of it.
    cursor_.skip_line_and_end();
    if (depth_ == 1) cursor_.cut(SegmentKind::string, from);
  }

  /// To the end of its closing line.
  bool skip_here_document(const HereDocument& document) {
    while (!cursor_.at_end()) {
      if (cursor_.peek() == '\n' || cursor_.peek() == '\r') {
        cursor_.skip_line_and_end();
      }
      const auto from = cursor_.position();
      cursor_.skip_line();
      auto line = cursor_.text().substr(from, cursor_.position() - from);
      while (document.strips_tabs && line.starts_with('\t')) line.remove_prefix(1);
      if (line == document.delimiter) return true;
    }
    return false;
  }

  Cursor& cursor_;
  int depth_ = 0;
  std::size_t escape_end_ = 0;  ///< Behind the last escaped character, which belongs to a word.
  std::vector<HereDocument> pending_;
};

}  // namespace

void scan_shell(Cursor& cursor) {
  ShellScanner(cursor).run();
}

}  // namespace sluice
