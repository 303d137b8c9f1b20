#include "coordinator/display/display.hpp"

#include "common/text/build_commands.hpp"
#include "common/text/text.hpp"
#include "coordinator/display/char_width_ranges.hpp"

#include <algorithm>
#include <iterator>
#include <span>

namespace sluice {
namespace {

bool contains(std::span<const CodeRange> ranges, char32_t code) {
  const auto after =
      std::ranges::upper_bound(ranges, code, {}, [](const CodeRange& range) { return range.first; });
  return after != ranges.begin() && code <= std::prev(after)->last;
}

std::size_t width_of(char32_t code) {
  if (code < 0x300) return 1;
  if (contains(zero_width_ranges, code)) return 0;
  return contains(wide_ranges, code) ? 2 : 1;
}

// The longest start of the text that fits into `width` columns.
std::string_view fitting(std::string_view text, std::size_t width) {
  std::size_t used = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    const Character next = first_character(text.substr(end));
    used += width_of(next.code);
    if (used > width) break;
    end += next.bytes.size();
  }
  return text.substr(0, end);
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character next = first_character(text);
    width += width_of(next.code);
    text.remove_prefix(next.bytes.size());
  }
  return width;
}

std::string truncated_to(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  return std::string(fitting(text, width - 1)) + "…";
}

std::string padded_left(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(width > used ? width - used : 0, ' ').append(text);
}

std::string padded_right(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(text).append(width > used ? width - used : 0, ' ');
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  const auto without_spaces = [](std::string_view line) {
    const auto last = line.find_last_not_of(' ');
    return std::string(line.substr(0, last == std::string_view::npos ? 0 : last + 1));
  };
  // Only as much of the text is measured as fits: it may be long, and have no spaces.
  while (true) {
    std::string_view line = fitting(text, width);
    if (line.size() == text.size()) break;
    if (line.empty()) line = first_character(text).bytes;
    const bool ends_at_space = text.size() > line.size() && text[line.size()] == ' ';
    const auto space = ends_at_space ? line.size() : line.rfind(' ');
    if (space != std::string_view::npos && line.find_first_not_of(' ') < space) line = line.substr(0, space);
    lines.push_back(without_spaces(line));
    text.remove_prefix(line.size());
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  if (!text.empty() || lines.empty()) lines.push_back(without_spaces(text));
  for (std::string& one : lines) one = without_commands(one);
  return lines;
}

std::string paragraph(std::string_view text, std::size_t width) {
  std::string lines;
  for (const std::string& line : wrapped(text, width)) lines += line + "\n";
  return lines;
}

std::string hanging(std::string_view text, std::size_t column, std::size_t width) {
  constexpr std::size_t indentation = 2;
  if (column < indentation || column >= width) return std::string(text);
  // Blanks stand for what comes before it.
  const std::size_t before = column - indentation;
  const auto lines = wrapped(std::string(before, ' ').append(text), width - indentation);
  std::string broken = lines.front().substr(std::min(before, lines.front().size()));
  for (std::size_t i = 1; i < lines.size(); ++i)
    broken.append("\n").append(indentation, ' ').append(lines[i]);
  return broken;
}

}  // namespace sluice
