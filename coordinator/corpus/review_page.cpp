#include "coordinator/corpus/review_page.hpp"

#include "common/text/printable.hpp"
#include "coordinator/corpus/findings.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/display.hpp"
#include "coordinator/display/numbers.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// A tab takes four columns, as in most editors.
std::string with_spaces(std::string_view line) {
  std::string text;
  for (const char c : line) text += c == '\t' ? std::string("    ") : std::string(1, c);
  return text;
}

std::string line_of_page(const std::string& text, std::size_t columns) {
  return truncated_to(printable(text), columns) + "\n";
}

std::string claims(const std::vector<ExpectedClaim>& expected, const std::string& heading,
                   std::size_t columns) {
  if (expected.empty()) return "";
  std::string text = heading + "\n";
  for (const ExpectedClaim& claim : expected)
    text += line_of_page("  " + to_text(claim.subject, claim.predicate, claim.value), columns);
  return text;
}

}  // namespace

std::string review_page(const Case& fixture, std::string_view place, std::string_view file,
                        std::size_t columns) {
  std::string page = line_of_page(std::string(place) + "  " + fixture.id + "  " + fixture.category +
                                      (fixture.language.empty() ? "" : "  " + fixture.language),
                                  columns);
  const auto lines = lines_of(fixture.content);
  const std::size_t shown = std::min(lines.size(), defaults::shown_code_lines);
  const std::size_t first = fixture.first_line;
  const std::size_t digits = std::to_string(first + shown).size();
  page += "Code:\n";
  for (std::size_t i = 0; i < shown; ++i) {
    page +=
        line_of_page(padded_left(std::to_string(first + i), digits) + " | " + with_spaces(lines[i]), columns);
  }
  if (shown < lines.size())
    page += "  and " + wording::counted(lines.size() - shown, "line") + " more, in the file\n";
  // Last, right above the question: the code may be longer than the terminal is high.
  page += line_of_page(std::string(file), columns);
  page += paragraph(printable(fixture.name), columns);
  page += claims(fixture.must_contain, "Expected:", columns);
  page += claims(fixture.must_not_contain, "Forbidden:", columns);
  return page;
}

}  // namespace sluice
