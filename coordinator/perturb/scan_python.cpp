#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/perturb/scanners.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace sluice {

namespace {

/// Strings are passed over by recursion, since the fields of a formatted string hold strings in turn.
class PythonStrings {
 public:
  explicit PythonStrings(Cursor& cursor) : cursor_(cursor) {}

  /// The prefix that ends here, in small letters; "" if it is some other word.
  std::string prefix() const {
    auto word = to_lower(cursor_.word_before());
    const bool known = word.size() <= 2 && word.find_first_not_of("rbuft") == std::string::npos;
    return known ? word : std::string();
  }

  /// The cursor stands at the opening quote, behind the prefix; afterwards behind the closing one.
  void skip_string() {
    const auto letters = prefix();
    const auto from = cursor_.position();
    const std::string triple(3, cursor_.peek());
    const auto delimiter = cursor_.looking_at(triple) ? triple : triple.substr(0, 1);
    cursor_.advance(delimiter.size());
    const Literal literal{delimiter, letters.find('r') != std::string::npos, from};
    const bool formatted = letters.find_first_of("ft") != std::string::npos;
    if (++depth_ > defaults::max_nested_literals) {
      cursor_.doubt("formatted strings are nested too deeply", from);
    } else if (formatted) {
      skip_formatted(literal);
    } else {
      skip_plain(literal);
    }
    --depth_;
  }

 private:
  struct Literal {
    std::string delimiter;
    bool raw = false;
    std::size_t from = 0;
  };

  /// True, and a doubt, where the literal cannot go on.
  bool broken(const Literal& literal) {
    if (cursor_.done() || (literal.delimiter.size() == 1 && cursor_.peek() == '\n')) {
      cursor_.doubt("a string is not closed", literal.from);
      return true;
    }
    return false;
  }

  /// True, and behind it, if the literal ends here.
  bool closed(const Literal& literal) {
    if (!cursor_.looking_at(literal.delimiter)) return false;
    cursor_.advance(literal.delimiter.size());
    return true;
  }

  void skip_plain(const Literal& literal) {
    while (!closed(literal)) {
      if (broken(literal)) return;
      cursor_.peek() == '\\' ? cursor_.skip_escape() : cursor_.advance();
    }
  }

  void skip_formatted(const Literal& literal) {
    while (!closed(literal)) {
      if (broken(literal)) return;
      if (cursor_.peek() == '\\') {
        skip_formatted_escape(literal);
      } else if (cursor_.looking_at("{{") || cursor_.looking_at("}}")) {
        cursor_.advance(2);
      } else if (cursor_.peek() == '{') {
        skip_field(literal);
      } else {
        cursor_.advance();
      }
    }
  }

  void skip_formatted_escape(const Literal& literal) {
    if (cursor_.peek(1) == '{' || cursor_.peek(1) == '}') return cursor_.advance();
    if (!literal.raw && cursor_.looking_at("\\N{")) {
      cursor_.skip_past("}");
      return;
    }
    cursor_.skip_escape();
  }

  /// `{expression!r:format}`: strings in it may use the quotes of the literal itself (PEP 701).
  void skip_field(const Literal& literal) {
    cursor_.advance();
    for (int depth = 0; !cursor_.done();) {
      const char c = cursor_.peek();
      if (c == '\'' || c == '"') {
        skip_string();
        continue;
      }
      if (c == '#') {
        cursor_.skip_line();
        continue;
      }
      if (c == ':' && depth == 0) return skip_format(literal);
      cursor_.advance();
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
      if (depth < 0) return;
    }
    cursor_.doubt("a field of a formatted string is not closed", literal.from);
  }

  /// The format behind the colon is text with fields, up to the field's closing brace.
  void skip_format(const Literal& literal) {
    if (++depth_ > defaults::max_nested_literals) cursor_.doubt("formatted strings are nested too deeply");
    while (!cursor_.done() && !cursor_.looking_at(literal.delimiter)) {
      if (cursor_.peek() == '{') {
        skip_field(literal);
        continue;
      }
      const char c = cursor_.peek();
      cursor_.advance();
      if (c == '}') {
        --depth_;
        return;
      }
    }
    --depth_;
    cursor_.doubt("a field of a formatted string is not closed", literal.from);
  }

  Cursor& cursor_;
  int depth_ = 0;
};

/// The encoding that a comment declares (PEP 263: `coding[:=]\s*([-\w.]+)`); "" if it declares none.
std::string_view declared_encoding(std::string_view comment) {
  for (auto at = comment.find("coding"); at != std::string_view::npos; at = comment.find("coding", at + 1)) {
    auto rest = comment.substr(at + 6);
    if (rest.empty() || (rest.front() != ':' && rest.front() != '=')) continue;
    rest.remove_prefix(1);
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
    const auto end =
        std::ranges::find_if_not(rest, [](char c) { return is_word_byte(c) || c == '-' || c == '.'; });
    if (end != rest.begin()) return {rest.begin(), end};
  }
  return {};
}

/// In these, a byte below 0x80 is always the ASCII character.
bool keeps_ascii(std::string_view encoding) {
  auto name = to_lower(encoding);
  std::ranges::replace(name, '_', '-');
  constexpr std::array<std::string_view, 8> prefixes{"utf-8",     "utf8",  "ascii", "us-ascii",
                                                     "iso-8859-", "latin", "cp125", "koi8-"};
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// Where the third line begins; the text's size if there is none.
std::size_t end_of_two_lines(std::string_view text) {
  const auto first = text.find('\n');
  if (first == std::string_view::npos) return text.size();
  const auto second = text.find('\n', first + 1);
  return second == std::string_view::npos ? text.size() : second + 1;
}

/// An encoding declaration counts on the first two lines only, alone on its line, below nothing but a
/// comment.
bool may_declare_encoding(const Cursor& cursor) {
  const auto before = cursor.text().substr(0, cursor.position());
  const auto line = before.substr(before.rfind('\n') + 1);
  if (line.find_first_not_of("\xEF\xBB\xBF \t\f") != std::string_view::npos) return false;
  const auto start = before.find_first_not_of("\xEF\xBB\xBF \t\f\r\n");
  return start == std::string_view::npos || before[start] == '#';
}

void scan_comment(Cursor& cursor, bool on_first_lines) {
  const auto from = cursor.position();
  const bool may_declare = on_first_lines && may_declare_encoding(cursor);
  cursor.skip_line();
  const auto comment = cursor.text().substr(from, cursor.position() - from);
  const auto encoding = may_declare ? declared_encoding(comment) : std::string_view();
  cursor.cut(encoding.empty() ? SegmentKind::line_comment : SegmentKind::directive, from);
  if (!encoding.empty() && !keeps_ascii(encoding) &&
      std::ranges::any_of(cursor.text(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
    cursor.doubt("the text declares an encoding in which bytes are no characters", from);
  }
}

/// The shebang has been cut, and may declare the encoding all the same.
void check_shebang(Cursor& cursor) {
  const auto line = cursor.text().substr(0, cursor.position());
  const auto encoding = declared_encoding(line);
  if (line.starts_with("#!") && !encoding.empty() && !keeps_ascii(encoding)) {
    cursor.doubt("the text declares an encoding in which bytes are no characters", 0);
  }
}

}  // namespace

void scan_python(Cursor& cursor) {
  check_shebang(cursor);
  PythonStrings strings(cursor);
  const auto first_lines_end = end_of_two_lines(cursor.text());
  while (!cursor.done()) {
    const char c = cursor.peek();
    if (c == '#') {
      scan_comment(cursor, cursor.position() < first_lines_end);
    } else if (c == '"' || c == '\'') {
      const auto from = cursor.position() - strings.prefix().size();
      strings.skip_string();
      cursor.cut(SegmentKind::string, from);
    } else if (c == '\\') {
      cursor.skip_escape();
    } else {
      cursor.advance();
    }
  }
}

}  // namespace sluice
