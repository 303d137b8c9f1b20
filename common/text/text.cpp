#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <numeric>

namespace sluice {

namespace {

/// Length of the valid UTF-8 character at the start of the text; 0 if there is none (RFC 3629).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i) { return i < text.size() && continues_utf8(text[i]); };
  if (text.empty()) return 0;
  const auto first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!continues(1) || !continues(2)) return 0;
    if (first == 0xE0 && byte(1) < 0xA0) return 0;  // overlong
    if (first == 0xED && byte(1) > 0x9F) return 0;  // surrogate
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    if (first == 0xF0 && byte(1) < 0x90) return 0;  // overlong
    if (first == 0xF4 && byte(1) > 0x8F) return 0;  // beyond U+10FFFF
    return 4;
  }
  return 0;
}

constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// The end of the whole blocks from `from` on that are ASCII, as nearly every text is from end to end. A
/// block is looked at without a way out in the middle, which the compiler turns into a few vector
/// instructions.
std::size_t skip_ascii_blocks(std::string_view text, std::size_t from) {
  constexpr std::size_t block = 16;
  for (; from + block <= text.size(); from += block) {
    unsigned char bits = 0;
    for (std::size_t i = 0; i < block; ++i) bits |= static_cast<unsigned char>(text[from + i]);
    if (bits >= 0x80) break;
  }
  return from;
}

/// By byte: JSON has an escape for it, or it is a part of a longer character.
constexpr auto needs_care = [] {
  std::array<bool, 256> table{};
  for (std::size_t c = 0; c < table.size(); ++c) table[c] = c < 0x20 || c == '"' || c == '\\' || c >= 0x80;
  return table;
}();

/// The first place from `from` on that needs care; the text's end if there is none. Eight bytes at a time:
/// for a byte that is to be found, the high bit of its place in `found` is set. A borrow can set the bit of a
/// later place in vain, but none before the first.
std::size_t skip_plain(std::string_view text, std::size_t from) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t high_bits = ones * 0x80;
  if constexpr (std::endian::native == std::endian::little) {
    for (; from + sizeof(std::uint64_t) <= text.size(); from += sizeof(std::uint64_t)) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, text.data() + from, sizeof(bytes));
      const std::uint64_t quotes = bytes ^ (ones * '"');
      const std::uint64_t backslashes = bytes ^ (ones * '\\');
      const std::uint64_t found =
          (((bytes - ones * 0x20) | (quotes - ones) | (backslashes - ones)) & ~bytes & high_bits) |
          (bytes & high_bits);
      if (found != 0) return from + static_cast<std::size_t>(std::countr_zero(found)) / 8;
    }
  }
  while (from < text.size() && !needs_care[static_cast<unsigned char>(text[from])]) ++from;
  return from;
}

/// JSON's escape for an ASCII character that needs one.
std::string_view short_escape(unsigned char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return {};
  }
}

/// `crfl` and `crlf`: the same but for two neighbours that have changed places.
bool swaps_two_neighbours(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  const auto at = std::ranges::mismatch(a, b);
  const std::string_view from_a(at.in1, a.end());
  const std::string_view from_b(at.in2, b.end());
  return from_a.size() >= 2 && from_a[0] == from_b[1] && from_a[1] == from_b[0] &&
         from_a.substr(2) == from_b.substr(2);
}

}  // namespace

std::string to_lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::optional<std::size_t> invalid_utf8_at(std::string_view text) {
  std::size_t position = skip_ascii_blocks(text, 0);
  while (position < text.size()) {
    if (static_cast<unsigned char>(text[position]) < 0x80) {
      ++position;
      continue;
    }
    const auto length = utf8_length(text.substr(position));
    if (length == 0) return position;
    position = skip_ascii_blocks(text, position + length);
  }
  return std::nullopt;
}

std::string to_valid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto length = utf8_length(text);
    result += length == 0 ? replacement : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t longest = 256;  // What takes time by its square; nobody slips in a word so long.
  // One letter more than none is one slip, and no likeness.
  if (word.empty() || word.size() > longest) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const auto candidate : candidates) {
    // One slip, though the distance counts two, which is one too many for a word of four letters.
    if (swaps_two_neighbours(word, candidate)) return std::string(candidate);
    // The distance is no less than what the lengths differ by.
    const auto [shorter, longer] = std::minmax({word.size(), candidate.size()});
    if (longer - shorter >= best_distance) continue;
    const auto distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  const auto candidate = nearest(word, candidates);
  return candidate ? "; did you mean \"" + *candidate + "\"?" : std::string();
}

std::string_view clause_separator(std::string_view words) {
  return words.ends_with('.') || words.ends_with('?') || words.ends_with('!') ? " " : "; ";
}

std::vector<std::string> comma_parts(std::string_view list) {
  constexpr std::string_view blanks = " \t";
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view part = list.substr(begin, end - begin);
    const std::size_t first = std::min(part.find_first_not_of(blanks), part.size());
    parts.emplace_back(part.substr(first, part.find_last_not_of(blanks) + 1 - first));
    begin = end + 1;
  }
  return parts;
}

std::string shortest(double value) {
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return error == std::errc() ? std::string(buffer.data(), end) : std::string();
}

std::string in_digits(double value) {
  std::array<char, 400> buffer{};  // 1e308 has 309 digits, and 5e-324 has 324 behind its point.
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  return error == std::errc() ? std::string(buffer.data(), end) : std::string();
}

namespace {

/// The length of the character that is no part of a line, or is white space, there; 0 for any other.
std::size_t gap_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  if (byte(0) <= 0x20 || byte(0) == 0x7f) return 1;
  if (byte(0) == 0xc2) return byte(1) >= 0x80 && byte(1) < 0xa0 ? 2 : 0;  // U+0080..U+009F
  if (byte(0) == 0xd8) return byte(1) == 0x9c ? 2 : 0;                    // U+061C
  if (byte(0) != 0xe2) return 0;
  // U+200E, U+200F, U+2028..U+202E, U+2066..U+2069
  const bool in_80 =
      byte(1) == 0x80 && (byte(2) == 0x8e || byte(2) == 0x8f || (byte(2) >= 0xa8 && byte(2) <= 0xae));
  const bool in_81 = byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;
  return in_80 || in_81 ? 3 : 0;
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t gap = gap_at(text, at);
    if (gap == 0) {
      line += text[at++];
    } else {
      at += gap;
      if (!line.empty() && line.back() != ' ') line += ' ';
    }
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string with_unix_line_ends(std::string text) {
  auto read = text.find("\r\n");
  if (read == std::string::npos) return text;
  std::size_t written = read;
  for (; read < text.size(); ++read) {
    if (text[read] == '\r' && read + 1 < text.size() && text[read + 1] == '\n') continue;
    text[written++] = text[read];
  }
  text.resize(written);
  return text;
}

bool is_plain_ascii(std::string_view text) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  // One more than DEL has the high bit; 0xff, which carries into the next byte, has it already.
  std::uint64_t found = 0;
  std::size_t at = 0;
  for (; at + sizeof found <= text.size(); at += sizeof found) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data() + at, sizeof eight);
    found |= eight | (eight + ones);
  }
  for (; at < text.size(); ++at) {
    const auto one = static_cast<unsigned char>(text[at]);
    found |= one | (one + 1u);
  }
  return (found & 0x80 * ones) == 0;
}

bool is_plain_json(std::string_view text) {
  return skip_plain(text, 0) == text.size() && text.find('\x7f') == std::string_view::npos;
}

void append_json_string(std::string& out, std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  out.reserve(out.size() + text.size() + 2);
  out.push_back('"');
  std::size_t plain_from = 0;
  const auto flush = [&](std::size_t to) { out.append(text, plain_from, to - plain_from); };
  for (std::size_t i = skip_plain(text, 0); i < text.size(); i = skip_plain(text, i)) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x80) {
      const auto length = utf8_length(text.substr(i));
      if (length > 0) {
        i += length;
        continue;
      }
      flush(i);
      out += replacement;
    } else {
      flush(i);
      if (const auto escape = short_escape(c); !escape.empty()) {
        out += escape;
      } else {
        out += "\\u00";
        out.push_back(hex[c >> 4]);
        out.push_back(hex[c & 15]);
      }
    }
    plain_from = ++i;
  }
  flush(text.size());
  out.push_back('"');
}

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string_view beginning(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes;
  while (end > 0 && continues_utf8(text[end])) --end;
  return text.substr(0, end);
}

std::string excerpt(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  return std::string(beginning(text, max_bytes)) + "...";
}

}  // namespace sluice
