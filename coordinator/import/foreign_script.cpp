#include "coordinator/import/foreign_script.hpp"

#include "common/text/any_case.hpp"

#include <utility>
#include <vector>

namespace sluice {
namespace {

/// One call; the text that it asks for is its only value.
std::optional<ForeignCheck> check_of_call(std::string_view call, std::uint32_t line) {
  ForeignCheck check;
  check.line = line;
  check.is_negated = take_start(call, "!");
  if (!take_start(call, "output")) return std::nullopt;
  const bool any_case = take_start(call, ".toLowerCase()");
  check.type = any_case ? "icontains" : "contains";
  if (!take_start(call, ".includes(")) {
    if (any_case || !take_start(call, ".startsWith(")) return std::nullopt;
    check.type = "starts-with";
  }
  if (call.size() < 4 || !call.ends_with(')')) return std::nullopt;
  call = trimmed_script(call.substr(0, call.size() - 1));
  const char quote = call.front();
  const std::string_view value = call.size() > 2 ? call.substr(1, call.size() - 2) : std::string_view();
  const bool is_literal = (quote == '\'' || quote == '"') && call.back() == quote && !value.empty() &&
                          value.find(quote) == std::string_view::npos &&
                          value.find('\\') == std::string_view::npos;
  if (!is_literal) return std::nullopt;
  // Lower-cased text holds no capitals: the call is false for each answer.
  if (const auto small = in_small_letters(value); any_case && (!small || *small != value))
    return std::nullopt;
  check.values.emplace_back(value);
  return check;
}

std::vector<std::string_view> parts_of(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (auto at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.push_back(text);
  return parts;
}

}  // namespace

std::string_view trimmed_script(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n;";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

bool take_start(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

std::optional<ForeignCheck> check_of_script(std::string_view script, std::uint32_t line) {
  script = trimmed_script(script);
  if (take_start(script, "return ")) script = trimmed_script(script);
  const bool has_or = script.find("||") != std::string_view::npos;
  if (has_or && script.find("&&") != std::string_view::npos) return std::nullopt;
  std::optional<ForeignCheck> all;
  const auto parts = parts_of(script, has_or ? "||" : "&&");
  for (const std::string_view part : parts) {
    auto one = check_of_call(trimmed_script(part), line);
    if (!one) return std::nullopt;
    if (parts.size() == 1) return one;
    const bool fits = !one->is_negated && one->type != "starts-with" && (!all || all->type == one->type);
    if (!fits) return std::nullopt;
    if (all) {
      all->values.push_back(std::move(one->values.front()));
    } else {
      all = std::move(one);
    }
  }
  all->type += has_or ? "-any" : "-all";
  return all;
}

}  // namespace sluice
