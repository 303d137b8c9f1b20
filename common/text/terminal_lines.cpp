#include "common/text/terminal_lines.hpp"

#include "common/text/build_commands.hpp"
#include "common/text/char_width_ranges.hpp"
#include "common/text/printable.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include <sys/ioctl.h>
#include <unistd.h>

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

std::optional<std::size_t> columns_of(int descriptor) {
  winsize size{};
  const bool is_known = ::isatty(descriptor) == 1 && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0;
  return is_known && size.ws_col > 0 ? std::optional<std::size_t>(size.ws_col) : std::nullopt;
}

std::string broken_on_stderr(std::string_view text, std::size_t column) {
  const auto columns = columns_of(STDERR_FILENO);
  return columns ? hanging(text, column, *columns) : std::string(text);
}

}  // namespace sluice
