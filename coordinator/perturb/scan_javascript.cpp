#include "coordinator/perturb/javascript_words.hpp"
#include "coordinator/perturb/scanners.hpp"

#include <map>
#include <optional>
#include <vector>

namespace sluice {

namespace {

/// What stands before a slash decides whether it divides or opens a regular expression.
enum class Before : std::uint8_t { operand, operation, unsure };

enum class Frame : std::uint8_t {
  block,
  parenthesis,
  bracket,
  substitution,
  template_text,
  tag,
  children,
  expression
};

struct Open {
  Frame frame;
  Before after = Before::operation;  ///< What its closing leaves before the next token.
  std::size_t at = 0;
  Before body = Before::unsure;  ///< Of a parenthesis: what the braces behind it leave, once closed.
};

/// Stands for `=>` where the last byte of a token tells which it is.
constexpr char arrow = '\x01';

class JavaScriptScanner {
 public:
  JavaScriptScanner(Cursor& cursor, bool typescript) : cursor_(cursor), typescript_(typescript) {}

  void run() {
    while (!cursor_.done()) step();
    if (!open_.empty()) cursor_.doubt("a bracket is not closed", open_.back().at);
  }

 private:
  void step() {
    switch (open_.empty() ? Frame::block : open_.back().frame) {
      case Frame::template_text:
        return scan_template_text();
      case Frame::tag:
        return scan_tag();
      case Frame::children:
        return scan_children();
      default:
        return scan_code();
    }
  }

  void push(Frame frame, Before after) { open_.push_back({frame, after, cursor_.position()}); }

  void token(Before before) {
    before_ = before;
    word_ = {};
    line_has_tokens_ = true;
  }

  void scan_code() {
    const char c = cursor_.peek();
    if (c == '\n') {
      line_has_tokens_ = false;
      cursor_.advance();
    } else if (is_blank(c) || c == '\r' || c == '\f' || c == '\v') {
      cursor_.advance();
    } else if (cursor_.looking_at("//") || cursor_.looking_at("/*")) {
      cut_comment();
    } else if (c == '"' || c == '\'') {
      cursor_.cut_quoted(false);
      token(Before::operand);
    } else if (c == '`') {
      push(Frame::template_text, Before::operand);
      template_from_ = cursor_.position();
      cursor_.advance();
    } else if (is_digit(c) || (c == '.' && is_digit(cursor_.peek(1)))) {
      scan_number();
    } else if (is_name_byte(c)) {
      scan_word();
    } else if (c == '/') {
      scan_slash();
    } else {
      scan_punctuation(c);
    }
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
    if (!block) {
      cursor_.skip_line();
    } else if (cursor_.advance(2); !cursor_.skip_past("*/")) {
      cursor_.doubt("a comment is not closed", from);
    }
    const auto comment = cursor_.text().substr(from, cursor_.position() - from);
    for (const std::string_view separator : {"\xE2\x80\xA8", "\xE2\x80\xA9"}) {
      if (comment.find(separator) != std::string_view::npos) {
        cursor_.doubt("a line separator (U+2028, U+2029) stands in a comment", from);
      }
    }
    const auto plain = block ? SegmentKind::block_comment : SegmentKind::line_comment;
    cursor_.cut(is_directive(comment) ? SegmentKind::directive : plain, from);
  }

  /// With its points; the sign of an exponent and what follows are as good as tokens of their own.
  void scan_number() {
    while (is_name_byte(cursor_.peek()) || cursor_.peek() == '.') cursor_.advance();
    token(Before::operand);
    last_ = 'a';
  }

  void scan_word() {
    const bool member = last_ == '.';
    const auto from = cursor_.position();
    while (!cursor_.at_end() && is_name_byte(cursor_.peek())) cursor_.advance();
    const auto word = cursor_.text().substr(from, cursor_.position() - from);
    if (holds_wide_space(word)) return cursor_.doubt("a space beyond ASCII stands in the code", from);
    if (word == "function" && !member) function_body_ = after_function();
    const bool operates = !member && is_operator_word(word);
    const bool unsure = !member && is_unsure_word(word);
    token(operates ? Before::operation : unsure ? Before::unsure : Before::operand);
    if (!member) word_ = word;
    last_ = 'a';
  }

  /// What the body of a function that is named here leaves: nothing before the next statement if it is
  /// declared; as an expression it is divided.
  Before after_function() const {
    const bool begins_statement = last_ == '\0' || last_ == ';' || last_ == '{' || last_ == '}';
    return begins_statement ? Before::operation : Before::unsure;
  }

  void scan_slash() {
    if (before_ == Before::unsure) return cursor_.doubt("a slash may divide or open a regular expression");
    last_ = '/';
    if (before_ == Before::operand) {
      cursor_.advance();
      return token(Before::operation);
    }
    const auto from = cursor_.position();
    cursor_.advance();
    for (bool in_class = false; in_class || cursor_.peek() != '/';) {
      if (cursor_.peek() == '[') in_class = true;
      if (cursor_.peek() == ']') in_class = false;
      if (cursor_.peek() == '\\') cursor_.advance();
      if (cursor_.at_line_end()) return cursor_.doubt("a regular expression is not closed", from);
      cursor_.advance();
    }
    cursor_.advance();
    while (is_name_byte(cursor_.peek())) cursor_.advance();
    cursor_.cut(SegmentKind::string, from);
    token(Before::operand);
  }

  void scan_punctuation(char c) {
    if (cursor_.looking_at("<!--") || (cursor_.looking_at("-->") && !line_has_tokens_)) {
      return cursor_.doubt("an HTML comment may begin or end here");
    }
    if (c == '<' && before_ != Before::operand && opens_jsx()) return open_tag();
    const char last = last_;
    last_ = c;
    switch (c) {
      case '(':
        push(Frame::parenthesis, is_statement_head(word_) ? Before::operation : Before::operand);
        open_.back().body = is_block_head(word_) ? Before::operation : function_body_;
        function_body_ = Before::unsure;
        break;
      case '[':
        push(Frame::bracket, Before::operand);
        break;
      case '{':
        push(Frame::block, after_brace(last));
        break;
      case ')':
        return close(Frame::parenthesis);
      case ']':
        return close(Frame::bracket);
      case '}':
        return close_brace();
      default:
        return scan_operator(c);
    }
    cursor_.advance();
    token(Before::operation);
  }

  /// `last` is the byte of the token before the brace: behind an assignment or in an expression's list it
  /// opens an object, behind a statement's head or end a block. Whether a class or a function is an
  /// expression cannot be told from there, nor whether braces belong to a type.
  Before after_brace(char last) const {
    if (last == ')') return closed_body_;
    if (last == ';' || last == '{' || last == '\0' || last == arrow) return Before::operation;
    if (last == '}' && !typescript_) return Before::operation;
    if (word_ == "else" || word_ == "do") return Before::operation;
    if (last == '=' && typescript_) return Before::unsure;
    if (last == '=' || last == '(' || last == ',' || last == '[' || last == '?') return Before::operand;
    return Before::unsure;
  }

  void close(Frame frame) {
    if (open_.empty() || open_.back().frame != frame) {
      return cursor_.doubt("a closing bracket has no opening one");
    }
    const auto after = open_.back().after;
    closed_body_ = open_.back().body;
    open_.pop_back();
    cursor_.advance();
    token(after);
  }

  void close_brace() {
    const auto frame = open_.empty() ? Frame::parenthesis : open_.back().frame;
    if (frame != Frame::substitution && frame != Frame::expression) return close(Frame::block);
    close(frame);
    template_from_ = cursor_.position();
  }

  /// `++` and `--`, and TypeScript's `!` behind an operand, leave what was before them.
  void scan_operator(char c) {
    if (cursor_.looking_at("...") || cursor_.looking_at("=>")) {
      last_ = c == '.' ? ',' : arrow;
      cursor_.advance(c == '.' ? 3 : 2);
      return token(Before::operation);
    }
    const bool doubled = (c == '+' || c == '-') && cursor_.peek(1) == c;
    const bool asserts =
        typescript_ && c == '!' && before_ == Before::operand && line_has_tokens_ && cursor_.peek(1) != '=';
    cursor_.advance(doubled ? 2 : 1);
    if (doubled || asserts) {
      line_has_tokens_ = true;
    } else {
      token(Before::operation);
    }
  }

  void scan_template_text() {
    const auto from = template_from_;
    while (!cursor_.at_end() && cursor_.peek() != '`' && !cursor_.looking_at("${")) {
      cursor_.peek() == '\\' ? cursor_.skip_escape() : cursor_.advance();
    }
    if (cursor_.at_end()) return cursor_.doubt("a template literal is not closed", open_.back().at);
    if (cursor_.peek() == '`') {
      open_.pop_back();
      cursor_.advance();
      cursor_.cut(SegmentKind::string, from);
      last_ = '`';
      return token(Before::operand);
    }
    cursor_.advance(2);
    cursor_.cut(SegmentKind::string, from);
    push(Frame::substitution, Before::operand);
    last_ = '(';
    token(Before::operation);
  }

  /// `</name` stands somewhere behind the cursor.
  bool is_closed_below(std::string_view name) {
    if (!last_closings_) {
      last_closings_.emplace();
      const auto text = cursor_.text();
      for (auto at = text.find("</"); at != std::string_view::npos; at = text.find("</", at + 2)) {
        std::size_t end = at + 2;
        while (end < text.size() && is_tag_byte(text[end])) ++end;
        (*last_closings_)[text.substr(at + 2, end - at - 2)] = at;
      }
    }
    const auto found = last_closings_->find(name);
    return found != last_closings_->end() && found->second > cursor_.position();
  }

  /// In JavaScript nothing else can begin so. In TypeScript it may be a type: an element has attributes, or
  /// is closed somewhere.
  bool opens_jsx() {
    std::size_t end = 1;
    while (is_tag_byte(cursor_.peek(end))) ++end;
    const auto name = cursor_.rest().substr(1, end - 1);
    if (name.empty()) return cursor_.peek(1) == '>';
    if (is_digit(name.front())) return false;
    if (!typescript_) return true;
    std::size_t next = end;
    while (is_blank(cursor_.peek(next)) || cursor_.peek(next) == '\n' || cursor_.peek(next) == '\r') ++next;
    if (cursor_.peek(next) == '/') {
      if (cursor_.peek(next + 1) != '>')
        cursor_.doubt("a comment stands where an element or a type may begin");
      return true;
    }
    if (next > end && (is_name_byte(cursor_.peek(next)) || cursor_.peek(next) == '{')) {
      return !cursor_.rest().substr(next).starts_with("extends");
    }
    return is_closed_below(name);
  }

  void open_tag() {
    if (before_ == Before::unsure) return cursor_.doubt("a less-than sign may compare or open an element");
    push(Frame::tag, Before::operand);
    cursor_.advance();
  }

  void scan_tag() {
    const char c = cursor_.peek();
    if (cursor_.looking_at("//") || cursor_.looking_at("/*")) {
      cut_comment();
    } else if (c == '"' || c == '\'') {
      const auto from = cursor_.position();
      cursor_.advance();
      if (!cursor_.skip_past(std::string_view(&c, 1))) cursor_.doubt("a string is not closed", from);
      cursor_.cut(SegmentKind::string, from);
    } else if (c == '{') {
      open_expression();
    } else if (cursor_.looking_at("/>")) {
      cursor_.advance(2);
      leave_element();
    } else if (c == '>') {
      cursor_.advance();
      open_.back().frame = Frame::children;
    } else if (c == '<') {
      cursor_.doubt("an element has type arguments");
    } else {
      cursor_.advance();
    }
  }

  void scan_children() {
    const auto from = cursor_.position();
    while (!cursor_.at_end() && cursor_.peek() != '<' && cursor_.peek() != '{') cursor_.advance();
    cursor_.cut(SegmentKind::string, from);
    if (cursor_.peek() == '{') {
      open_expression();
    } else if (cursor_.looking_at("</")) {
      cursor_.skip_past(">");
      leave_element();
    } else if (cursor_.peek() == '<') {
      push(Frame::tag, Before::operand);
      cursor_.advance();
    }
  }

  void open_expression() {
    push(Frame::expression, Before::operand);
    cursor_.advance();
    last_ = '(';
    token(Before::operation);
  }

  void leave_element() {
    open_.pop_back();
    last_ = '>';
    token(Before::operand);
  }

  Cursor& cursor_;
  bool typescript_;
  std::vector<Open> open_;
  Before before_ = Before::operation;
  std::string_view word_;                  ///< The last token, if it is a word and no member's name.
  char last_ = '\0';                       ///< The last byte of the last token.
  Before function_body_ = Before::unsure;  ///< Of the function whose parenthesis comes next.
  Before closed_body_ = Before::unsure;    ///< Open::body of the last bracket that was closed.
  bool line_has_tokens_ = false;
  std::size_t template_from_ = 0;
  std::optional<std::map<std::string_view, std::size_t>>
      last_closings_;  ///< By element; made when first needed.
};

}  // namespace

void scan_javascript(Cursor& cursor, bool typescript) {
  JavaScriptScanner(cursor, typescript).run();
}

}  // namespace sluice
