#include "common/checks/code_fence.hpp"

#include "common/text/trimmed.hpp"

#include <cstddef>

namespace sluice {

std::string_view unfenced(std::string_view text) {
  constexpr std::string_view fence = "```";
  text = trimmed(text);
  if (!text.starts_with(fence)) return text;
  const std::size_t end_of_line = text.find('\n');
  if (end_of_line == std::string_view::npos) return text;
  const std::string_view language = trimmed(text.substr(fence.size(), end_of_line - fence.size()));
  if (!language.empty() && language != "json" && language != "JSON") return text;
  const std::string_view inside = trimmed(text.substr(end_of_line + 1));
  if (!inside.ends_with(fence)) return text;
  return trimmed(inside.substr(0, inside.size() - fence.size()));
}

}  // namespace sluice
