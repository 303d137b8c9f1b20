#include "common/checks/pattern.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include <re2/re2.h>

namespace sluice {
namespace {

/// The number that four hexadecimal digits at the text's beginning write.
std::optional<std::uint32_t> four_digits(std::string_view text) {
  std::uint32_t number = 0;
  const char* const end = text.data() + std::min<std::size_t>(text.size(), 4);
  const auto read = std::from_chars(text.data(), end, number, 16);
  return text.size() >= 4 && read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

bool is_half(std::uint32_t number, std::uint32_t first) {
  return number >= first && number < first + 0x400;
}

/// Takes `\u00e9`, or the two halves that `\ud83d\ude00` is, off the pattern's beginning, and returns it as
/// `\x{e9}`; empty where no character stands there.
std::string take_character(std::string_view& pattern) {
  constexpr std::string_view start = "\\u";
  constexpr std::size_t size = 6;
  if (!pattern.starts_with(start)) return "";
  auto number = four_digits(pattern.substr(start.size()));
  if (!number || is_half(*number, 0xdc00)) return "";
  std::size_t taken = size;
  if (is_half(*number, 0xd800)) {
    const std::string_view rest = pattern.substr(size);
    const auto second = rest.starts_with(start) ? four_digits(rest.substr(start.size())) : std::nullopt;
    if (!second || !is_half(*second, 0xdc00)) return "";
    number = 0x10000 + ((*number - 0xd800) << 10) + (*second - 0xdc00);
    taken += size;
  }
  pattern.remove_prefix(taken);
  std::array<char, 8> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), *number, 16).ptr;
  return "\\x{" + std::string(digits.data(), end) + '}';
}

/// What other languages write otherwise than RE2: `(?P<name>` for their `(?<name>`, which is no look-behind,
/// `\x{e9}` for `\u00e9` and `\u{e9}`.
std::string as_re2(std::string_view pattern) {
  constexpr std::string_view group = "(?<";
  std::string result;
  bool is_in_class = false;
  while (!pattern.empty()) {
    const char next = pattern.size() > group.size() ? pattern[group.size()] : '\0';
    const bool is_group =
        !is_in_class && pattern.starts_with(group) && next != '\0' && next != '=' && next != '!';
    std::string written = is_group ? "(?P<" : take_character(pattern);
    if (is_group) {
      pattern.remove_prefix(group.size());
    } else if (written.empty()) {
      if (pattern.starts_with('[')) is_in_class = true;
      if (pattern.starts_with(']')) is_in_class = false;
      const std::size_t taken = pattern.starts_with('\\') && pattern.size() > 1 ? 2 : 1;
      written = pattern.starts_with("\\u{") ? "\\x" : std::string(pattern.substr(0, taken));
      pattern.remove_prefix(taken);
    }
    result += written;
  }
  return result;
}

std::shared_ptr<const re2::RE2> made_by_re2(std::string_view pattern) {
  re2::RE2::Options options;
  options.set_max_mem(defaults::max_pattern_memory);
  options.set_log_errors(false);
  return std::make_shared<const re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
}

/// What people mean who write what RE2 does not take.
std::string_view advice_on(const re2::RE2& pattern) {
  switch (pattern.error_code()) {
    case re2::RE2::ErrorBadPerlOp:
    case re2::RE2::ErrorBadEscape: {
      constexpr std::array<std::string_view, 4> groups{"(?=", "(?!", "(?<", "(?P"};
      const std::string& what = pattern.error_arg();
      const bool is_reference = what.size() == 2 && what[0] == '\\' && (is_digit(what[1]) || what[1] == 'k');
      if (what == "\\u") return "; a character is written by its number as \\x{e9}";
      if (!is_reference && std::ranges::find(groups, what) == groups.end()) return "";
      return "; there are no look-arounds and no back-references: a pattern that must not be found is a "
             "check of its own, regex_not_match";
    }
    case re2::RE2::ErrorMissingBracket:
    case re2::RE2::ErrorMissingParen:
    case re2::RE2::ErrorUnexpectedParen:
    case re2::RE2::ErrorRepeatArgument:
      return "; a sign that stands for itself has a backslash before it";
    default:
      return "";
  }
}

}  // namespace

Result<Pattern> Pattern::compile(std::string_view pattern) {
  auto made = made_by_re2(pattern);
  if (!made->ok()) {
    // Only then: what RE2 takes may mean something else in other languages.
    if (const std::string other = as_re2(pattern); other != pattern) made = made_by_re2(other);
  }
  if (!made->ok()) {
    return fail(Reason::fixture_invalid,
                "the pattern " + json_string(excerpt(pattern, 100)) + " is no regular expression of RE2: " +
                    excerpt(to_valid_utf8(made->error()), 150) + std::string(advice_on(*made)));
  }
  return Pattern(std::move(made));
}

std::optional<std::string_view> Pattern::find(std::string_view text) const {
  const re2::StringPiece whole(text.data(), text.size());
  re2::StringPiece found;
  if (!compiled_->Match(whole, 0, text.size(), re2::RE2::UNANCHORED, &found, 1)) return std::nullopt;
  return text.substr(static_cast<std::size_t>(found.data() - text.data()), found.size());
}

}  // namespace sluice
