#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::sim {

/// A string inside a JSON text: the bytes between its quotes, escapes and all.
struct JsonString {
  std::string_view raw;
  std::size_t size = 0;  ///< Bytes once unescaped (UTF-8).
};

/// Appends the text that the JSON string stands for. A lone surrogate becomes U+FFFD.
void append_unescaped(std::string& out, const JsonString& string);
/// Appends the text with JSON escapes, without quotes. Bytes beyond ASCII pass through unchanged.
void append_escaped(std::string& out, std::string_view text);
/// Appends a number in decimal.
void append_number(std::string& out, std::int64_t number);
/// Appends `digits` lower-case hex digits of the value, the highest first.
void append_hex(std::string& out, std::uint64_t value, int digits);

}  // namespace sluice::sim
