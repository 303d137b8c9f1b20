#include "coordinator/perturb/fences.hpp"

#include "coordinator/perturb/cursor.hpp"

#include <algorithm>

namespace sluice {

namespace {

/// The column behind the blanks that begin the text, which it then lacks.
std::size_t skip_indentation(std::string_view& text, std::size_t column) {
  for (; !text.empty() && is_blank(text.front()); text.remove_prefix(1))
    column = text.front() == '\t' ? (column / 4 + 1) * 4 : column + 1;
  return column;
}

bool closes(std::string_view line, const Fence& fence) {
  if (skip_indentation(line, 0) >= fence.column + 4 || !line.starts_with(fence.mark)) return false;
  return line.find_first_not_of(" \t\r\n", run_of(line).size()) == std::string_view::npos;
}

}  // namespace

std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

std::string_view run_of(std::string_view text) {
  return text.substr(0, text.find_first_not_of(text.substr(0, 1)));
}

std::size_t end_of_list_mark(std::string_view text) {
  auto end = std::min(text.find_first_not_of("0123456789"), text.size());
  if (end >= text.size() ||
      std::string_view(end > 0 ? ".)" : "-*+").find(text[end]) == std::string_view::npos)
    return 0;
  ++end;
  return end < text.size() && is_blank(text[end]) ? end : 0;
}

std::optional<Fence> fence_of(std::string_view line) {
  auto column = skip_indentation(line, 0);
  bool is_item = false;
  while (const auto mark = end_of_list_mark(line)) {
    line.remove_prefix(mark);
    column = skip_indentation(line, column + mark);
    is_item = true;
  }
  if (!line.starts_with("```") && !line.starts_with("~~~")) return std::nullopt;
  const auto mark = run_of(line);
  // What backticks close on the same line is code within a sentence.
  if (mark.front() == '`' && line.find('`', mark.size()) != std::string_view::npos) return std::nullopt;
  return Fence{mark, is_item || column >= 4 ? column : 0};
}

std::size_t end_of_fence(std::string_view text, std::size_t at, const Fence& fence) {
  for (auto feed = text.find('\n', at); feed != std::string_view::npos; feed = text.find('\n', feed + 1)) {
    const auto line = first_line(text.substr(feed + 1));
    if (closes(line, fence)) return feed + 1 + line.size();
  }
  return text.size();
}

std::size_t behind_fences(std::string_view text, std::size_t feed) {
  while (feed < text.size()) {
    const auto fence = fence_of(first_line(text.substr(feed + 1)));
    if (!fence) break;
    feed = end_of_fence(text, feed + 1, *fence);
  }
  return feed;
}

}  // namespace sluice
