#include "coordinator/perturb/segments.hpp"

#include "coordinator/perturb/scanners.hpp"
#include "coordinator/perturb/source.hpp"

#include <utility>

namespace sluice {

namespace {

/// A shebang is the kernel's, in whatever language.
void scan_head(Cursor& cursor) {
  if (cursor.looking_at(byte_order_mark)) cursor.advance(byte_order_mark.size());
  if (has_shebang(cursor.text())) cursor.cut_line(SegmentKind::directive);
}

void scan(Language language, Cursor& cursor) {
  switch (language) {
    case Language::python:
      return scan_python(cursor);
    case Language::javascript:
      return scan_javascript(cursor, false);
    case Language::typescript:
      return scan_javascript(cursor, true);
    case Language::rust:
      return scan_rust(cursor);
    case Language::go:
      return scan_go(cursor);
    case Language::java:
      return scan_java(cursor);
    case Language::c:
      return scan_c(cursor, false);
    case Language::cpp:
      return scan_c(cursor, true);
    case Language::makefile:
      return scan_makefile(cursor);
    case Language::toml:
      return scan_toml(cursor);
    case Language::json:
      return scan_json(cursor);
    case Language::prose:
      return scan_prose(cursor);
  }
}

/// What no scanner is to meet: bytes that the languages' own tools read in different ways.
void doubt_odd_bytes(Cursor& cursor) {
  const auto text = cursor.text();
  for (auto at = text.find_first_of(std::string_view("\0\r", 2)); at != std::string_view::npos;
       at = text.find_first_of(std::string_view("\0\r", 2), at + 1)) {
    if (text[at] == '\0') return cursor.doubt("a NUL byte stands in the text", at);
    if (text.substr(at, 2) != "\r\n") return cursor.doubt("a carriage return ends no line", at);
  }
}

}  // namespace

Segmentation cut_into_segments(Language language, std::string_view text) {
  Cursor cursor(text);
  doubt_odd_bytes(cursor);
  if (!cursor.done()) scan_head(cursor);
  scan(language, cursor);
  return std::move(cursor).finish();
}

}  // namespace sluice
