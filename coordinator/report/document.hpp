#pragma once

#include "coordinator/defaults.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// A report for people, before it has a form: what is shown, in which order and how urgent it is. Builders
/// make it of what a run came to, writers (one a file) give it a form. Foreign text in it is neither
/// printable nor escaped yet: that is the writers' part.
namespace sluice::document {

enum class Tone : std::uint8_t { plain, good, warning, bad, strong, quiet };

/// Words with what sets them apart.
struct Span {
  /// `marked`: backticks in it set code apart, as commands in a sentence of ours.
  enum class Emphasis : std::uint8_t { none, strong, code, marked };

  std::string text;
  Emphasis emphasis = Emphasis::none;
  std::size_t most_bytes = defaults::span_bytes;  ///< Where room is scarce.
};

/// Spans one after the other; a plain text is one.
struct Text {
  std::vector<Span> spans;

  Text() = default;
  Text(std::string words) : spans{{std::move(words)}} {}
  Text(const char* words) : Text(std::string(words)) {}
  Text(Span span) : spans{std::move(span)} {}
  Text(std::initializer_list<Span> some) : spans(some) {}
};

inline Span words(std::string text, std::size_t most_bytes = defaults::span_bytes) {
  return {std::move(text), Span::Emphasis::none, most_bytes};
}
inline Span strong(std::string text, std::size_t most_bytes = defaults::span_bytes) {
  return {std::move(text), Span::Emphasis::strong, most_bytes};
}
inline Span code(std::string text, std::size_t most_bytes = defaults::span_bytes) {
  return {std::move(text), Span::Emphasis::code, most_bytes};
}
/// A sentence of ours, whose commands stand between backticks.
inline Span sentence(std::string text, std::size_t most_bytes = defaults::span_bytes) {
  return {std::move(text), Span::Emphasis::marked, most_bytes};
}

/// A text with a sign for each of its line ends, which a single line shows as spaces: `Paris⏎ Lima⏎`; a
/// carriage return has its own.
std::string with_line_signs(std::string_view text);

/// What stands for that which a list leaves out, which would look whole without a word: given how many.
using Rest = std::function<std::string(std::uint64_t)>;

/// `2 more; --format json has all`
Rest more_in_json();
/// `and 2 more lines; --format json has all`
Rest and_more(std::string_view noun);

/// How much of a block is shown, and what stands for the rest.
struct Share {
  std::size_t most_bytes = SIZE_MAX;  ///< Of its items as they are written, where room is scarce.
  std::uint64_t left_out = 0;         ///< What the builder has left out already.
  Rest rest{};
};

/// One line of words, an item of what stands above it.
struct Note {
  Text text;
  Tone tone = Tone::plain;
  std::string label{};      ///< `Expected`; stands before the text. May be empty.
  std::size_t level = 0;    ///< 1: belongs to the note of level 0 before it.
  bool is_outcome = false;  ///< The verdict at the end, which programs take out of a pipe as one line.
};

/// Words by themselves.
struct Paragraph {
  Text text;
  Tone tone = Tone::plain;
};

struct Notes {
  std::vector<Note> items{};
  Share share{};
};

/// Something with a title, and notes on it.
struct Entry {
  Text title;
  std::vector<Note> notes{};
};

struct Entries {
  std::vector<Entry> items{};
  Share share{};
};

struct Column {
  std::string heading;
  bool numeric = false;    ///< To the right.
  bool droppable = false;  ///< May go into a table below where the page is narrow, last one first.
};
inline Column column(std::string heading) {
  return {std::move(heading)};
}
inline Column number(std::string heading) {
  return {std::move(heading), true};
}
inline Column spare_number(std::string heading) {
  return {std::move(heading), true, true};
}

struct Cell {
  Text text;
  std::string narrow{};  ///< Instead of it on a page below 80 columns; empty: the same.
  Tone tone = Tone::plain;

  Cell(std::string words) : text(std::move(words)) {}
  Cell(std::string words, Tone its_tone) : text(std::move(words)), tone(its_tone) {}
  Cell(const char* words) : text(words) {}
  Cell(Text spans) : text(std::move(spans)) {}
  Cell(Span span) : text(std::move(span)) {}
  Cell(std::string words, std::string narrow_words)
      : text(std::move(words)), narrow(std::move(narrow_words)) {}
};

struct Row {
  std::vector<Cell> cells{};
  std::uint64_t counts = 1;    ///< How much is left out with it.
  bool with_previous = false;  ///< Shown or left out together with the row before it.
};

struct Table {
  std::vector<Column> columns{};
  std::vector<Row> rows{};
  Share share{};
  bool whole_names = false;  ///< The first column is cut short after everything else (TextTable).
  std::size_t keys = 1;      ///< So many columns say what a row is of.
};

struct Fold;
using Block = std::variant<Paragraph, Notes, Entries, Table, Fold>;

/// Blocks that are of use to some readers: hidden at first where the form can do that.
struct Fold {
  std::string summary{};
  std::optional<std::uint64_t> count{};
  std::vector<Block> blocks{};
};

/// What a reader with little time or room needs first; from `further` on a section is folded.
enum class Rank : std::uint8_t { outcome, regressions, scores, cases, whole_run, further, background };

struct Section {
  std::string heading{};                 ///< May be empty: then it stands by itself.
  std::optional<std::uint64_t> count{};  ///< Of what it lists, beside the heading.
  Rank rank = Rank::background;
  bool before_verdict = false;  ///< Of a page, which has its verdict below the summary.
  std::vector<Block> blocks{};
  Tone tone = Tone::strong;  ///< Of its heading.
};

/// What was decided, and why.
struct Verdict {
  std::string word;  ///< `✗ FAIL`
  Text reason;
  Tone tone = Tone::plain;
};

struct Document {
  std::string title{};        ///< Of a page. Empty: it begins with its sections, which bring its verdict.
  std::vector<Note> facts{};  ///< Below the title: what this is about.
  Verdict verdict{};
  std::vector<Section> sections{};  ///< In the order of a page. Those without blocks are not shown.
};

/// `Errors (2)`
std::string titled(const std::string& heading, const std::optional<std::uint64_t>& count);

}  // namespace sluice::document
