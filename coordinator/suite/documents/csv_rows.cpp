#include "coordinator/suite/documents/csv_rows.hpp"

#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"
#include "coordinator/defaults.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

class CsvParser {
 public:
  explicit CsvParser(std::string_view text) : text_(text) {}

  CsvRows parse() {
    while (at_ < text_.size()) {
      if (text_[at_] == '\n') {
        pass_line_end();
      } else {
        read_row();
      }
    }
    return std::move(result_);
  }

 private:
  bool at_row_end() const { return at_ == text_.size() || text_[at_] == '\n'; }

  void pass_line_end() {
    ++at_;
    ++line_;
  }

  void read_row() {
    CsvRow row;
    row.line = line_;
    const std::size_t errors_before = result_.errors.size();
    for (bool goes_on = true; goes_on;) {
      row.fields.push_back(at_ < text_.size() && text_[at_] == '"' ? read_quoted() : read_plain());
      goes_on = at_ < text_.size() && text_[at_] == ',';
      if (goes_on) ++at_;
    }
    if (at_ < text_.size()) pass_line_end();
    if (result_.errors.size() == errors_before) result_.rows.push_back(std::move(row));
  }

  std::string read_plain() {
    const std::size_t end = std::min(text_.find_first_of(",\n", at_), text_.size());
    const std::string_view field = text_.substr(at_, end - at_);
    if (field.find('"') != std::string_view::npos) {
      add("a quote stands inside of a field that is not in quotes: put the whole field in quotes, and double "
          "those in it");
    }
    at_ = end;
    return std::string(field);
  }

  std::string read_quoted() {
    const std::uint32_t begin = line_;
    std::string field;
    for (++at_; at_ < text_.size();) {
      const std::size_t quote = std::min(text_.find('"', at_), text_.size());
      const std::string_view piece = text_.substr(at_, quote - at_);
      line_ += static_cast<std::uint32_t>(std::ranges::count(piece, '\n'));
      field += piece;
      at_ = quote;
      if (at_ == text_.size()) break;
      ++at_;
      if (at_ == text_.size() || text_[at_] != '"') return close(std::move(field));
      field += '"';
      ++at_;
    }
    result_.errors.push_back({begin, "the quote that opens a field here is closed by nothing"});
    return field;
  }

  std::string close(std::string field) {
    if (at_row_end() || text_[at_] == ',') return field;
    add("after the quote that closes a field there is neither a comma nor the end of the line: a quote "
        "inside of a field is doubled");
    at_ = std::min(text_.find_first_of(",\n", at_), text_.size());
    return field;
  }

  void add(std::string message) { result_.errors.push_back({line_, std::move(message)}); }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  CsvRows result_;
};

/// A table whose first line ends in CR alone was written by a program of the old Mac, and so were the others.
std::string with_line_feeds(std::string_view given) {
  std::string text = with_unix_line_ends(std::string(given));
  const auto first = text.find_first_of("\r\n");
  if (first != std::string::npos && text[first] == '\r') std::ranges::replace(text, '\r', '\n');
  return text;
}

}  // namespace

CsvRows parse_csv(std::string_view given) {
  const std::string text = with_line_feeds(without_byte_order_mark(given));
  return CsvParser(text).parse();
}

std::string other_separator(const CsvRow& header) {
  if (header.fields.size() != 1) return "";
  const std::string_view column = trimmed(header.fields.front());
  const auto at = column.find_first_of(";\t");
  if (at == std::string_view::npos) return "";
  return "there is one column, " + json_string(excerpt(to_valid_utf8(column), defaults::quoted_bytes)) +
         ": columns stand between commas, not between " + (column[at] == ';' ? "semicolons" : "tabs");
}

}  // namespace sluice
