#include "coordinator/perturb/scanners.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace sluice {

namespace {

constexpr bool contains(auto const& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

class CScanner {
 public:
  CScanner(Cursor& cursor, bool cpp) : cursor_(cursor), cpp_(cpp) {}

  void run() {
    if (const auto at = cursor_.text().find("\?\?/"); at != std::string_view::npos) {
      return cursor_.doubt("a trigraph may be a backslash", at);
    }
    while (!cursor_.done()) step();
  }

 private:
  void step() {
    const char c = cursor_.peek();
    if (c == '\n') {
      line_has_tokens_ = false;
      cursor_.advance();
    } else if (cursor_.looking_at("//")) {
      cut_line_comment();
    } else if (cursor_.looking_at("/*")) {
      cut_block_comment();
    } else if (is_blank(c)) {
      cursor_.advance();
    } else if (c == '\\') {
      skip_backslash();
    } else if (c == '#' && !line_has_tokens_) {
      line_has_tokens_ = true;
      scan_directive();
    } else {
      line_has_tokens_ = true;
      scan_token(c);
    }
  }

  void scan_token(char c) {
    if (c == '"') {
      scan_string();
    } else if (c == '\'') {
      cursor_.cut_quoted(false);
    } else if (is_digit(c)) {
      skip_number();
    } else if (is_word_byte(c)) {
      cursor_.take_word();
    } else {
      cursor_.advance();
    }
  }

  /// Behind the splice that begins `ahead` bytes from here: a backslash and a line end, with nothing but
  /// blanks between (as GCC and Clang read it). 0 if none begins there.
  std::size_t splice_at(std::size_t ahead) const {
    if (cursor_.peek(ahead) != '\\') return 0;
    ++ahead;
    while (is_blank(cursor_.peek(ahead))) ++ahead;
    if (cursor_.peek(ahead) == '\r') ++ahead;
    return cursor_.peek(ahead) == '\n' ? ahead + 1 : 0;
  }

  bool continues() const { return splice_at(0) > 0; }

  /// From the star: spliced lines alone keep it from the slash that would end the comment.
  bool ends_behind_splices() const {
    std::size_t ahead = 1;
    for (auto behind = splice_at(ahead); behind > 0; behind = splice_at(behind)) ahead = behind;
    return ahead > 1 && cursor_.peek(ahead) == '/';
  }

  void cut_block_comment() {
    const auto from = cursor_.position();
    cursor_.skip_block_comment();
    cursor_.cut(SegmentKind::block_comment, from);
    const auto end = cursor_.position();
    const auto text = cursor_.text().substr(0, end);
    for (auto at = text.find("*\\", from + 1); at != std::string_view::npos; at = text.find("*\\", at + 1)) {
      cursor_.move_to(at);
      if (at > from + 1 && ends_behind_splices()) {
        cursor_.doubt("a backslash divides the end of a comment", at);
      }
    }
    cursor_.move_to(end);
  }

  /// A spliced line is the same logical line; a splice within a token is nothing that anybody writes.
  void skip_backslash() {
    if (!continues()) return cursor_.advance();
    const char before = cursor_.previous();
    cursor_.skip_line_and_end();
    const char after = cursor_.peek();
    if (before == '/' && (after == '/' || after == '*')) {
      cursor_.doubt("a backslash divides the beginning of a comment");
    }
  }

  void cut_line_comment() {
    const auto from = cursor_.position();
    while (!cursor_.at_line_end()) {
      if (cursor_.peek() == '\\' && continues()) {
        cursor_.skip_line_and_end();
      } else {
        cursor_.advance();
      }
    }
    cursor_.cut(SegmentKind::line_comment, from);
  }

  /// The word before the quote makes it a raw string. GCC reads raw strings in C too, by its default
  /// standard.
  void scan_string() {
    constexpr std::array<std::string_view, 5> raw_prefixes{"R", "LR", "uR", "UR", "u8R"};
    if (!contains(raw_prefixes, cursor_.word_before())) return cursor_.cut_quoted(false);
    if (!cpp_) return cursor_.doubt("a raw string stands in C");
    const auto from = cursor_.position();
    cursor_.advance();
    const auto delimiter = cursor_.rest().substr(0, cursor_.rest().find('('));
    if (delimiter.size() > 16 || !cursor_.skip_past(")" + std::string(delimiter) + "\"")) {
      cursor_.doubt("a raw string is not closed", from);
    }
    cursor_.cut(SegmentKind::string, from);
  }

  /// A preprocessing number: a quote in it separates digits.
  void skip_number() {
    while (is_word_byte(cursor_.peek()) || cursor_.peek() == '.' ||
           (cursor_.peek() == '\'' && is_word_byte(cursor_.peek(1)))) {
      cursor_.advance();
    }
  }

  /// Behind the `#`: what is no ordinary token in its line, if anything.
  void scan_directive() {
    cursor_.advance();
    cursor_.skip_blanks();
    const auto name = cursor_.take_word();
    constexpr std::array<std::string_view, 4> includes{"include", "include_next", "import", "embed"};
    constexpr std::array<std::string_view, 4> messages{"error", "warning", "pragma", "region"};
    if (contains(includes, name)) {
      cursor_.skip_blanks();
      if (cursor_.peek() == '<') cut_header_name('>');
      if (cursor_.peek() == '"') cut_header_name('"');
    } else if (contains(messages, name)) {
      cut_message();
    }
  }

  /// In a header's name neither backslash nor slashes mean anything.
  void cut_header_name(char close) {
    const auto from = cursor_.position();
    cursor_.advance();
    while (!cursor_.at_line_end() && cursor_.peek() != close) cursor_.advance();
    if (cursor_.at_line_end()) cursor_.doubt("the name of a header is not closed", from);
    cursor_.advance();
    cursor_.cut(SegmentKind::string, from);
  }

  /// Free text, in which an apostrophe opens nothing.
  void cut_message() {
    const auto from = cursor_.position();
    while (!cursor_.at_line_end() && !cursor_.looking_at("//") && !cursor_.looking_at("/*")) {
      if (cursor_.peek() == '\\' && continues()) {
        cursor_.skip_line_and_end();
      } else if (cursor_.peek() == '"') {
        skip_message_quote();
      } else {
        cursor_.advance();
      }
    }
    cursor_.cut(SegmentKind::string, from);
  }

  /// Slashes within quotes open no comment; an unpaired quote of the line is only a character.
  void skip_message_quote() {
    const auto from = cursor_.position();
    cursor_.advance();
    while (!cursor_.at_line_end() && cursor_.peek() != '"') {
      cursor_.peek() == '\\' ? cursor_.skip_escape() : cursor_.advance();
    }
    if (cursor_.peek() == '"') return cursor_.advance();
    cursor_.doubt("a string is not closed", from);
  }

  Cursor& cursor_;
  bool cpp_;
  bool line_has_tokens_ = false;
};

}  // namespace

void scan_c(Cursor& cursor, bool cpp) {
  CScanner(cursor, cpp).run();
}

}  // namespace sluice
