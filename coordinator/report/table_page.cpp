#include "coordinator/report/table_page.hpp"

#include "coordinator/report/display.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::size_t least_columns = 60;
constexpr std::size_t most_columns = 120;  // Longer lines are hard to read.
constexpr std::size_t label_width = 12;    // "Unexpected: "

std::string_view code_of(Colour colour) {
  switch (colour) {
    case Colour::green:
      return "\x1b[32m";
    case Colour::yellow:
      return "\x1b[33m";
    case Colour::red:
      return "\x1b[31m";
    case Colour::bold:
      return "\x1b[1m";
    case Colour::dim:
      return "\x1b[2m";
    case Colour::none:
      break;
  }
  return "";
}

}  // namespace

Colour colour_of(RunVerdict verdict) {
  switch (verdict) {
    case RunVerdict::pass:
      return Colour::green;
    case RunVerdict::review:
      return Colour::yellow;
    default:
      return Colour::red;
  }
}

TablePage::TablePage(const TableStyle& style, Sink& sink)
    : width_(std::clamp(style.columns, least_columns, most_columns)), colour_(style.colour), writer_(sink) {}

std::string TablePage::painted(std::string_view words, Colour colour) const {
  if (!colour_ || colour == Colour::none) return std::string(words);
  return std::string(code_of(colour)).append(words).append("\x1b[0m");
}

void TablePage::heading(std::string_view words) {
  text() += '\n' + painted(words, Colour::bold) + '\n';
}

void TablePage::title(std::string_view words) {
  std::string lead = "- ";
  for (const auto& line : wrapped(printable(words), width_ - lead.size())) {
    text() += lead + painted(line, Colour::bold) + '\n';
    lead = "  ";
  }
}

void TablePage::entry(std::string_view label, std::string_view words, std::size_t indent, Colour colour) {
  const std::size_t column = label.empty() ? indent : indent == 0 ? label.size() + 1 : indent + label_width;
  std::string lead = std::string(indent, ' ') + padded_right(label, column - indent);
  for (const auto& line : wrapped(printable(words), width_ - column)) {
    text() += lead + painted(line, colour) + '\n';
    lead.assign(column, ' ');
  }
}

}  // namespace sluice
