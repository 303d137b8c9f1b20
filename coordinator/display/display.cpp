#include "coordinator/display/display.hpp"

namespace sluice {

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

std::string paragraph(std::string_view text, std::size_t width) {
  std::string lines;
  for (const std::string& line : wrapped(text, width)) lines += line + "\n";
  return lines;
}

}  // namespace sluice
