#include "coordinator/suite/documents/json_lines.hpp"

#include "common/text/text.hpp"
#include "coordinator/suite/documents/json_document.hpp"

#include <algorithm>

namespace sluice {

JsonLines::JsonLines(std::string_view text) : rest_(without_byte_order_mark(text)) {}

std::optional<JsonLines::Line> JsonLines::next() {
  while (!rest_.empty()) {
    std::string_view line = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
    ++number_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != std::string_view::npos)
      return Line{number_, parse_json(line, number_)};
  }
  return std::nullopt;
}

}  // namespace sluice
