#include "coordinator/perturb/cursor.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

bool is_word_byte(char c) {
  return is_digit(c) || is_letter(c) || c == '_';
}

bool is_small(char c) {
  return c >= 'a' && c <= 'z';
}

bool is_letter(char c) {
  return is_ascii_letter(c) || static_cast<unsigned char>(c) >= 0x80;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view without_trailing_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool Cursor::at_line_end() const {
  return at_end() || peek() == '\n' || (peek() == '\r' && peek(1) == '\n');
}

void Cursor::advance(std::size_t bytes) {
  position_ = std::min(text_.size(), position_ + bytes);
}

void Cursor::skip_line() {
  const auto feed = text_.find('\n', position_);
  if (feed == std::string_view::npos) {
    position_ = text_.size();
    return;
  }
  position_ = feed > position_ && text_[feed - 1] == '\r' ? feed - 1 : feed;
}

void Cursor::skip_line_and_end() {
  const auto feed = text_.find('\n', position_);
  position_ = feed == std::string_view::npos ? text_.size() : feed + 1;
}

void Cursor::skip_blanks() {
  while (is_blank(peek())) ++position_;
}

void Cursor::skip_escape() {
  advance(peek(1) == '\r' && peek(2) == '\n' ? 3 : 2);
}

bool Cursor::skip_past(std::string_view word) {
  const auto found = text_.find(word, position_);
  position_ = found == std::string_view::npos ? text_.size() : found + word.size();
  return found != std::string_view::npos;
}

std::string_view Cursor::take_word() {
  const auto from = position_;
  while (!at_end() && is_word_byte(text_[position_])) ++position_;
  return text_.substr(from, position_ - from);
}

std::string_view Cursor::word_before() const {
  const std::size_t begin = text_.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  std::size_t from = position_;
  while (from > begin && is_word_byte(text_[from - 1])) --from;
  return text_.substr(from, position_ - from);
}

void Cursor::cut(SegmentKind kind, std::size_t from) {
  if (from < position_) cut_.push_back({kind, from, position_});
}

void Cursor::doubt(std::string_view what, std::size_t at) {
  if (doubt_) return;
  const auto before = text_.substr(0, at);
  doubt_ = LexicalDoubt{static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1, std::string(what)};
}

void Cursor::doubt_text(std::string_view what) {
  if (!doubt_) doubt_ = LexicalDoubt{0, std::string(what)};
}

void Cursor::cut_quoted(bool multi_line) {
  const auto from = position_;
  const char quote = peek();
  advance();
  while (!at_end()) {
    if (peek() == quote) {
      advance();
      return cut(SegmentKind::string, from);
    }
    if (peek() == '\\') {
      skip_escape();
    } else if (peek() == '\n' && !multi_line) {
      break;
    } else {
      advance();
    }
  }
  doubt("a string is not closed", from);
  cut(SegmentKind::string, from);
}

void Cursor::cut_line(SegmentKind kind) {
  const auto from = position_;
  skip_line();
  cut(kind, from);
}

void Cursor::skip_block_comment() {
  const auto from = position_;
  advance(2);
  if (!skip_past("*/")) doubt("a comment is not closed", from);
}

Segmentation Cursor::finish() && {
  Segmentation result;
  result.segments.reserve(cut_.size() * 2 + 1);
  std::size_t end = 0;
  const auto fill_to = [&](std::size_t begin) {
    if (end < begin) result.segments.push_back({SegmentKind::code, end, begin});
  };
  for (const auto& segment : cut_) {
    fill_to(segment.begin);
    result.segments.push_back(segment);
    end = segment.end;
  }
  fill_to(text_.size());
  result.doubt = std::move(doubt_);
  return result;
}

}  // namespace sluice
