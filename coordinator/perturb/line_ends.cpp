#include "coordinator/perturb/transforms.hpp"

#include <algorithm>
#include <optional>

namespace sluice {

namespace {

bool has_line_end_within_a_string(const Source& source) {
  return std::ranges::any_of(source.lines,
                             [](const SourceLine& line) { return line.ends_within == SegmentKind::string; });
}

/// Why CR LF would not be read as LF, if so.
std::optional<std::string_view> reason_against_crlf(const Source& source) {
  if (has_shebang(source.text)) return "the system would take the CR for a part of the interpreter's name";
  switch (source.language) {
    case Language::makefile:
      return "make hands the CR to the shell";
    case Language::toml:
      if (has_line_end_within_a_string(source)) return "TOML leaves it open whether a string keeps the CR";
      return std::nullopt;
    case Language::cpp:
      if (has_line_end_within_a_string(source)) return "C++ leaves it open whether a raw string keeps the CR";
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

/// An empty line may follow: the line ends in code, and nothing depends on what stands right below it. A
/// comment may: documentation, cgo's C code.
bool may_be_followed_by_blank(const Source& source, const SourceLine& line) {
  if (!line.has_line_end() || line.ends_within != SegmentKind::code || line.continues) return false;
  if (source.language == Language::makefile && line.last != SegmentKind::code) return false;
  // An encoding may be declared in the second line.
  if (source.language == Language::python && line.begin == 0) return false;
  return line.last == SegmentKind::code || line.last == SegmentKind::string;
}

}  // namespace

Perturbed to_crlf(const Source& source) {
  if (source.text.find('\n') == std::string_view::npos) return {};
  if (const auto reason = reason_against_crlf(source)) return skipped(std::string(*reason));
  std::string result;
  result.reserve(source.text.size() + source.lines.size());
  for (const auto& line : source.lines) {
    result += source.text.substr(line.begin, line.end - line.begin);
    if (line.has_line_end()) result += "\r\n";
  }
  return changed_from(source.text, std::move(result));
}

Perturbed add_blank_lines(const Source& source) {
  constexpr std::size_t every = 3;
  std::string result;
  std::size_t passed = 0;
  for (const auto& line : source.lines) {
    result += source.text.substr(line.begin, line.next - line.begin);
    if (may_be_followed_by_blank(source, line) && passed++ % every == 0) result += source.line_end;
  }
  return changed_from(source.text, std::move(result));
}

Perturbed toggle_final_newline(const Source& source) {
  if (source.lines.empty()) return changed_from(source.text, std::string(source.line_end));
  const auto& last = source.lines.back();
  if (last.continues) return skipped("the last line ends with a backslash");
  if (last.has_line_end()) return changed_from(source.text, std::string(source.text.substr(0, last.end)));
  return changed_from(source.text, std::string(source.text) + std::string(source.line_end));
}

}  // namespace sluice
