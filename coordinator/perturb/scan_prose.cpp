// Prose: the words of its sentences, and what stands among them that is no word.
#include "coordinator/perturb/scanners.hpp"
#include "coordinator/perturb/source.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace sluice {

namespace {

constexpr std::string_view no_prose = "it does not look like prose";
constexpr std::string_view white_space = " \t\r\n";

/// Typographic quotation marks, beginning and end.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> quotation_marks{
    {{"\u201C", "\u201D"},
     {"\u201E", "\u201C"},
     {"\u2018", "\u2019"},
     {"\u00AB", "\u00BB"},
     {"\u00BB", "\u00AB"},
     {"\u300C", "\u300D"}}};

bool is_white(char c) {
  return white_space.find(c) != std::string_view::npos;
}

bool is_capital(char c) {
  return c >= 'A' && c <= 'Z';
}

std::size_t visible_bytes(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return !is_white(c); }));
}

/// What stands between two blanks.
enum class Token : std::uint8_t {
  word,      ///< Of letters alone, punctuation around it apart.
  mark,      ///< Punctuation alone.
  kept,      ///< Says nothing of what the text is: a number, an address.
  capitals,  ///< Two letters or more, all of them capitals.
  foreign,   ///< A name of a program, a path, an operator...
};

/// Letters, apostrophes and hyphens between them, and a capital only where a word begins.
bool is_plain_word(std::string_view word) {
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (is_letter(word[i])) {
      if (is_capital(word[i]) && i > 0 && word[i - 1] != '-') return false;
      continue;
    }
    const bool is_joint = word[i] == '\'' || word[i] == '-';
    const bool is_inner = i > 0 && i + 1 < word.size() && is_letter(word[i - 1]) && is_letter(word[i + 1]);
    if (!is_joint || !is_inner) return false;
  }
  return true;
}

Token token_of(std::string_view text) {
  if (std::ranges::none_of(text, is_word_byte)) {
    return text.find_first_not_of("-*+#.,;:?!()'\"") == std::string_view::npos ? Token::mark : Token::foreign;
  }
  if (text.find("://") != std::string_view::npos || text.find('@') != std::string_view::npos)
    return Token::kept;
  if (text.starts_with('(')) text.remove_prefix(1);
  text = text.substr(0, text.find_last_not_of(".,;:?!)'") + 1);
  if (text.find_first_not_of("0123456789.,%") == std::string_view::npos) return Token::kept;
  if (is_plain_word(text)) return Token::word;
  const bool is_loud = std::ranges::all_of(text, [](char c) { return is_capital(c) || c == '_'; });
  return is_loud ? Token::capitals : Token::foreign;
}

/// A line, without its indentation, that is of a notation of its own, whatever its words: a comment, a
/// statement, a row of a table, `name: value`.
bool is_notation(std::string_view line) {
  constexpr std::array<std::string_view, 5> starts{"\t", "//", "/*", "*/", "--"};
  if (std::ranges::any_of(starts, [&](std::string_view start) { return line.starts_with(start); }))
    return true;
  if (line.find('|') != std::string_view::npos) return true;
  const auto last = line.find_last_not_of(white_space);
  if (last != std::string_view::npos && std::string_view(";{\\").find(line[last]) != std::string_view::npos)
    return true;
  const auto name = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
  return name != std::string_view::npos && name > 0 && line[name] == ':';
}

/// A line, or a text from one on, behind its blanks and the mark of a list.
std::string_view behind_mark(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const auto mark = line.find_first_not_of("0123456789.)-*+");
  if (mark == 0 || mark == std::string_view::npos || line[mark] != ' ') return line;
  line.remove_prefix(std::min(line.find_first_not_of(' ', mark), line.size()));
  return line;
}

bool begins_fence(std::string_view line) {
  const auto content = behind_mark(line);
  return content.starts_with("```") || content.starts_with("~~~");
}

/// Cuts all but words of sentences as strings, and doubts that a text is prose of which too little is.
class ProseScanner {
 public:
  explicit ProseScanner(Cursor& cursor) : cursor_(cursor) {}

  void run() {
    if (has_shebang(cursor_.text())) return cursor_.doubt_text(no_prose);
    while (!cursor_.done()) scan_line();
    if (words_ == 0 || words_ < foreign_ || !has_sentence_) cursor_.doubt_text(no_prose);
  }

 private:
  /// Of a line that may be one of prose.
  struct Line {
    std::vector<std::pair<std::size_t, std::size_t>> kept{};  ///< What is no word.
    std::size_t words = 0;                                    ///< Letters of them,
    std::size_t foreign = 0;                                  ///< and bytes of what may be code.
    std::size_t tokens = 0;
    std::size_t capitals = 0;
    bool has_sentence = false;  ///< A capital begins it, or a full stop or the like stands behind a word.
    bool has_begun = false;
    bool follows_span = false;  ///< No blank stands between, and it is no tag.

    /// Two thirds of it are words, and less than a third of its words are capitals, as statements of SQL have
    /// them.
    bool is_prose() const {
      return 3 * words >= 2 * (words + foreign) && 3 * capitals < std::max<std::size_t>(tokens, 1);
    }
  };

  void scan_line() {
    const auto begin = cursor_.position();
    cursor_.skip_line();
    const auto line = cursor_.text().substr(begin, cursor_.position() - begin);
    cursor_.move_to(begin);
    const auto indentation = std::min(line.find_first_not_of(' '), line.size());
    const auto content = line.substr(indentation);
    if (begins_fence(line)) {
      const auto fence = behind_mark(line);
      return cut_fence(fence.substr(0, fence.find_first_not_of(fence.front())));
    }
    // What is quoted, and rows of a table, say nothing of what the text is.
    if (content.starts_with('>') || content.starts_with('|')) return cut_line(0);
    if (indentation >= 4 || is_notation(content)) return cut_line(visible_bytes(content));
    scan_words();
  }

  void cut_line(std::size_t foreign) {
    cursor_.cut_line(SegmentKind::string);
    cursor_.skip_line_and_end();
    foreign_ += foreign;
  }

  /// Up to the line that closes it, or the end of the text.
  void cut_fence(std::string_view fence) {
    const auto from = cursor_.position();
    for (cursor_.skip_line_and_end(); !cursor_.at_end();) {
      while (cursor_.peek() == ' ') cursor_.advance();
      const auto begin = cursor_.position();
      cursor_.skip_line();
      const auto line = cursor_.text().substr(begin, cursor_.position() - begin);
      const auto rest = line.find_first_not_of(fence.front());
      cursor_.skip_line_and_end();
      if (line.starts_with(fence) && line.find_first_not_of(white_space, rest) == std::string_view::npos)
        break;
    }
    cursor_.cut(SegmentKind::string, from);
  }

  void scan_words() {
    const auto begin = cursor_.position();
    Line line;
    while (!cursor_.at_line_end()) {
      if (is_blank(cursor_.peek())) {
        cursor_.advance();
        line.follows_span = false;
      } else if (const auto end = end_of_span()) {
        line.follows_span = cursor_.peek() != '<';
        line.kept.emplace_back(cursor_.position(), *end);
        cursor_.move_to(*end);
      } else {
        scan_token(line);
      }
    }
    const auto end = cursor_.position();
    if (!line.is_prose()) line.kept = {{begin, end}};
    for (const auto& [from, to] : line.kept) {
      cursor_.move_to(to);
      cursor_.cut(SegmentKind::string, from);
    }
    cursor_.move_to(end);
    cursor_.skip_line_and_end();
    (line.is_prose() ? words_ : foreign_) += line.words;
    foreign_ += line.foreign;
    has_sentence_ = has_sentence_ || (line.is_prose() && line.has_sentence);
  }

  void scan_token(Line& line) {
    const auto from = cursor_.position();
    do cursor_.advance();
    while (!cursor_.at_end() && !is_white(cursor_.peek()) && !begins_span());
    const auto text = cursor_.text().substr(from, cursor_.position() - from);
    const bool has_word = std::ranges::any_of(text, is_word_byte);
    // Elements of markup stand around words, other spans belong to what they touch.
    const bool precedes_tag = cursor_.peek() == '<' && end_of_tag();
    const bool precedes_span = !cursor_.at_end() && !is_white(cursor_.peek()) && !precedes_tag;
    const bool is_joined = precedes_span || (line.follows_span && is_word_byte(text.front()));
    const Token token = is_joined && has_word ? Token::foreign : token_of(text);
    const bool is_word = token == Token::word;
    if (is_word) {
      const bool begins_large = !line.has_begun && !is_small(text.front());
      line.words += static_cast<std::size_t>(std::ranges::count_if(text, is_letter));
      line.has_sentence |=
          begins_large || std::string_view(".?!").find(text.back()) != std::string_view::npos;
    }
    if (!is_word && token != Token::mark) line.kept.emplace_back(from, cursor_.position());
    if (token == Token::foreign || token == Token::capitals) line.foreign += text.size();
    line.tokens += is_word || token == Token::foreign || token == Token::capitals ? 1 : 0;
    line.capitals += token == Token::capitals ? 1 : 0;
    line.has_begun |= has_word;
    line.follows_span = true;
  }

  bool begins_span() const {
    if (std::string_view("`\"{[<").find(cursor_.peek()) != std::string_view::npos) return true;
    return std::ranges::any_of(quotation_marks,
                               [&](const auto& marks) { return cursor_.looking_at(marks.first); });
  }

  /// Behind what begins here and is kept whole; nothing where nothing does.
  std::optional<std::size_t> end_of_span() {
    switch (cursor_.peek()) {
      case '`':
        return behind_backticks();
      case '"':  // Behind a number it is an inch.
        if (is_word_byte(cursor_.previous())) return std::nullopt;
        return behind("\"", 1);
      case '{':
        return behind_pair('{', '}', cursor_.text().size());
      case '[':
        return end_of_link();
      case '<':
        return end_of_tag();
      case '\'':
        return end_of_single_quotes();
      default:
        for (const auto& [first, last] : quotation_marks) {
          if (cursor_.looking_at(first)) return behind(last, first.size());
        }
        return std::nullopt;
    }
  }

  /// Behind the next such word of the paragraph, or at the paragraph's end.
  std::size_t behind(std::string_view word, std::size_t ahead) {
    const auto end = paragraph_end();
    const auto found = cursor_.text().substr(0, end).find(word, cursor_.position() + ahead);
    return found == std::string_view::npos ? end : found + word.size();
  }

  /// Behind the next run of as many as begin here.
  std::size_t behind_backticks() {
    const auto text = cursor_.text().substr(0, paragraph_end());
    const auto end_of_run = [&](std::size_t at) {
      return std::min(text.find_first_not_of('`', at), text.size());
    };
    const auto from = cursor_.position();
    const auto length = end_of_run(from) - from;
    for (auto at = text.find('`', from + length); at != std::string_view::npos;) {
      const auto end = end_of_run(at);
      if (end - at == length) return end;
      at = text.find('`', end);
    }
    return text.size();
  }

  /// Behind what closes the pair that opens here, others nested in it; `end` if nothing does.
  std::size_t behind_pair(char open, char close, std::size_t end) const {
    std::size_t depth = 0;
    for (auto at = cursor_.position(); at < end; ++at) {
      const char c = cursor_.text()[at];
      if (c == open) ++depth;
      if (c == close && --depth == 0) return at + 1;
    }
    return end;
  }

  /// `[words]`, with the `(target)` that stands behind in Markdown.
  std::size_t end_of_link() {
    const auto end = behind_pair('[', ']', paragraph_end());
    const auto rest = cursor_.text().substr(end, paragraph_end() - end);
    return rest.starts_with('(') ? end + std::min(rest.find(')'), rest.size() - 1) + 1 : end;
  }

  std::optional<std::size_t> end_of_tag() const {
    const char next = cursor_.peek(1);
    if (!is_capital(next) && !is_small(next) && next != '/' && next != '!') return std::nullopt;
    const auto found = cursor_.text().find_first_of("<>\n", cursor_.position() + 1);
    if (found == std::string_view::npos || cursor_.text()[found] != '>') return std::nullopt;
    return found + 1;
  }

  /// They are apostrophes as well: no quotation begins within a word, and none ends before one.
  std::optional<std::size_t> end_of_single_quotes() {
    const auto from = cursor_.position();
    if (is_word_byte(cursor_.previous()) || is_white(cursor_.peek(1)) || from < unclosed_until_)
      return std::nullopt;
    const auto paragraph = cursor_.text().substr(0, paragraph_end());
    for (auto at = paragraph.find('\'', from + 1); at != std::string_view::npos;
         at = paragraph.find('\'', at + 1)) {
      const bool precedes_word = at + 1 < paragraph.size() && is_word_byte(paragraph[at + 1]);
      if (!is_white(paragraph[at - 1]) && !precedes_word) return at + 1;
    }
    unclosed_until_ = paragraph.size();
    return std::nullopt;
  }

  /// Where an empty line or a fence follows, or the text ends.
  std::size_t paragraph_end() {
    if (cursor_.position() < paragraph_end_) return paragraph_end_;
    const auto text = cursor_.text();
    for (auto feed = text.find('\n', cursor_.position()); feed != std::string_view::npos;
         feed = text.find('\n', feed + 1)) {
      const auto rest = text.substr(feed + 1);
      if (rest.starts_with('\n') || rest.starts_with("\r\n") || begins_fence(rest))
        return paragraph_end_ = feed;
    }
    return paragraph_end_ = text.size();
  }

  Cursor& cursor_;
  std::size_t words_ = 0;    ///< Letters of the words of prose,
  std::size_t foreign_ = 0;  ///< and bytes of what may be code.
  bool has_sentence_ = false;
  std::size_t paragraph_end_ = 0;
  std::size_t unclosed_until_ = 0;  ///< Before it no single quotation mark closes anything.
};

}  // namespace

void scan_prose(Cursor& cursor) {
  ProseScanner(cursor).run();
}

}  // namespace sluice
