#include "common/checks/key_mask.hpp"

#include "common/defaults.hpp"
#include "common/model/claim.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace sluice {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

bool is_letter(char c) {
  return lower(c) >= 'a' && lower(c) <= 'z';
}

/// A key that is none: an answer may use the word.
bool is_word(std::string_view key) {
  const auto of_word = [](char c) { return is_letter(c) || c == '-' || c == '_' || c == '.'; };
  return key.size() <= defaults::longest_word_for_a_key &&
         (std::ranges::all_of(key, of_word) || number_word(key));
}

/// The Base64 alphabet has two forms for its last two characters.
char standard_base64(char c) {
  if (c == '-') return '+';
  return c == '_' ? '/' : c;
}

std::optional<unsigned> hex_digits(std::string_view digits) {
  unsigned value = 0;
  for (const char c : digits) {
    const char digit = lower(c);
    const bool decimal = digit >= '0' && digit <= '9';
    if (!decimal && (digit < 'a' || digit > 'f')) return std::nullopt;
    value = value * 16 + static_cast<unsigned>(decimal ? digit - '0' : digit - 'a' + 10);
  }
  return value;
}

/// The characters of the key's Base64 that depend on nothing but the key, if it begins `offset` bytes after a
/// group of three.
std::string base64_core(std::string_view key, std::size_t offset) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::size_t first_bit = offset * 8;
  const std::size_t end_bit = first_bit + key.size() * 8;
  std::string core;
  for (std::size_t bit = (first_bit + 5) / 6 * 6; bit + 6 <= end_bit; bit += 6) {
    unsigned value = 0;
    for (std::size_t i = bit - first_bit; i < bit - first_bit + 6; ++i) {
      const auto byte = static_cast<std::uint8_t>(key[i / 8]);
      value = value * 2 + (byte >> (7 - i % 8) & 1u);
    }
    core += alphabet[value];
  }
  return core;
}

std::size_t end_of_backslashes(std::string_view text, std::size_t at) {
  const std::string_view near = text.substr(at, defaults::max_backslashes);
  return at + std::min(near.find_first_not_of('\\'), near.size());
}

/// A character of the text, decoded, and where the next one begins.
struct Unit {
  char value = 0;
  std::size_t end = 0;
};

std::optional<Unit> percent_encoded(std::string_view text, std::size_t at) {
  if (text[at] != '%' || text.size() - at < 3) return std::nullopt;
  const auto value = hex_digits(text.substr(at + 1, 2));
  if (!value) return std::nullopt;
  return Unit{static_cast<char>(*value), at + 3};
}

/// As JSON escapes it, however deep one document lies in another.
std::optional<Unit> escaped(std::string_view text, std::size_t at) {
  if (text[at] != '\\') return std::nullopt;
  const std::size_t letter = end_of_backslashes(text, at);
  if (letter == text.size()) return std::nullopt;
  const bool is_alphanumeric = is_letter(text[letter]) || (text[letter] >= '0' && text[letter] <= '9');
  if (!is_alphanumeric) return Unit{text[letter], letter + 1};
  if (text[letter] != 'u' || text.size() - letter < 5) return std::nullopt;
  const auto value = hex_digits(text.substr(letter + 1, 4));
  if (!value || *value > 0x7f) return std::nullopt;
  return Unit{static_cast<char>(*value), letter + 5};
}

std::optional<std::size_t> end_of_line_end(std::string_view text, std::size_t at) {
  if (text[at] == '\n' || text[at] == '\r') return at + 1;
  if (text[at] == '\\') {
    const std::size_t letter = end_of_backslashes(text, at);
    constexpr std::string_view letters = "nr\n\r";
    if (letter < text.size() && letters.find(text[letter]) != std::string_view::npos) return letter + 1;
  }
  if (const auto unit = percent_encoded(text, at); unit && (unit->value == '\n' || unit->value == '\r')) {
    return unit->end;
  }
  return std::nullopt;
}

/// Behind the line ends that stand here, and the blanks behind them, but not far; nothing if there is no line
/// end.
std::optional<std::size_t> end_of_break(std::string_view text, std::size_t at) {
  auto end = end_of_line_end(text, at);
  if (!end) return std::nullopt;
  while (*end < text.size() && *end - at < defaults::max_break_bytes) {
    if (text[*end] == ' ' || text[*end] == '\t') {
      ++*end;
    } else if (const auto next = end_of_line_end(text, *end)) {
      end = next;
    } else {
      break;
    }
  }
  return end;
}

/// Where the mask of a key that begins there begins: before the backslashes that would make an escape of its
/// first letter, for "\[" is none in JSON.
std::size_t begin_of_escape(std::string_view text, std::size_t at) {
  constexpr std::string_view letters = "bfnrtu";
  if (letters.find(text[at]) == std::string_view::npos) return at;
  while (at > 0 && text[at - 1] == '\\') --at;
  return at;
}

}  // namespace

std::string usable_key(std::string_view key) {
  std::string clean;
  clean.reserve(key.size());
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) clean += c;
  }
  const auto begin = std::min(clean.find_first_not_of(' '), clean.size());
  return clean.substr(begin, clean.find_last_not_of(' ') + 1 - begin);
}

KeyMask::KeyMask(std::span<const std::string> keys, Keys which) {
  for (const auto& key : keys) add(key, which);
}

KeyMask::KeyMask(std::string_view key, Keys which) {
  add(key, which);
}

void KeyMask::add(std::string_view key, Keys which) {
  const std::string clean = usable_key(key);
  if (clean.size() <
      (which == Keys::all ? defaults::shortest_key_in_messages : defaults::shortest_key_in_answers))
    return;
  if (which == Keys::unmistakable && is_word(clean)) return;
  forms_.push_back({clean, false});
  for (std::size_t offset = 0; offset < 3; ++offset) forms_.push_back({base64_core(clean, offset), true});
  for (auto form = forms_.end() - 4; form != forms_.end(); ++form) note_beginning(*form);
}

void KeyMask::note_beginning(const Form& form) {
  const auto note = [&form](std::array<bool, 256>& bytes, char c) {
    const auto set = [&bytes](char one) { bytes[static_cast<unsigned char>(one)] = true; };
    set(c);
    if (!form.base64) set(lower(c)), set(upper(c));
    if (form.base64 && c == '+') set('-');
    if (form.base64 && c == '/') set('_');
    set('%');
    set('\\');
  };
  note(may_begin_, form.text[0]);
  note(may_follow_, form.text[1]);
  // The rest of an encoded first character, or a line end.
  for (const char c : std::string_view("0123456789abcdefABCDEFu\r\n")) {
    may_follow_[static_cast<unsigned char>(c)] = true;
  }
  may_follow_[static_cast<unsigned char>(form.text[0])] = true;
}

std::optional<std::size_t> KeyMask::end_of_key(std::string_view text, std::size_t begin) const {
  std::optional<std::size_t> end;
  for (const Form& form : forms_) {
    const auto fits = [&](char c, char wanted) {
      return form.base64 ? standard_base64(c) == wanted : lower(c) == lower(wanted);
    };
    const auto end_of = [&](std::size_t at, char wanted) -> std::optional<std::size_t> {
      if (at >= text.size()) return std::nullopt;
      if (fits(text[at], wanted)) return at + 1;
      if (const auto unit = percent_encoded(text, at); unit && fits(unit->value, wanted)) return unit->end;
      if (const auto unit = escaped(text, at); unit && fits(unit->value, wanted)) return unit->end;
      return std::nullopt;
    };
    auto at = end_of(begin, form.text.front());
    for (std::size_t i = 1; at && i < form.text.size(); ++i) {
      auto next = end_of(*at, form.text[i]);
      if (!next && *at < text.size()) {
        if (const auto behind = end_of_break(text, *at)) next = end_of(*behind, form.text[i]);
      }
      at = next;
    }
    end = std::max(end, at);  // One key may begin another.
  }
  return end;
}

std::optional<std::string> KeyMask::masked(std::string_view text) const {
  if (forms_.empty()) return std::nullopt;
  std::optional<std::string> clean;
  std::size_t copied = 0;
  for (std::size_t at = 0; at + 1 < text.size();) {
    const bool may_begin = may_begin_[static_cast<unsigned char>(text[at])] &&
                           may_follow_[static_cast<unsigned char>(text[at + 1])];
    const auto end = may_begin ? end_of_key(text, at) : std::nullopt;
    if (!end) {
      ++at;
      continue;
    }
    if (!clean) clean.emplace();
    const std::size_t begin = std::max(copied, begin_of_escape(text, at));
    clean->append(text, copied, begin - copied).append(masked_key);
    at = copied = *end;
  }
  if (clean) clean->append(text, copied);
  return clean;
}

bool KeyMask::apply(std::string& text) const {
  auto clean = masked(text);
  if (clean) text = std::move(*clean);
  return clean.has_value();
}

}  // namespace sluice
