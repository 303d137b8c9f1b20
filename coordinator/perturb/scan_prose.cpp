// Prose: the words of its sentences, and what stands among them that is no word.
#include "common/text/quotation_marks.hpp"
#include "coordinator/perturb/fences.hpp"
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

/// Comments and instructions of markup and templates: tags may stand in them, and line ends.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> instructions{
    {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<%", "%>"}, {"<?", "?>"}}};

bool is_white(char c) {
  return white_space.find(c) != std::string_view::npos;
}

bool is_capital(char c) {
  return c >= 'A' && c <= 'Z';
}

/// Of an alphabet: dashes and scripts without blanks begin with other bytes.
bool begins_alphabetic(char c) {
  return is_word_byte(c) && static_cast<unsigned char>(c) < 0xE0;
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
/// statement, a row of a table, `name: value`, be it an item of a list.
bool is_notation(std::string_view line) {
  constexpr std::array<std::string_view, 5> starts{"\t", "//", "/*", "*/", "--"};
  if (std::ranges::any_of(starts, [&](std::string_view start) { return line.starts_with(start); }))
    return true;
  if (line.find('|') != std::string_view::npos) return true;
  const auto last = line.find_last_not_of(white_space);
  if (last != std::string_view::npos && std::string_view(";{\\").find(line[last]) != std::string_view::npos)
    return true;
  line.remove_prefix(end_of_list_mark(line));
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const auto name = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-");
  return name != std::string_view::npos && name > 0 && line[name] == ':' &&
         (is_small(line.front()) || line.front() == '_');
}

/// An end tag of that name, in small or large letters, begins the text.
bool begins_end_tag(std::string_view text, std::string_view name) {
  if (!text.starts_with("</") || to_lower(text.substr(2, name.size())) != name) return false;
  const auto rest = text.substr(2 + name.size());
  return rest.empty() || !is_word_byte(rest.front());
}

/// Elements whose content is no prose.
constexpr auto verbatim_elements = std::to_array<std::string_view>(
    {"code", "kbd", "pre", "samp", "script", "style", "textarea", "tt", "var"});

/// The name of the element that the tag begins if its content is kept, else nothing.
std::string_view verbatim_element(std::string_view tag) {
  if (tag.ends_with("/>")) return {};
  const auto name = to_lower(tag.substr(1, tag.find_first_of(" \t\r/>", 1) - 1));
  const auto found = std::ranges::find(verbatim_elements, name);
  return found != verbatim_elements.end() ? *found : std::string_view();
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
    const auto line = first_line(cursor_.rest());
    const auto indentation = std::min(line.find_first_not_of(' '), line.size());
    const auto content = line.substr(indentation);
    if (const auto fence = fence_of(line)) {
      cursor_.move_to(end_of_fence(cursor_.text(), begin, *fence));
      cursor_.skip_line_and_end();
      return cursor_.cut(SegmentKind::string, begin);
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

  void scan_words() {
    const auto begin = cursor_.position();
    Line line;
    while (!cursor_.at_line_end()) {
      if (is_blank(cursor_.peek())) {
        cursor_.advance();
        line.follows_span = false;
      } else if (const auto end = end_of_span()) {
        line.follows_span = !begins_markup();
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
    has_sentence_ |= line.is_prose() && line.has_sentence;
  }

  void scan_token(Line& line) {
    const auto from = cursor_.position();
    do cursor_.advance();
    while (!cursor_.at_end() && !is_white(cursor_.peek()) && !begins_span());
    const auto text = cursor_.text().substr(from, cursor_.position() - from);
    const bool has_word = std::ranges::any_of(text, is_word_byte);
    // Elements of markup stand around words, other spans belong to what they touch.
    const bool precedes_span = !cursor_.at_end() && !is_white(cursor_.peek()) && !begins_markup();
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
    if (cursor_.peek() == '"') return begins_quotation();
    if (std::string_view("`{[<").find(cursor_.peek()) != std::string_view::npos) return true;
    return std::ranges::any_of(quotation_marks,
                               [&](const auto& marks) { return cursor_.looking_at(marks.first); });
  }

  /// Behind a digit it says inches, behind a letter nothing. Dashes, and scripts without blanks, stand next
  /// to quotations.
  bool begins_quotation() const {
    const char before = cursor_.previous();
    return !is_word_byte(before) || static_cast<unsigned char>(before) >= 0x80;
  }

  /// A tag around words.
  bool begins_markup() const {
    if (cursor_.peek() != '<') return false;
    const auto end = end_of_tag();
    return end && verbatim_element(cursor_.rest().substr(0, *end - cursor_.position())).empty();
  }

  /// Behind what begins here and is kept whole; nothing where nothing does.
  std::optional<std::size_t> end_of_span() {
    switch (cursor_.peek()) {
      case '`':
        return end_of_backticks();
      case '"':
        return begins_quotation() ? std::optional(behind_closing('"').value_or(paragraph_end()))
                                  : std::nullopt;
      case '{':
        return behind_pair('{', '}', cursor_.text().size());
      case '[':
        return end_of_link();
      case '<':
        return end_of_element();
      case '\'':
        return end_of_single_quotes();
      default:
        for (const auto& [first, last] : quotation_marks) {
          if (cursor_.looking_at(first)) return behind(last, first.size());
        }
        return std::nullopt;
    }
  }

  /// Behind the next such mark of the paragraph, or at the paragraph's end. An apostrophe in a word is none.
  std::size_t behind(std::string_view mark, std::size_t ahead) {
    const auto within = paragraph();
    for (auto at = within.find(mark, cursor_.position() + ahead); at != std::string_view::npos;
         at = within.find(mark, at)) {
      at += mark.size();
      const bool precedes_letter = at < within.size() && begins_alphabetic(within[at]);
      if (mark != "\u2019" || !precedes_letter) return at;
    }
    return within.size();
  }

  /// Behind the next run of as many. Runs of three that nothing closes in the paragraph begin a fence behind
  /// words.
  std::size_t end_of_backticks() {
    const auto within = paragraph();
    const auto mark = run_of(within.substr(cursor_.position()));
    for (auto at = within.find('`', cursor_.position() + mark.size()); at != std::string_view::npos;) {
      const auto size = run_of(within.substr(at)).size();
      if (size == mark.size()) return at + size;
      at = within.find('`', at + size);
    }
    const auto line = first_line(cursor_.rest()).substr(mark.size());
    if (mark.size() < 3 || line.find('`') != std::string_view::npos) return within.size();
    return end_of_fence(cursor_.text(), cursor_.position(), {mark, 0});
  }

  /// Behind the mark that closes a quotation which begins here. One that a word follows closes nothing, nor
  /// does a single one behind a blank.
  std::optional<std::size_t> behind_closing(char mark) {
    const auto within = paragraph();
    for (auto at = within.find(mark, cursor_.position() + 1); at != std::string_view::npos;
         at = within.find(mark, at + 1)) {
      const bool precedes_word = at + 1 < within.size() && is_word_byte(within[at + 1]);
      if (!precedes_word && (mark == '"' || !is_white(within[at - 1]))) return at + 1;
    }
    return std::nullopt;
  }

  /// Behind what closes the pair that opens here, others nested in it and fences apart; `end` if nothing
  /// does.
  std::size_t behind_pair(char open, char close, std::size_t end) const {
    std::size_t depth = 0;
    for (auto at = cursor_.position(); at < end; ++at) {
      if (cursor_.text()[at] == '\n') at = behind_fences(cursor_.text(), at);
      if (at >= end) break;
      const char c = cursor_.text()[at];
      if (c == open) ++depth;
      if (c == close && --depth == 0) return at + 1;
    }
    return end;
  }

  /// `[words]`, with the `(target)` that stands behind in Markdown.
  std::size_t end_of_link() {
    const auto end = behind_pair('[', ']', paragraph_end());
    const auto rest = paragraph().substr(end);
    return rest.starts_with('(') ? end + std::min(rest.find(')'), rest.size() - 1) + 1 : end;
  }

  std::optional<std::size_t> end_of_tag() const {
    for (const auto& [first, last] : instructions) {
      if (!cursor_.looking_at(first)) continue;
      const auto end = cursor_.text().find(last, cursor_.position() + first.size());
      return end == std::string_view::npos ? cursor_.text().size() : end + last.size();
    }
    const char next = cursor_.peek(1);
    if (!is_capital(next) && !is_small(next) && next != '/' && next != '!') return std::nullopt;
    const auto found = cursor_.text().find_first_of("<>\n", cursor_.position() + 1);
    if (found == std::string_view::npos || cursor_.text()[found] != '>') return std::nullopt;
    return found + 1;
  }

  /// The tag; of an element of code all up to its end tag, or the end of the text.
  std::optional<std::size_t> end_of_element() const {
    const auto text = cursor_.text();
    const auto end = end_of_tag();
    if (!end) return end;
    const auto name = verbatim_element(text.substr(cursor_.position(), *end - cursor_.position()));
    if (name.empty()) return end;
    for (auto at = text.find_first_of("<\n", *end); at != std::string_view::npos;
         at = text.find_first_of("<\n", at + 1)) {
      if (text[at] == '\n') {
        at = behind_fences(text, at);
      } else if (begins_end_tag(text.substr(at), name)) {
        const auto last = text.find('>', at);
        return last == std::string_view::npos ? text.size() : last + 1;
      }
    }
    return text.size();
  }

  /// They are apostrophes as well: no quotation begins within a word, and none ends before one.
  std::optional<std::size_t> end_of_single_quotes() {
    const auto from = cursor_.position();
    if (is_word_byte(cursor_.previous()) || is_white(cursor_.peek(1)) || from < unclosed_until_)
      return std::nullopt;
    const auto end = behind_closing('\'');
    if (!end) unclosed_until_ = paragraph_end();
    return end;
  }

  /// The text up to the end of the paragraph.
  std::string_view paragraph() { return cursor_.text().substr(0, paragraph_end()); }

  /// Where an empty line or a fence follows, or the text ends.
  std::size_t paragraph_end() {
    if (cursor_.position() < paragraph_end_) return paragraph_end_;
    const auto text = cursor_.text();
    for (auto feed = text.find('\n', cursor_.position()); feed != std::string_view::npos;
         feed = text.find('\n', feed + 1)) {
      const auto rest = text.substr(feed + 1);
      const bool ends = rest.starts_with('\n') || rest.starts_with("\r\n") || fence_of(first_line(rest));
      if (ends) return paragraph_end_ = feed;
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
