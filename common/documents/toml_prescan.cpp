#include "common/documents/toml_prescan.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

namespace sluice {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
/// What may stand right before a string (the last is the end of a byte order mark). Where anything else does,
/// the parser takes the quote for a part of what it reads.
constexpr std::string_view before_string = " \t\r\n=[{,.\xBF";

/// True if the string's value is its text: no escapes, no carriage returns, no characters that TOML forbids.
bool is_plain(std::string_view body, bool escapes) {
  // Eight bytes at a time. Sums of their lower seven bits reach no other byte.
  constexpr std::uint64_t each = 0x0101010101010101;
  constexpr std::uint64_t lower = 0x7f * each;
  constexpr std::uint64_t highest = 0x80 * each;
  const auto are = [](std::uint64_t word, std::uint64_t byte) {
    const std::uint64_t differs = word ^ (byte * each);
    return ~(((differs & lower) + lower) | differs) & highest;
  };
  std::uint64_t found = 0;
  for (std::size_t at = 0; at < body.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = ' ' * each;  // Plain behind the end.
    std::memcpy(&word, body.data() + at, std::min(sizeof word, body.size() - at));
    const std::uint64_t below_space = ~(((word & lower) + 0x60 * each) | word) & highest;
    found |= below_space & ~(are(word, '\n') | are(word, '\t'));
    found |= are(word, 0x7f);
    if (escapes) found |= are(word, '\\');
  }
  return found == 0;
}

/// Lines are longer than what a search for their ends takes to begin with.
std::size_t count_line_breaks(std::string_view text) {
  std::size_t count = 0;
  for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) ++count;
  return count;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  TomlPrescan scan() {
    if (text_.starts_with(byte_order_mark)) {
      at_ = byte_order_mark.size();
      column_ = 0;  // The mark is no character of the text.
    }
    while (at_ < text_.size() && !result_.refused_line) step();
    if (!result_.long_strings.empty()) result_.shortened.append(text_.substr(copied_));
    return std::move(result_);
  }

 private:
  void step() {
    const char c = text_[at_];
    switch (c) {
      case '"':
      case '\'':
        take_string();
        return;
      case '#':
        at_ = std::min(text_.find('\n', at_), text_.size());
        return;
      case '\n':
        ++line_;
        dots_ = 0;
        break;
      case '[':
      case '{':
      case '=':
      case ',':
        dots_ = 0;
        break;
      case '.':
        if (++dots_ >= defaults::max_key_parts)
          refuse("a key has more than " + std::to_string(defaults::max_key_parts) + " dotted parts");
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x80) refuse("characters beyond ASCII belong into quotes");
        break;
    }
    ++at_;
  }

  void refuse(std::string why) {
    result_.refused_line = line_;
    result_.refused_because = std::move(why);
  }

  /// Steps over the string literal at the current position (one of TOML's four kinds).
  void take_string() {
    const std::size_t start = at_;
    if (start > 0 && before_string.find(text_[start - 1]) == std::string_view::npos) {
      refuse("a quote stands in the middle of a value or key without quotes");
      return;
    }
    const char quote = text_[start];
    const bool escapes = quote == '"';
    const std::string_view fence = escapes ? R"(""")" : "'''";
    if (text_.substr(start, 3) != fence) {
      skip_line_string(quote, escapes);
      return;
    }
    const std::size_t end = end_of_multi_line(start + 3, fence, escapes);
    const std::string_view inside = text_.substr(start + 3, end - start - 3);
    if (inside.ends_with(fence)) take_out(start, end, escapes);
    line_ += static_cast<std::uint32_t>(count_line_breaks(inside));
    at_ = end;
  }

  void skip_line_string(char quote, bool escapes) {
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == quote) {
        ++at_;
        return;
      }
      if (escapes && text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
    }
  }

  std::size_t end_of_multi_line(std::size_t from, std::string_view fence, bool escapes) const {
    std::size_t close = text_.find(fence, from);
    if (escapes) {
      for (auto slash = text_.find('\\', from); slash < close; slash = text_.find('\\', from)) {
        from = slash + 2;
        if (close < from) close = text_.find(fence, from);
      }
    }
    if (close == std::string_view::npos) return text_.size();
    std::size_t end = close + fence.size();
    // Up to two quotes before the fence belong to the string.
    for (int extra = 0; extra < 2 && end < text_.size() && text_[end] == fence.front(); ++extra) ++end;
    return end;
  }

  void take_out(std::size_t start, std::size_t end, bool escapes) {
    std::string_view body = text_.substr(start + 3, end - start - 6);
    if (body.size() < defaults::least_prescanned_bytes || !is_plain(body, escapes)) return;
    const std::size_t breaks = count_line_breaks(body);
    append(text_.substr(copied_, start + 3 - copied_));
    const std::uint32_t column = column_ - 3;
    append(std::string(breaks, '\n'));
    copied_ = end - 3;
    // A line break right after the opening quotes is no part of the value.
    if (body.starts_with('\n')) body.remove_prefix(1);
    result_.long_strings.push_back({line_, column, body});
  }

  /// Appends to the shortened text and keeps count of where that stands.
  void append(std::string_view piece) {
    result_.shortened.append(piece);
    if (const auto line_break = piece.rfind('\n'); line_break != std::string_view::npos) {
      piece.remove_prefix(line_break + 1);
      column_ = 1;
    }
    const auto is_first_byte = [](char c) { return !continues_utf8(c); };
    column_ += static_cast<std::uint32_t>(std::count_if(piece.begin(), piece.end(), is_first_byte));
  }

  std::string_view text_;
  TomlPrescan result_;
  std::size_t at_ = 0;
  std::size_t copied_ = 0;  ///< Up to where the text stands in `shortened`.
  std::size_t dots_ = 0;    ///< In the key at hand.
  std::uint32_t line_ = 1;
  std::uint32_t column_ = 1;  ///< Of the next character of `shortened`.
};

}  // namespace

const TomlLongString* TomlPrescan::find(std::uint32_t line, std::uint32_t column) const {
  const auto found = std::lower_bound(
      long_strings.begin(), long_strings.end(), std::tie(line, column),
      [](const TomlLongString& one, const auto& place) { return std::tie(one.line, one.column) < place; });
  const bool here = found != long_strings.end() && found->line == line && found->column == column;
  return here ? &*found : nullptr;
}

TomlPrescan prescan_toml(std::string_view text) {
  return Scanner(text).scan();
}

}  // namespace sluice
