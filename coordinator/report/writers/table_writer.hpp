#pragma once

#include "coordinator/output/sink.hpp"
#include "coordinator/report/document.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

/// How a report for a terminal is laid out.
struct TableStyle {
  std::size_t columns = 80;  ///< Width of the terminal.
  bool colour = false;
  bool is_terminal = true;  ///< Else the last verdict is one line, however long.
};

/// The words in the tone's colour, as a terminal takes it; plain ones as they are.
std::string painted(std::string_view words, document::Tone tone);

/// As wide as reads well: 60 to 120 columns.
TableStyle within_reading_width(TableStyle style);

/// The document as a page: drawn tables as wide as they need to be, within the terminal, and lines of words
/// that are as wide as reads well.
void write_table(const document::Document& document, TableStyle style, Sink& sink);

}  // namespace sluice
