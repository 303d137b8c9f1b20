#include "coordinator/suite/toml_statements.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Walks over a TOML text. Every step moves on and none goes beyond the end, whatever the text.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  std::size_t position() const { return position_; }
  std::uint32_t line() const { return line_; }
  bool at_end() const { return position_ >= text_.size(); }
  char now() const { return at_end() ? '\0' : text_[position_]; }

  void step(std::size_t count = 1) {
    for (; count > 0 && !at_end(); --count) {
      if (text_[position_++] == '\n') ++line_;
    }
  }
  bool at(std::string_view piece) const { return text_.substr(position_).starts_with(piece); }
  void skip_blanks() {
    while (now() == ' ' || now() == '\t') step();
  }
  void skip_to_line_end() {
    while (!at_end() && now() != '\n') step();
  }
  /// A string of any of the four kinds.
  void skip_string() {
    const char quote = now();
    const bool escapes = quote == '"';
    const std::string three(3, quote);
    const std::string_view closing = at(three) ? std::string_view(three) : std::string_view(three).substr(2);
    step(closing.size());
    while (!at_end() && !at(closing)) step(escapes && now() == '\\' ? 2 : 1);
    step(closing.size());
    // Up to two quotes may stand in front of the closing three.
    while (closing.size() == 3 && now() == quote) step();
  }
  /// A value, up to the line end or the comment that ends it.
  void skip_value() {
    int depth = 0;
    while (!at_end() && (depth > 0 || (now() != '\n' && now() != '#'))) step_over_piece(depth);
  }
  /// A key up to `=` or `]`.
  std::vector<std::string> read_key() {
    std::vector<std::string> parts;
    while (!at_end() && now() != '=' && now() != ']') {
      skip_blanks();
      const auto begin = position_;
      if (now() == '"' || now() == '\'') {
        skip_string();
        const auto end = std::max(begin + 2, position_);
        parts.emplace_back(text_.substr(begin + 1, end - begin - 2));
      } else {
        while (!at_end() && std::string_view(" \t.=]\n").find(now()) == std::string_view::npos) step();
        parts.emplace_back(text_.substr(begin, position_ - begin));
      }
      skip_blanks();
      if (now() != '.') break;
      step();
    }
    return parts;
  }
  /// The position in front of white space that ends here.
  std::size_t trimmed(std::size_t begin, std::size_t end) const {
    while (end > begin && std::string_view(" \t\r\n").find(text_[end - 1]) != std::string_view::npos) --end;
    return end;
  }

 private:
  void step_over_piece(int& depth) {
    const char c = now();
    if (c == '"' || c == '\'') return skip_string();
    if (c == '#') return skip_to_line_end();
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    step();
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::uint32_t line_ = 1;
};

void read_key_and_value(Walker& walker, TomlStatement& statement) {
  statement.key_begin = walker.position();
  statement.key = walker.read_key();
  statement.key_end = walker.trimmed(statement.key_begin, walker.position());
  walker.step();  // =
  walker.skip_blanks();
  statement.value_begin = walker.position();
  walker.skip_value();
  statement.value_end = walker.trimmed(statement.value_begin, walker.position());
}

void read_header(Walker& walker, TomlStatement& statement) {
  statement.is_header = true;
  while (walker.now() == '[') walker.step();
  walker.skip_blanks();
  statement.key_begin = walker.position();
  statement.key = walker.read_key();
  statement.key_end = walker.trimmed(statement.key_begin, walker.position());
}

}  // namespace

std::vector<TomlStatement> toml_statements(std::string_view toml) {
  std::vector<TomlStatement> statements;
  Walker walker(toml);
  if (walker.at(byte_order_mark)) walker.step(byte_order_mark.size());
  while (!walker.at_end()) {
    TomlStatement statement;
    statement.begin = walker.position();
    statement.line = walker.line();
    walker.skip_blanks();
    const bool is_empty =
        walker.at_end() || walker.now() == '\n' || walker.now() == '\r' || walker.now() == '#';
    if (!is_empty) {
      walker.now() == '[' ? read_header(walker, statement) : read_key_and_value(walker, statement);
    }
    walker.skip_to_line_end();
    walker.step();
    statement.end = walker.position();
    if (!is_empty) statements.push_back(std::move(statement));
  }
  return statements;
}

}  // namespace sluice
