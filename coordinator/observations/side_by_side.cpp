#include "coordinator/observations/side_by_side.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/display/display.hpp"
#include "coordinator/display/numbers.hpp"

#include <algorithm>
#include <span>

namespace sluice {
namespace {

using Kind = LinePair::Kind;
using Lines = std::span<const std::string_view>;

constexpr std::size_t least_columns = 40;
constexpr std::size_t row_indent = 2;
constexpr std::size_t gutter = 3;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

/// Lines that are in the place of each other, and what is left of the longer side.
void add_block(Lines left, Lines right, std::vector<LinePair>& to) {
  const std::size_t both = std::min(left.size(), right.size());
  for (std::size_t i = 0; i < both; ++i) to.push_back({Kind::changed, left[i], right[i]});
  for (const auto line : left.subspan(both)) to.push_back({Kind::only_left, line, {}});
  for (const auto line : right.subspan(both)) to.push_back({Kind::only_right, {}, line});
}

/// By the longest common subsequence.
void add_differing(Lines left, Lines right, std::vector<LinePair>& to) {
  if (left.empty() || right.empty() || left.size() > defaults::max_line_pairs / right.size())
    return add_block(left, right, to);
  const std::size_t width = right.size() + 1;
  // Of what is left from each place on.
  std::vector<std::uint32_t> common((left.size() + 1) * width);
  for (std::size_t i = left.size(); i-- > 0;) {
    for (std::size_t j = right.size(); j-- > 0;) {
      common[i * width + j] = left[i] == right[j]
                                  ? common[(i + 1) * width + j + 1] + 1
                                  : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  std::size_t i = 0;
  std::size_t j = 0;
  std::size_t left_begin = 0;
  std::size_t right_begin = 0;
  while (i < left.size() && j < right.size()) {
    if (left[i] == right[j]) {
      add_block(left.subspan(left_begin, i - left_begin), right.subspan(right_begin, j - right_begin), to);
      to.push_back({Kind::same, left[i], right[j]});
      left_begin = ++i;
      right_begin = ++j;
    } else if (common[(i + 1) * width + j] >= common[i * width + j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  add_block(left.subspan(left_begin), right.subspan(right_begin), to);
}

char mark_of(Kind kind) {
  switch (kind) {
    case Kind::same:
      return ' ';
    case Kind::changed:
      return '|';
    case Kind::only_left:
      return '<';
    case Kind::only_right:
      return '>';
  }
  return ' ';
}

/// The rows that a pair takes: each side is wrapped in its own half.
void add_rows(std::string_view left, char mark, std::string_view right, std::size_t half, std::string& to) {
  const auto left_rows = wrapped(printable(left), half);
  const auto right_rows = wrapped(printable(right), half);
  for (std::size_t row = 0; row < std::max(left_rows.size(), right_rows.size()); ++row) {
    std::string line(row_indent, ' ');
    line += padded_right(row < left_rows.size() ? left_rows[row] : "", half);
    line += {' ', row == 0 ? mark : ' ', ' '};
    if (row < right_rows.size()) line += right_rows[row];
    line.erase(line.find_last_not_of(' ') + 1);
    to += line + "\n";
  }
}

/// How many pairs from here on agree and lie too far from what differs to be shown.
std::size_t skipped_from(const std::vector<LinePair>& pairs, std::size_t at) {
  const std::size_t context = defaults::diff_context_lines;
  std::size_t end = at;
  while (end < pairs.size() && pairs[end].kind == Kind::same) ++end;
  const std::size_t before_next = end == pairs.size() ? 0 : context;
  const std::size_t skipped = end - at > before_next ? end - at - before_next : 0;
  return skipped > 1 ? skipped : 0;  // A line that says so takes as much room as one.
}

}  // namespace

std::vector<LinePair> pair_lines(std::string_view left, std::string_view right) {
  const auto left_lines = lines_of(left);
  const auto right_lines = lines_of(right);
  Lines from_left = left_lines;
  Lines from_right = right_lines;
  std::vector<LinePair> pairs;
  while (!from_left.empty() && !from_right.empty() && from_left.front() == from_right.front()) {
    pairs.push_back({Kind::same, from_left.front(), from_right.front()});
    from_left = from_left.subspan(1);
    from_right = from_right.subspan(1);
  }
  std::size_t tail = 0;
  const std::size_t most = std::min(from_left.size(), from_right.size());
  while (tail < most && from_left[from_left.size() - tail - 1] == from_right[from_right.size() - tail - 1])
    ++tail;
  add_differing(from_left.first(from_left.size() - tail), from_right.first(from_right.size() - tail), pairs);
  for (const auto line : from_left.last(tail)) pairs.push_back({Kind::same, line, line});
  return pairs;
}

std::string side_by_side(std::string_view left_heading, std::string_view left, std::string_view right_heading,
                         std::string_view right, std::size_t columns) {
  const std::size_t half = (std::max(columns, least_columns) - row_indent - gutter) / 2;
  std::string text;
  add_rows(left_heading, ' ', right_heading, half, text);
  const auto pairs = pair_lines(left, right);
  std::size_t agreed = defaults::diff_context_lines;  // The text's beginning is no context of anything.
  for (std::size_t at = 0; at < pairs.size(); ++at) {
    const LinePair& pair = pairs[at];
    agreed = pair.kind == Kind::same ? agreed + 1 : 0;
    const std::size_t skipped = agreed > defaults::diff_context_lines ? skipped_from(pairs, at) : 0;
    if (skipped == 0) {
      add_rows(pair.left, mark_of(pair.kind), pair.right, half, text);
      continue;
    }
    text += std::string(row_indent, ' ') + "… " + wording::counted(skipped, "equal line") + "\n";
    at += skipped - 1;
  }
  return text;
}

}  // namespace sluice
