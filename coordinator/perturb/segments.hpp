#pragma once

#include "coordinator/perturb/language.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// What a stretch of a source text is to its language.
enum class SegmentKind : std::uint8_t {
  code,           ///< Everything else, white space and line ends included; of prose the words of sentences.
  line_comment,   ///< To the end of the line, without the line end.
  block_comment,  ///< With its delimiters; may hold line ends.
  string,         ///< Every byte counts: literals, a Makefile's recipes, of prose all but its words.
  directive,      ///< Looks like a comment and is read by a tool: shebang, `//go:build`, Rust's `///`.
};

/// A stretch of the text: [begin, end) in bytes, never empty.
struct Segment {
  SegmentKind kind = SegmentKind::code;
  std::size_t begin = 0;
  std::size_t end = 0;
  friend bool operator==(const Segment&, const Segment&) = default;
};

/// Where the cutting met something that it cannot read with certainty.
struct LexicalDoubt {
  std::size_t line = 0;  ///< From 1; 0: the text as a whole.
  std::string what;      ///< A clause: "a string is not closed".
};

/// A text as segments in order, without gap or overlap: joined they are the text, whatever the text.
struct Segmentation {
  std::vector<Segment> segments;
  /// If set, the segments are not to be relied upon.
  std::optional<LexicalDoubt> doubt;
};

/// Cuts a text by the lexical rules of its language. Never fails: what cannot be read leaves a doubt. Linear
/// in the text's size. Pure.
Segmentation cut_into_segments(Language language, std::string_view text);

}  // namespace sluice
