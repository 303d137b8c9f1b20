#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// One line of CSV (RFC 4180), cell by cell.
class CsvLine {
 public:
  /// A foreign text. A spreadsheet takes a cell that begins like a formula for one, and may send what others
  /// hold to any address: an apostrophe before it makes it text. Control characters, which a terminal obeys,
  /// become U+FFFD, but for tabs and line ends, as do those that turn the direction of writing. No line of it
  /// is a command to a build server.
  void text(std::string_view text);
  /// What is ours, or a number.
  void cell(std::string_view text);
  /// With its end; the next one is empty again.
  std::string take();

 private:
  std::string line_;
  bool is_first_ = true;
};

}  // namespace sluice
