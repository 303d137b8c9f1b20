#pragma once

#include "coordinator/perturb/language.hpp"
#include "coordinator/perturb/segments.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace sluice {

/// One line of a source text, and what its ends are to the language.
struct SourceLine {
  std::size_t begin = 0;
  std::size_t end = 0;   ///< Of its content: before LF or CR LF.
  std::size_t next = 0;  ///< Behind its line end.
  /// What goes on from the line before; code if nothing does.
  SegmentKind starts_within = SegmentKind::code;
  /// What the line end is part of.
  SegmentKind ends_within = SegmentKind::code;
  /// What the last byte that is no blank is part of; code in a blank line.
  SegmentKind last = SegmentKind::code;
  bool blank = false;
  bool continues = false;  ///< A backslash stands at its end, blanks apart.

  bool has_line_end() const { return end < next; }
};

/// A text without doubts, cut into segments and into lines. Refers to the text, which must outlive it.
struct Source {
  Language language = Language::python;
  std::string_view text;
  std::vector<Segment> segments;
  std::vector<SourceLine> lines;  ///< None for an empty text.
  std::string_view line_end;      ///< As in the first line; LF if there is only one.
};

/// The first line names an interpreter (Rust's `#![` begins an attribute); a byte order mark may stand
/// before.
bool has_shebang(std::string_view text);
/// `segmentation` is the text's own.
Source make_source(Language language, std::string_view text, Segmentation segmentation);

}  // namespace sluice
