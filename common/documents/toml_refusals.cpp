#include "common/documents/toml_refusals.hpp"

#include "common/defaults.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace sluice {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
/// What may stand right before a string (the last is the end of a byte order mark). Where anything else does,
/// the parser takes the quote for a part of what it reads.
constexpr std::string_view before_string = " \t\r\n=[{,.\xBF";

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::optional<TomlError> scan() {
    if (text_.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
    while (at_ < text_.size() && !refusal_) step();
    return std::move(refusal_);
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
        if (static_cast<unsigned char>(c) >= 0x80) refuse("characters beyond ASCII belong in quotes");
        break;
    }
    ++at_;
  }

  void refuse(std::string why) { refusal_ = TomlError{line_, std::move(why)}; }

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
    const auto inside = text_.substr(start, end - start);
    line_ += static_cast<std::uint32_t>(std::ranges::count(inside, '\n'));
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
      // No further than to the fence: else each of many strings would be searched to the end of the text.
      const auto next_slash = [&] { return text_.substr(0, close).find('\\', from); };
      for (auto slash = next_slash(); slash != std::string_view::npos; slash = next_slash()) {
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

  std::string_view text_;
  std::optional<TomlError> refusal_;
  std::size_t at_ = 0;
  std::size_t dots_ = 0;  ///< In the key at hand.
  std::uint32_t line_ = 1;
};

}  // namespace

std::optional<TomlError> refuse_toml(std::string_view text) {
  return Scanner(text).scan();
}

}  // namespace sluice
