#include "coordinator/output/csv.hpp"

#include <utility>

namespace sluice {

void CsvLine::text(std::string_view text) {
  const bool is_formula = !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != text.npos;
  is_formula ? cell("'" + std::string(text)) : cell(text);
}

void CsvLine::cell(std::string_view text) {
  if (!is_first_) line_ += ',';
  is_first_ = false;
  if (text.find_first_of("\",\r\n") == std::string_view::npos) {
    line_ += text;
    return;
  }
  line_ += '"';
  for (const char c : text) {
    if (c == '"') line_ += '"';
    line_ += c;
  }
  line_ += '"';
}

std::string CsvLine::take() {
  is_first_ = true;
  return std::exchange(line_, {}) + "\r\n";
}

}  // namespace sluice
