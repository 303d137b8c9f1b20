#pragma once

#include "common/model/claim.hpp"
#include "common/text/printable.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace sluice {

/// Appends JSON to a text without building a document first: a report may hold a million fixtures. The caller
/// keeps the order of brackets; commas come by themselves.
class Json {
 public:
  explicit Json(std::string& out) : out_(out) {}

  /// The next member's name, which needs no escapes.
  Json& key(std::string_view name) {
    const std::string_view before = fresh_ ? "\"" : ", \"";
    constexpr std::string_view after = "\": ";
    // One piece instead of four: names are a third of a report.
    const std::size_t at = out_.size();
    out_.resize(at + before.size() + name.size() + after.size());
    char* place = std::ranges::copy(before, out_.data() + at).out;
    place = std::ranges::copy(name, place).out;
    std::ranges::copy(after, place);
    fresh_ = true;
    return *this;
  }
  /// The same for a name that is foreign text.
  Json& key_of(std::string_view name) {
    separate();
    append_text(name);
    out_ += ": ";
    fresh_ = true;
    return *this;
  }
  void open(char bracket) {
    separate();
    out_ += bracket;
    fresh_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    fresh_ = false;
  }
  void value(std::string_view text) {
    separate();
    append_text(text);
  }
  void value(const char* text) { value(std::string_view(text)); }
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(bool boolean) { raw(boolean ? "true" : "false"); }
  void value(std::integral auto number) { number_of(number); }
  void value(double number) {
    // JSON has no infinity and no NaN; nothing that reaches a report should be one.
    if (!std::isfinite(number)) return null();
    number_of(number);
  }
  template <class T>
  void value(const std::optional<T>& optional) {
    optional ? value(*optional) : null();
  }
  void value(const ClaimValue& claim) {
    std::visit([&](const auto& inner) { value(inner); }, claim);
  }
  void null() { raw("null"); }
  /// A value that is JSON already.
  void raw_json(std::string_view text) { raw(text); }
  template <class T>
  void member(std::string_view name, const T& content) {
    key(name).value(content);
  }
  /// A line break and an indentation in front of what comes next.
  void line(std::size_t depth) {
    if (!fresh_) out_ += ',';
    out_ += '\n';
    out_.append(2 * depth, ' ');
    fresh_ = true;
  }
  /// For line breaks in front of a closing bracket.
  std::string& text() { return out_; }

 private:
  /// Control characters beyond ASCII's, which a terminal may follow.
  static bool is_control(char32_t code) { return code >= 0x7f && code < 0xa0; }
  static bool has_controls(std::string_view text) {
    for (auto at = text.find_first_of("\x7f\xc2"); at != std::string_view::npos;
         at = text.find_first_of("\x7f\xc2", at + 1)) {
      if (is_control(first_character(text.substr(at)).code)) return true;
    }
    return false;
  }
  /// Such, and characters that turn the writing direction, are escaped: a reader gets them, and whoever looks
  /// at the file is not misled.
  void append_text(std::string_view text) {
    if (is_plain_ascii(text) || (!has_direction_controls(text) && !has_controls(text)))
      return append_json_string(out_, text);
    std::string quoted;
    append_json_string(quoted, text);
    constexpr std::string_view hex = "0123456789abcdef";
    for (std::string_view rest = quoted; !rest.empty();) {
      const Character next = first_character(rest);
      rest.remove_prefix(next.bytes.size());
      if (!turns_direction(next.code) && !is_control(next.code)) {
        out_ += next.bytes;
        continue;
      }
      out_ += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4) out_ += hex[(next.code >> shift) & 0xfu];
    }
  }
  void separate() {
    if (!fresh_) out_ += ", ";
    fresh_ = false;
  }
  void raw(std::string_view text) {
    separate();
    out_ += text;
  }
  void number_of(auto number) {
    separate();
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out_.append(digits.data(), end);
  }

  std::string& out_;
  bool fresh_ = true;  // Nothing stands before the next value that a comma must part it from.
};

}  // namespace sluice
