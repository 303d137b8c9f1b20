#pragma once

#include "coordinator/output/sink.hpp"
#include "coordinator/report/report.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

enum class Colour : std::uint8_t { none, green, yellow, red, bold, dim };

Colour colour_of(RunVerdict verdict);

/// Lines of at most a terminal's width, in colour or not. Foreign text may come in: it is made printable.
class TablePage {
 public:
  /// Lays out for 60 to 120 columns, whatever the style says.
  TablePage(const TableStyle& style, Sink& sink);

  std::size_t width() const { return width_; }
  std::string& text() { return writer_.text(); }
  /// Hands on what was written if it has grown large.
  void passed() { writer_.passed(); }

  std::string painted(std::string_view words, Colour colour) const;
  void heading(std::string_view words);
  /// An item's first line, `- ` before it.
  void title(std::string_view words);
  /// A label and a text beside it that is broken into as many lines as it needs, all under its first one.
  void entry(std::string_view label, std::string_view words, std::size_t indent, Colour colour);

 private:
  std::size_t width_;
  bool colour_;
  BufferedWriter writer_;
};

}  // namespace sluice
