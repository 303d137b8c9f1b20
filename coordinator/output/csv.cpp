#include "coordinator/output/csv.hpp"

#include "common/text/build_commands.hpp"
#include "common/text/printable.hpp"

#include <utility>

namespace sluice {
namespace {

/// Spreadsheets drop the white space before a formula.
bool is_formula(std::string_view text) {
  if (text.starts_with('\t') || text.starts_with('\r')) return true;
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && std::string_view("=+-@").find(text[first]) != text.npos;
}

}  // namespace

void CsvLine::text(std::string_view text) {
  const std::string harmless = without_commands(without_direction_controls(without_controls(text)));
  is_formula(harmless) ? cell("'" + harmless) : cell(harmless);
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
