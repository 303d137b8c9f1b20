#include "tests/provider_sim/json_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace sluice::sim {

namespace {

void append_utf8(std::string& out, std::uint32_t code) {
  auto add = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | (code >> 6));
    add(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    add(0xE0 | (code >> 12));
    add(0x80 | ((code >> 6) & 0x3F));
    add(0x80 | (code & 0x3F));
  } else {
    add(0xF0 | (code >> 18));
    add(0x80 | ((code >> 12) & 0x3F));
    add(0x80 | ((code >> 6) & 0x3F));
    add(0x80 | (code & 0x3F));
  }
}

/// The code unit of `XXXX` at the position; nothing if those are not four hex digits.
std::optional<std::uint32_t> hex_unit(std::string_view raw, std::size_t at) {
  if (at + 4 > raw.size()) return std::nullopt;
  std::uint32_t unit = 0;
  const auto [end, error] = std::from_chars(raw.data() + at, raw.data() + at + 4, unit, 16);
  if (error != std::errc() || end != raw.data() + at + 4) return std::nullopt;
  return unit;
}

/// Appends what `\uXXXX` at `at` (the position of the backslash) means and returns the position behind it.
std::size_t append_unicode(std::string& out, std::string_view raw, std::size_t at) {
  constexpr std::uint32_t replacement = 0xFFFD;
  const auto unit = hex_unit(raw, at + 2);
  if (!unit) {
    append_utf8(out, replacement);
    return at + 2;
  }
  const bool high = *unit >= 0xD800 && *unit < 0xDC00;
  if (high && raw.substr(at + 6, 2) == "\\u") {
    const auto low = hex_unit(raw, at + 8);
    if (low && *low >= 0xDC00 && *low < 0xE000) {
      append_utf8(out, 0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00));
      return at + 12;
    }
  }
  const bool surrogate = *unit >= 0xD800 && *unit < 0xE000;
  append_utf8(out, surrogate ? replacement : *unit);
  return at + 6;
}

char simple_escape(char letter) {
  switch (letter) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    default:
      return letter;  // quote, backslash and slash stand for themselves
  }
}

}  // namespace

void append_unescaped(std::string& out, const JsonString& string) {
  const std::string_view raw = string.raw;
  std::size_t at = 0;
  while (at < raw.size()) {
    const std::size_t escape = std::min(raw.find('\\', at), raw.size());
    out.append(raw, at, escape - at);
    at = escape;
    if (at + 1 >= raw.size()) break;
    if (raw[at + 1] == 'u') {
      at = append_unicode(out, raw, at);
    } else {
      out.push_back(simple_escape(raw[at + 1]));
      at += 2;
    }
  }
}

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += "\\u00";
          append_hex(out, static_cast<unsigned char>(c), 2);
        } else {
          out.push_back(c);
        }
    }
  }
}

void append_number(std::string& out, std::int64_t number) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

void append_hex(std::string& out, std::uint64_t value, int digits) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    out.push_back("0123456789abcdef"[(value >> shift) & 0xF]);
  }
}

}  // namespace sluice::sim
