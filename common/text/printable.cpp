#include "common/text/printable.hpp"

#include "common/text/text.hpp"

namespace sluice {
namespace {

constexpr std::string_view replacement_character = "\xef\xbf\xbd";

bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

bool is_between(char32_t code, char32_t first, char32_t last) {
  return code >= first && code <= last;
}

/// What picks a form of the character before it.
bool is_selector(char32_t code) {
  return is_between(code, 0xfe00, 0xfe0f) || is_between(code, 0xe0100, 0xe01ef) ||
         is_between(code, 0x180b, 0x180d) || code == 0x180f;
}

/// A character that takes no room, so that two texts look the same which are not. Of joiners only where they
/// join nothing: scripts from Arabic to those of India, and emoji, are written with them; of tags those that
/// do not stand behind a black flag, whose region they name; of selectors those behind what has one form
/// (any number of them can hide a text).
bool is_unseen(char32_t code, char32_t before) {
  const auto is_tag = [](char32_t one) { return is_between(one, 0xe0000, 0xe007f); };
  const bool is_joined = is_between(before, 0x600, 0x1fff) || is_between(before, 0x2190, 0x2bff) ||
                         before == 0xfe0f || is_between(before, 0x1f000, 0x1faff);
  if (is_between(code, 0x200c, 0x200d)) return !is_joined;
  if (is_tag(code)) return before != 0x1f3f4 && !is_tag(before);
  if (is_selector(code)) {
    const bool is_of_keycap = is_between(before, '0', '9') || before == '#' || before == '*';
    return is_selector(before) || (before < 0x80 && !is_of_keycap);
  }
  return code == 0xad || code == 0x34f || is_between(code, 0x115f, 0x1160) ||
         is_between(code, 0x17b4, 0x17b5) || code == 0x180e || code == 0x200b ||
         is_between(code, 0x2060, 0x2065) || is_between(code, 0x206a, 0x206f) || code == 0x3164 ||
         code == 0xfeff || code == 0xffa0 || is_between(code, 0xfff0, 0xfffb) ||
         is_between(code, 0x1bca0, 0x1bca3) || is_between(code, 0x1d173, 0x1d17a) || turns_direction(code);
}

}  // namespace

Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  std::size_t length = 1;
  if (lead >= 0xf0 && lead < 0xf8) {
    length = 4;
  } else if (lead >= 0xe0) {
    length = 3;
  } else if (lead >= 0xc0) {
    length = 2;
  }
  if (lead < 0x80 || lead >= 0xf8 || length > text.size() || length == 1) return {text.substr(0, 1), lead};
  char32_t code = lead & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
  return {text.substr(0, length), code};
}

bool turns_direction(char32_t code) {
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0x200e ||
         code == 0x200f || code == 0x61c || code == 0x2028 || code == 0x2029;
}

bool has_direction_controls(std::string_view text) {
  // All of them begin with one of these bytes, which most texts lack.
  for (auto at = text.find_first_of("\xe2\xd8"); at != std::string_view::npos;
       at = text.find_first_of("\xe2\xd8", at + 1)) {
    if (turns_direction(first_character(text.substr(at)).code)) return true;
  }
  return false;
}

std::string without_direction_controls(std::string_view text) {
  if (!has_direction_controls(text)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_character(text);
    text.remove_prefix(next.bytes.size());
    out += turns_direction(next.code) ? replacement_character : next.bytes;
  }
  return out;
}

std::string without_unseen(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char32_t before = 0; !text.empty();) {
    const Character next = first_character(text);
    text.remove_prefix(next.bytes.size());
    out += is_unseen(next.code, before) ? replacement_character : next.bytes;
    before = next.code;
  }
  return out;
}

std::string without_controls(std::string_view text) {
  const std::string valid = to_valid_utf8(text);
  std::string out;
  out.reserve(valid.size());
  for (std::string_view rest = valid; !rest.empty();) {
    const Character next = first_character(rest);
    rest.remove_prefix(next.bytes.size());
    const bool is_kept = next.code == '\n' || next.code == '\t' || next.code == '\r';
    out += is_control(next.code) && !is_kept ? replacement_character : next.bytes;
  }
  return out;
}

std::string printable(std::string_view text) {
  const std::string seen = without_unseen(to_valid_utf8(text));
  std::string out;
  out.reserve(seen.size());
  for (std::string_view rest = seen; !rest.empty();) {
    const Character next = first_character(rest);
    rest.remove_prefix(next.bytes.size());
    if (next.code == '\n' || next.code == '\t' || next.code == '\r') {
      out += ' ';
    } else if (is_control(next.code)) {
      out += replacement_character;
    } else {
      out += next.bytes;
    }
  }
  return out;
}

std::string log_text(std::string_view text) {
  const std::string shown = printable(text);
  std::string out;
  out.reserve(shown.size());
  for (const char c : shown) {
    if (c == '#' && out.ends_with('#')) out += ' ';
    out += c;
  }
  return out;
}

}  // namespace sluice
