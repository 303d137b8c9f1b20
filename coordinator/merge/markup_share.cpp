#include "coordinator/merge/markup_share.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <cstddef>

namespace sluice {
namespace {

constexpr std::size_t most_hashes = 6;  // Of a heading; more are none.

bool is_space_at(std::string_view line, std::size_t at) {
  return at >= line.size() || line[at] == ' ' || line[at] == '\t';
}

/// Bytes of the mark that a line begins with: `## `, `- `, `12. `, `> `; a line that opens or ends a block of
/// code is one as a whole.
std::size_t mark_at_begin(std::string_view line) {
  if (line.starts_with("```") || line.starts_with("~~~")) return line.size();
  const std::size_t hashes = std::min(line.find_first_not_of('#'), line.size());
  if (hashes > 0) return hashes <= most_hashes && is_space_at(line, hashes) ? hashes : 0;
  if (line.starts_with('>')) return 1;
  if (line.starts_with('-') || line.starts_with('*') || line.starts_with('+'))
    return is_space_at(line, 1) ? 1 : 0;
  std::size_t digits = 0;
  while (digits < line.size() && is_digit(line[digits])) ++digits;
  const bool is_numbered = digits > 0 && digits < line.size() &&
                           (line[digits] == '.' || line[digits] == ')') && is_space_at(line, digits + 1);
  return is_numbered ? digits + 1 : 0;
}

std::size_t marks_within(std::string_view line) {
  std::size_t marks = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char next = i + 1 < line.size() ? line[i + 1] : '\0';
    const bool alone = is_space_at(line, i + 1) && (i == 0 || is_space_at(line, i - 1));
    if (line[i] == '`' || line[i] == '|') ++marks;
    if (line[i] == '*' && !alone) ++marks;
    // Words have single ones within.
    if (line[i] == '_' && next == '_') {
      marks += 2;
      ++i;
    }
    if (line[i] == ']' && next == '(') marks += 4;  // With the brackets of the other ends.
  }
  return marks;
}

}  // namespace

double markup_share(std::string_view text) {
  if (text.empty()) return 0.0;
  std::size_t marks = 0;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const std::size_t begin = mark_at_begin(line);
    marks += begin + marks_within(line.substr(begin));
  }
  return std::min(1.0, static_cast<double>(marks) / static_cast<double>(text.size()));
}

}  // namespace sluice
