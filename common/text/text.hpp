#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// The byte goes on with a UTF-8 character that began before it.
constexpr bool continues_utf8(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}
/// 0 to 9, whatever the locale.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
/// a to z and A to Z, whatever the locale.
constexpr bool is_ascii_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
/// The text with A to Z as a to z, whatever the locale.
std::string to_lower(std::string_view text);
/// Offset of the first byte that is not valid UTF-8 (no overlong forms, no surrogates); nothing if all is
/// well.
std::optional<std::size_t> invalid_utf8_at(std::string_view text);
/// The text with every invalid byte replaced by U+FFFD: for messages that quote foreign bytes.
std::string to_valid_utf8(std::string_view text);
/// Levenshtein distance in bytes.
std::size_t edit_distance(std::string_view a, std::string_view b);
/// The candidate nearest to the word if it is near enough to be a slip of the hand (a third of its length).
/// None for more than 256 bytes.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string_view> candidates);
/// `; did you mean "x"?` for the nearest candidate, else "". It is a message's last part: a question ends
/// one.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);
/// What parts these words from those that follow them: `; `, or a blank where they end a sentence themselves.
std::string_view clause_separator(std::string_view words);
/// The parts of a list with commas between them, without the blanks around each; a part may be empty.
std::vector<std::string> comma_parts(std::string_view list);
/// Shortest decimal form that reads back as the same double; "1" for 1.0. The value must be finite.
std::string shortest(double value);
/// The same never with an exponent: 4000000000000000 where `shortest` says 4e+15.
std::string in_digits(double value);
/// Foreign text as one line without control characters (C1 as well: terminals obey both), line separators and
/// those that turn the direction of writing: these, and runs of white space, become one space each; none
/// stands at the ends. REQUIRES: valid UTF-8.
std::string one_line(std::string_view text);
/// The text with every CR LF as LF.
std::string with_unix_line_ends(std::string text);
/// The text without the mark that some editors put before UTF-8.
constexpr std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  return text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text;
}
/// True if the text has no byte beyond ASCII, and no DEL.
bool is_plain_ascii(std::string_view text);
/// True if the text is printable ASCII without quotes and backslashes: JSON has it as it is.
bool is_plain_json(std::string_view text);
/// The text as a quoted JSON string, appended to `out`. Invalid UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);
std::string json_string(std::string_view text);
/// The first `max_bytes` bytes at most, cut between characters.
std::string_view beginning(std::string_view text, std::size_t max_bytes);
/// The same with "..." behind it if anything was cut.
std::string excerpt(std::string_view text, std::size_t max_bytes);

}  // namespace sluice
