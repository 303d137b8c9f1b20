#include "tests/provider_sim/json_cursor.hpp"

#include <algorithm>
#include <array>

namespace sluice::sim {

namespace {

constexpr bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// Marks the bytes that end a run of plain string content.
constexpr auto string_stops = [] {
  std::array<bool, 256> stops{};
  stops['"'] = stops['\\'] = true;
  return stops;
}();

/// Marks the bytes that matter when a container is skipped.
constexpr auto nesting_stops = [] {
  std::array<bool, 256> stops{};
  for (const unsigned char c : {'"', '{', '}', '[', ']'}) stops[c] = true;
  return stops;
}();

constexpr bool stops(const std::array<bool, 256>& table, char c) {
  return table[static_cast<unsigned char>(c)];
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Bytes of UTF-8 that the escape `\uXXXX` adds. A surrogate pair comes to 4: its halves are counted as 2
/// each.
std::size_t unicode_size(const char* digits) {
  std::uint32_t unit = 0;
  for (int i = 0; i < 4; ++i)
    unit = unit * 16 + static_cast<std::uint32_t>(std::max(hex_digit(digits[i]), 0));
  if (unit < 0x80) return 1;
  if (unit < 0x800) return 2;
  return unit >= 0xD800 && unit < 0xE000 ? 2 : 3;
}

}  // namespace

char JsonCursor::peek() {
  while (at_ < end_ && is_space(*at_)) ++at_;
  return at_ < end_ ? *at_ : '\0';
}

bool JsonCursor::take(char wanted) {
  if (peek() != wanted) return false;
  ++at_;
  return true;
}

bool JsonCursor::string(JsonString& out) {
  if (!take('"')) return false;
  const char* const begin = at_;
  std::size_t removed = 0;
  while (true) {
    while (at_ < end_ && !stops(string_stops, *at_)) ++at_;
    if (at_ >= end_) return false;
    if (*at_ == '"') break;
    if (end_ - at_ < 2) return false;
    if (at_[1] == 'u') {
      if (end_ - at_ < 6) return false;
      removed += 6 - unicode_size(at_ + 2);
      at_ += 6;
    } else {
      removed += 1;
      at_ += 2;
    }
  }
  out.raw = std::string_view(begin, static_cast<std::size_t>(at_ - begin));
  out.size = out.raw.size() - removed;
  ++at_;
  return true;
}

bool JsonCursor::count(std::uint64_t& out) {
  const char first = peek();
  if (first < '0' || first > '9') return false;
  out = 0;
  while (at_ < end_ && *at_ >= '0' && *at_ <= '9') out = out * 10 + static_cast<std::uint64_t>(*at_++ - '0');
  while (at_ < end_ && (*at_ == '.' || *at_ == 'e' || *at_ == 'E' || (*at_ >= '0' && *at_ <= '9'))) ++at_;
  return true;
}

bool JsonCursor::boolean(bool& out) {
  out = peek() == 't';
  const std::string_view word = out ? "true" : "false";
  if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).substr(0, word.size()) != word)
    return false;
  at_ += word.size();
  return true;
}

bool JsonCursor::skip() {
  const char first = peek();
  JsonString ignored;
  if (first == '"') return string(ignored);
  if (first != '{' && first != '[') {
    const char* const begin = at_;
    while (at_ < end_ && *at_ != ',' && *at_ != '}' && *at_ != ']' && !is_space(*at_)) ++at_;
    return at_ > begin;
  }
  std::size_t depth = 0;
  do {
    while (at_ < end_ && !stops(nesting_stops, *at_)) ++at_;
    if (at_ >= end_) return false;
    if (*at_ == '"') {
      if (!string(ignored)) return false;
      continue;
    }
    depth = *at_ == '{' || *at_ == '[' ? depth + 1 : depth - 1;
    ++at_;
  } while (depth > 0);
  return true;
}

}  // namespace sluice::sim
