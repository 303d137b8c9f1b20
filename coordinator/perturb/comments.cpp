#include "coordinator/perturb/cursor.hpp"
#include "coordinator/perturb/transforms.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

namespace {

constexpr std::string_view harmless = "This file is part of the project.";

std::string harmless_comment(const Source& source) {
  switch (source.language) {
    case Language::python:
    case Language::makefile:
    case Language::toml:
      return "# " + std::string(harmless) + std::string(source.line_end);
    case Language::c:  // C89 has no other form.
      return "/* " + std::string(harmless) + " */" + std::string(source.line_end);
    case Language::go:  // Right above the package clause it would be its documentation.
      return "// " + std::string(harmless) + std::string(source.line_end) + std::string(source.line_end);
    default:
      return "// " + std::string(harmless) + std::string(source.line_end);
  }
}

/// Other than a comment; a form feed is white space to Python, and the byte order mark is nothing.
bool holds_code(const Source& source, const SourceLine& line) {
  if (line.blank || line.last == SegmentKind::directive || line.last == SegmentKind::line_comment)
    return false;
  auto text = source.text.substr(line.begin, line.end - line.begin);
  if (line.begin == 0) text = without_byte_order_mark(text);
  return text.find_first_not_of(" \t\f") != std::string_view::npos;
}

/// The first lines that count by their place: a shebang, Python's encoding. How many there are.
std::size_t head_lines(const Source& source) {
  std::size_t head = has_shebang(source.text) ? 1 : 0;
  if (source.language != Language::python) return head;
  for (std::size_t i = 0; i < std::min<std::size_t>(2, source.lines.size()); ++i) {
    const auto& line = source.lines[i];
    if (line.last == SegmentKind::directive) head = i + 1;
    if (holds_code(source, line)) break;
  }
  return head;
}

/// A comment's stand-in: a blank, or where line ends can end statements the line end that it held.
std::string_view stand_in(const Source& source, const Segment& comment) {
  if (comment.kind == SegmentKind::line_comment) return "";
  const bool line_ends_count = source.language == Language::javascript ||
                               source.language == Language::typescript || source.language == Language::go;
  const auto text = source.text.substr(comment.begin, comment.end - comment.begin);
  return line_ends_count && text.find('\n') != std::string_view::npos ? source.line_end : " ";
}

/// Writes a text line by line; a line that held nothing but comments leaves nothing behind.
class CommentRemoval {
 public:
  explicit CommentRemoval(const Source& source) : source_(source) {}

  std::string run() {
    for (const auto& segment : source_.segments) {
      const auto text = source_.text.substr(segment.begin, segment.end - segment.begin);
      if (segment.kind == SegmentKind::code) {
        write_code(text);
      } else if (is_comment(segment) && !follows_backslash()) {
        had_comment_ = true;
        write_code(stand_in(source_, segment));
        had_comment_ = true;  // In its last line too.
      } else {
        write_fixed(text);
      }
    }
    end_line("");
    return std::move(result_);
  }

 private:
  static bool is_comment(const Segment& segment) {
    return segment.kind == SegmentKind::line_comment || segment.kind == SegmentKind::block_comment;
  }

  /// Taking out what stands behind a backslash could leave the backslash at the end of the line.
  bool follows_backslash() {
    for (; passed_ < line_.size(); ++passed_) {
      if (!is_blank(line_[passed_])) last_visible_ = line_[passed_];
    }
    return last_visible_ == '\\';
  }

  void write_code(std::string_view text) {
    for (auto feed = text.find('\n'); feed != std::string_view::npos; feed = text.find('\n')) {
      const bool carriage_return = feed > 0 && text[feed - 1] == '\r';
      line_ += text.substr(0, carriage_return ? feed - 1 : feed);
      end_line(carriage_return ? "\r\n" : "\n");
      text.remove_prefix(feed + 1);
    }
    line_ += text;
  }

  /// Whatever its line ends mean, they are no code's: the line that is being written ends with the last of
  /// them.
  void write_fixed(std::string_view text) {
    line_ += text;
    fixed_ = line_.size();
  }

  void end_line(std::string_view line_end) {
    if (had_comment_ && source_.language != Language::makefile) {
      line_.resize(std::max(fixed_, without_trailing_blanks(line_).size()));
    }
    const bool empty = without_trailing_blanks(line_).empty();
    if (!had_comment_ || !empty || after_continued_line_) result_.append(line_).append(line_end);
    if (!had_comment_ || !empty) after_continued_line_ = without_trailing_blanks(line_).ends_with('\\');
    line_.clear();
    fixed_ = 0;
    passed_ = 0;
    last_visible_ = '\0';
    had_comment_ = false;
  }

  const Source& source_;
  std::string result_;
  std::string line_;
  std::size_t fixed_ = 0;   ///< Up to here the line is not to be trimmed.
  std::size_t passed_ = 0;  ///< Up to here follows_backslash has read the line...
  char last_visible_ = 0;   ///< ...and found this to be the last byte that is no blank; NUL for none.
  bool had_comment_ = false;
  bool after_continued_line_ = false;
};

}  // namespace

Perturbed add_comment_on_top(const Source& source) {
  if (source.language == Language::json) return skipped("JSON has no comments");
  const auto comment = harmless_comment(source);
  const auto head = head_lines(source);
  if (head > 0) {
    const auto& line = source.lines[head - 1];
    std::string text(source.text.substr(0, line.next));
    if (!line.has_line_end()) text += source.line_end;
    return changed_from(source.text, text + comment + std::string(source.text.substr(line.next)));
  }
  const auto begin = source.text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  std::string text(source.text.substr(0, begin));
  return changed_from(source.text, text + comment + std::string(source.text.substr(begin)));
}

Perturbed remove_comments(const Source& source) {
  auto text = CommentRemoval(source).run();
  const bool begins_alike = has_shebang(text) == has_shebang(source.text) &&
                            text.starts_with(byte_order_mark) == source.text.starts_with(byte_order_mark);
  if (!begins_alike)
    return skipped("what stands behind the first comment means something else at the beginning");
  return changed_from(source.text, std::move(text));
}

}  // namespace sluice
