#include "coordinator/gate/quoted.hpp"

#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"

#include <algorithm>
#include <bit>

namespace sluice {

std::string escaped_excerpt(std::string_view text) {
  std::string escaped;
  append_json_string(escaped, text.substr(0, 2 * defaults::quoted_baseline_bytes));
  return excerpt(std::string_view(escaped).substr(1, escaped.size() - 2), defaults::quoted_baseline_bytes);
}

std::string backquoted(std::string_view text) {
  return "`" + escaped_excerpt(text) + "`";
}

std::string shell_word(const std::string& text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:@%+=,").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::size_t behind_text(std::string_view token) {
  if (!token.starts_with('"')) return 0;
  for (std::size_t i = 1; i < token.size(); ++i) {
    if (token[i] == '\\') {
      ++i;
    } else if (token[i] == '"') {
      return i + 1 < token.size() ? i + 1 : 0;
    }
  }
  return 0;
}

bool stops_in_character(std::string_view token) {
  if (token.starts_with('"') && behind_text(token) == 0) return false;
  constexpr std::ptrdiff_t most_continuations = 3;
  const auto end = token.rbegin() + std::min(most_continuations, std::ssize(token));
  const auto lead = std::find_if_not(token.rbegin(), end, continues_utf8);
  if (lead == end) return false;
  const auto first_byte = static_cast<unsigned char>(*lead);
  const bool begins_character = first_byte >= 0xc2 && first_byte <= 0xf4;  // One of several bytes.
  return begins_character && lead - token.rbegin() + 1 < std::countl_one(first_byte);
}

std::string_view end_of(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  text.remove_prefix(text.size() - most_bytes);
  const auto begin = std::ranges::find_if_not(text, continues_utf8);
  return begin == text.end() ? text : text.substr(static_cast<std::size_t>(begin - text.begin()));
}

}  // namespace sluice
