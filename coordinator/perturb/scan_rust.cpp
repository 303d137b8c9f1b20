#include "common/text/text.hpp"
#include "coordinator/perturb/scanners.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace sluice {

namespace {

/// `///`, `//!`, `/**`, `/*!` are attributes: macros and lints read them.
bool is_doc_comment(const Cursor& cursor) {
  const auto rest = cursor.rest();
  if (rest.starts_with("//!") || rest.starts_with("/*!")) return true;
  if (rest.starts_with("///")) return !rest.starts_with("////");
  return rest.starts_with("/**") && !rest.starts_with("/***") && !rest.starts_with("/**/");
}

/// Block comments nest.
void cut_rust_block_comment(Cursor& cursor) {
  const auto kind = is_doc_comment(cursor) ? SegmentKind::directive : SegmentKind::block_comment;
  const auto from = cursor.position();
  cursor.advance(2);
  for (int depth = 1; depth > 0;) {
    if (cursor.at_end()) {
      cursor.doubt("a comment is not closed", from);
      break;
    }
    if (cursor.looking_at("/*")) {
      ++depth;
      cursor.advance(2);
    } else if (cursor.looking_at("*/")) {
      --depth;
      cursor.advance(2);
    } else {
      cursor.advance();
    }
  }
  cursor.cut(kind, from);
}

/// Behind `r`, `br` or `cr`: a raw string, if hashes and a quote follow; else a raw identifier or nothing.
void scan_raw(Cursor& cursor, std::size_t from) {
  std::size_t hashes = 0;
  while (cursor.peek(hashes) == '#') ++hashes;
  if (cursor.peek(hashes) != '"') return;
  cursor.advance(hashes + 1);
  if (!cursor.skip_past('"' + std::string(hashes, '#'))) cursor.doubt("a raw string is not closed", from);
  cursor.cut(SegmentKind::string, from);
}

/// Bytes of the UTF-8 character at the cursor plus `ahead`.
std::size_t character_size(const Cursor& cursor, std::size_t ahead) {
  std::size_t size = 1;
  while (continues_utf8(cursor.peek(ahead + size))) ++size;
  return size;
}

/// A character is closed behind one character or escape; what is not closed there is a lifetime.
void scan_apostrophe(Cursor& cursor) {
  const auto from = cursor.position();
  if (cursor.peek(1) == '\\') return cursor.cut_quoted(false);
  const auto size = character_size(cursor, 1);
  const bool one_line = cursor.peek(1) != '\n' && cursor.peek(1) != '\r';
  if (one_line && cursor.peek(1) != '\'' && cursor.peek(1 + size) == '\'') {
    cursor.advance(size + 2);
    return cursor.cut(SegmentKind::string, from);
  }
  cursor.advance();
  if (!is_word_byte(cursor.peek()))
    return cursor.doubt("an apostrophe opens neither character nor lifetime", from);
  cursor.take_word();
}

}  // namespace

void scan_rust(Cursor& cursor) {
  constexpr std::array<std::string_view, 3> raw_prefixes{"r", "br", "cr"};
  while (!cursor.done()) {
    const char c = cursor.peek();
    const auto from = cursor.position();
    if (cursor.looking_at("//")) {
      cursor.cut_line(is_doc_comment(cursor) ? SegmentKind::directive : SegmentKind::line_comment);
    } else if (cursor.looking_at("/*")) {
      cut_rust_block_comment(cursor);
    } else if (c == '"') {
      cursor.cut_quoted(true);
    } else if (c == '\'') {
      scan_apostrophe(cursor);
    } else if (is_word_byte(c)) {
      const auto word = cursor.take_word();
      if (std::ranges::find(raw_prefixes, word) != raw_prefixes.end()) scan_raw(cursor, from);
    } else {
      cursor.advance();
    }
  }
}

}  // namespace sluice
