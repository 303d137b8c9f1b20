#include "common/text/text.hpp"
#include "coordinator/perturb/cursor.hpp"
#include "coordinator/perturb/transforms.hpp"

#include <numeric>
#include <string>

namespace sluice {

namespace {

bool is_opaque(SegmentKind kind) {
  return kind == SegmentKind::string || kind == SegmentKind::directive;
}

/// Python's tab stops (its reference, 2.1.8): with others the columns of a mixed indentation would change
/// order.
constexpr std::size_t python_tab_stop = 8;
constexpr std::size_t usual_tab_stop = 4;

class TabExpansion {
 public:
  explicit TabExpansion(const Source& source)
      : source_(source), tab_stop_(source.language == Language::python ? python_tab_stop : usual_tab_stop) {}

  std::string run() {
    for (const auto& segment : source_.segments) {
      for (auto i = segment.begin; i < segment.end; ++i) write(segment.kind, i);
    }
    return std::move(result_);
  }

 private:
  /// Nothing that anybody writes, and left as it is.
  bool escaped(std::size_t at) const { return at > 0 && source_.text[at - 1] == '\\'; }

  void write(SegmentKind kind, std::size_t at) {
    const char c = source_.text[at];
    if (c != '\t') {
      result_ += c;
      if (c == '\n' || (c == '\f' && source_.language == Language::python)) {
        column_ = 0;  // CPython counts the indentation anew behind a form feed.
      } else if (!continues_utf8(c)) {
        ++column_;
      }
      return;
    }
    const auto width = tab_stop_ - column_ % tab_stop_;
    if (is_opaque(kind) || escaped(at)) {
      result_ += c;
    } else {
      result_.append(width, ' ');
    }
    column_ += width;
  }

  const Source& source_;
  std::size_t tab_stop_;
  std::size_t column_ = 0;
  std::string result_;
};

std::string_view indentation_of(const Source& source, const SourceLine& line) {
  auto end = line.begin;
  while (end < line.end && (is_blank(source.text[end]) || source.text[end] == '\f')) ++end;
  return source.text.substr(line.begin, end - line.begin);
}

/// Its indentation is nothing but indentation.
bool is_indented_code(const SourceLine& line) {
  return !line.blank && line.starts_within == SegmentKind::code;
}

bool is_blanks_only(std::string_view indentation) {
  return indentation.find_first_not_of(' ') == std::string_view::npos;
}

/// For each line whether a logical line begins in it (Python's reference, 2.1): no bracket is open, no
/// backslash joins it to the one before, and it holds more than a comment.
std::vector<bool> logical_line_begins(const Source& source) {
  std::vector<bool> begins(source.lines.size());
  std::size_t segment = 0;
  long depth = 0;
  bool joined = false;
  for (std::size_t i = 0; i < source.lines.size(); ++i) {
    const auto& line = source.lines[i];
    const auto first = line.begin + indentation_of(source, line).size();
    const bool comment = first < line.end && source.text[first] == '#';
    begins[i] = is_indented_code(line) && depth == 0 && !joined && !comment;
    joined = line.continues && line.last == SegmentKind::code;
    for (auto at = line.begin; at < line.end; ++at) {
      while (source.segments[segment].end <= at) ++segment;
      if (source.segments[segment].kind != SegmentKind::code) continue;
      const char c = source.text[at];
      if (c == '(' || c == '[' || c == '{') ++depth;
      if ((c == ')' || c == ']' || c == '}') && depth > 0) --depth;
    }
  }
  return begins;
}

/// Blanks a level; why there is no such number.
tl::expected<std::size_t, std::string> python_unit(const Source& source) {
  const auto begins = logical_line_begins(source);
  std::size_t unit = 0;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    if (!begins[i]) continue;
    const auto indentation = indentation_of(source, source.lines[i]);
    if (!is_blanks_only(indentation)) {
      return tl::unexpected("line " + std::to_string(i + 1) + " is already indented by tabs");
    }
    unit = std::gcd(unit, indentation.size());
  }
  if (unit == 1) return tl::unexpected(std::string("its indentation has no common step"));
  return unit;
}

/// The least indentation by more than one blank: a guess at the step, which nothing depends on.
std::size_t usual_unit(const Source& source) {
  std::size_t unit = 0;
  for (const auto& line : source.lines) {
    const auto indentation = indentation_of(source, line);
    if (!is_indented_code(line) || indentation.size() < 2 || !is_blanks_only(indentation)) continue;
    if (unit == 0 || indentation.size() < unit) unit = indentation.size();
  }
  return unit > 8 ? usual_tab_stop : unit;
}

std::string indented_by_tabs(const Source& source, std::size_t unit) {
  std::string result;
  for (const auto& line : source.lines) {
    const auto indentation = indentation_of(source, line);
    const bool changes = is_indented_code(line) && is_blanks_only(indentation);
    const auto kept = changes ? indentation.size() : 0;
    if (changes) result.append(kept / unit, '\t').append(kept % unit, ' ');
    result += source.text.substr(line.begin + kept, line.next - line.begin - kept);
  }
  return result;
}

}  // namespace

Perturbed add_trailing_whitespace(const Source& source) {
  if (source.language == Language::makefile)
    return skipped("a variable keeps the blanks at the end of its line");
  std::string result;
  for (const auto& line : source.lines) {
    const bool safe = line.has_line_end() && !is_opaque(line.ends_within) && !line.continues &&
                      line.ends_within != SegmentKind::line_comment && line.last != SegmentKind::directive;
    result += source.text.substr(line.begin, line.end - line.begin);
    if (safe) result += "  ";
    result += source.text.substr(line.end, line.next - line.end);
  }
  return changed_from(source.text, std::move(result));
}

Perturbed tabs_to_spaces(const Source& source) {
  if (source.text.find('\t') == std::string_view::npos) return {};
  if (source.language == Language::makefile) return skipped("a tab begins each line of a recipe");
  return changed_from(source.text, TabExpansion(source).run());
}

Perturbed spaces_to_tabs(const Source& source) {
  if (source.language == Language::makefile) return skipped("a line that begins with a tab is a recipe's");
  if (source.language != Language::python) {
    const auto unit = usual_unit(source);
    return unit == 0 ? Perturbed{} : changed_from(source.text, indented_by_tabs(source, unit));
  }
  const auto unit = python_unit(source);
  if (!unit) return skipped(unit.error());
  return *unit == 0 ? Perturbed{} : changed_from(source.text, indented_by_tabs(source, *unit));
}

}  // namespace sluice
