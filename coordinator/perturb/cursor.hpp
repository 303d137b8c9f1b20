#pragma once

#include "common/text/text.hpp"
#include "coordinator/perturb/segments.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace sluice {

inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_word_byte(char c);  ///< Letter, digit, underscore, or a byte of a character beyond ASCII.
bool is_letter(char c);     ///< Of ASCII, or a byte of a character beyond it.
bool is_small(char c);      ///< A small letter of ASCII.
bool is_blank(char c);      ///< Space or tab.
std::string_view without_trailing_blanks(std::string_view text);

/// The place in a text that a scanner has come to, and the segments it has cut so far. Whatever it passes
/// without cutting is code. Not thread-safe.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }
  std::size_t position() const { return position_; }
  std::string_view rest() const { return text_.substr(position_); }
  bool at_end() const { return position_ >= text_.size(); }
  /// At the end, or in doubt: there is nothing more to find out.
  bool done() const { return at_end() || doubt_.has_value(); }
  /// NUL beyond the end.
  char peek(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  /// The byte before; NUL at the beginning.
  char previous() const { return position_ > 0 ? text_[position_ - 1] : '\0'; }
  bool looking_at(std::string_view word) const { return rest().starts_with(word); }
  /// At LF, CR LF or the end of the text.
  bool at_line_end() const;

  void advance(std::size_t bytes = 1);
  void move_to(std::size_t position) { position_ = position; }
  /// To the line end, or the end of the text.
  void skip_line();
  /// Behind the LF.
  void skip_line_and_end();
  void skip_blanks();
  /// The backslash and what it escapes; CR LF counts as one character.
  void skip_escape();
  /// Behind the next `word`; false, at the end of the text, if there is none.
  bool skip_past(std::string_view word);
  /// The word (is_word_byte) that starts here, behind which the cursor then stands.
  std::string_view take_word();
  /// The word that ends here.
  std::string_view word_before() const;

  /// Makes [from, position) a segment; segments are cut in order. Nothing if it is empty.
  void cut(SegmentKind kind, std::size_t from);
  /// Notes what cannot be read; the first doubt stays.
  void doubt(std::string_view what, std::size_t at);
  void doubt(std::string_view what) { doubt(what, position_); }
  /// Notes what the text as a whole is not.
  void doubt_text(std::string_view what);

  /// A string from the opening quote to behind the closing one, backslashes respected; a doubt if it does not
  /// close, or a line ends before it without `multi_line`.
  void cut_quoted(bool multi_line);
  /// A comment to the end of the line.
  void cut_line(SegmentKind kind);
  /// Behind the `*/` of the comment that begins here, others not nested in it; a doubt if there is none.
  void skip_block_comment();

  /// The result, gaps filled with code.
  Segmentation finish() &&;

 private:
  std::string_view text_;
  std::size_t position_ = 0;
  std::vector<Segment> cut_;
  std::optional<LexicalDoubt> doubt_;
};

}  // namespace sluice
