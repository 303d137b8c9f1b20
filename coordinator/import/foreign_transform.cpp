#include "coordinator/import/foreign_transform.hpp"

#include "common/text/any_case.hpp"
#include "common/text/text.hpp"
#include "coordinator/import/foreign_script.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice {
namespace {

bool is_letter_of_name(char c) {
  return is_ascii_letter(c) || is_digit(c) || c == '_' || c == '$';
}

/// The name in `.name`, `['name']` or `["name"]`, which is taken off.
std::optional<std::string> take_member(std::string_view& text) {
  if (take_start(text, ".")) {
    const auto end = std::ranges::find_if_not(text, is_letter_of_name);
    std::string name(text.begin(), end);
    // A list and a text have a length that JSON does not name.
    if (name.empty() || is_digit(name.front()) || name == "length") return std::nullopt;
    text.remove_prefix(name.size());
    return name;
  }
  if (!text.starts_with("['") && !text.starts_with("[\"")) return std::nullopt;
  const char quote = text[1];
  const auto end = text.find(quote, 2);
  if (end == std::string_view::npos || text.substr(end + 1, 1) != "]") return std::nullopt;
  std::string name(text.substr(2, end - 2));
  if (name.empty() || name.find('\\') != std::string::npos || name.find("{{") != std::string::npos)
    return std::nullopt;
  text.remove_prefix(end + 2);
  return name;
}

std::optional<ForeignTransform> read_path(std::string_view text) {
  ForeignTransform transform;
  while (!text.empty()) {
    auto name = take_member(text);
    if (!name) return std::nullopt;
    transform.path.push_back(std::move(*name));
  }
  return transform.path.empty() ? std::nullopt : std::optional(std::move(transform));
}

bool is_literal(const std::string& value) {
  return value.find("{{") == std::string::npos;
}

/// Lower-cased text holds no capitals: with one in the value the check is false for each answer.
bool is_in_small_letters(const std::string& value) {
  const auto small = in_small_letters(value);
  return is_literal(value) && small && *small == value;
}

/// A pattern for the value in any case, from the beginning of the answer.
std::string pattern_of(const std::string& value, bool to_the_end) {
  constexpr std::string_view special = R"(\.+*?()|[]{}^$)";
  std::string pattern = "(?i)^";
  for (const char c : value) {
    if (special.find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return to_the_end ? pattern + "$" : pattern;
}

std::optional<ForeignCheck> in_any_case(ForeignCheck check) {
  constexpr std::array<std::string_view, 5> without_case{"icontains", "icontains-all", "icontains-any",
                                                         "word-count", "is-refusal"};
  if (std::ranges::find(without_case, check.type) != without_case.end()) return check;
  if (check.schema || check.values.empty() || !std::ranges::all_of(check.values, is_in_small_letters))
    return std::nullopt;
  if (check.type.starts_with("contains") && check.type != "contains-json") {
    check.type.insert(0, "i");
    return check;
  }
  if (check.values.size() != 1) return std::nullopt;
  const bool is_whole = check.type == "equals";
  std::string& value = check.values.front();
  if (!is_whole && check.type != "starts-with") return std::nullopt;
  check.type = "regex";
  value = pattern_of(value, is_whole);
  return check;
}

/// The values that are this text, or shown as it.
DocumentNode::Array values_shown_as(const std::string& text, std::uint32_t line) {
  DocumentNode::Array values{{text, line, {}}};
  if (text == "true" || text == "false") values.push_back({text == "true", line, {}});
  const auto number = foreign_number(text);
  if (number && *number == static_cast<double>(static_cast<std::int64_t>(*number)) &&
      std::to_string(static_cast<std::int64_t>(*number)) == text)
    values.push_back({static_cast<std::int64_t>(*number), line, {}});
  return values;
}

/// A schema of objects within each other, the innermost with the value.
std::optional<ForeignCheck> at_path(ForeignCheck check, const std::vector<std::string>& path) {
  if (check.type != "equals" || check.is_negated || check.schema || check.values.size() != 1)
    return std::nullopt;
  const std::uint32_t line = check.line;
  const std::string& value = check.values.front();
  // A list or a mapping is shown as its JSON, and a number with a fraction in more than one way.
  const auto number = foreign_number(value);
  const bool is_fraction = number && value.find_first_of(".eE") != std::string::npos;
  if (!is_literal(value) || value.starts_with('{') || value.starts_with('[') || is_fraction)
    return std::nullopt;
  const auto text = [&](std::string_view what) { return DocumentNode{std::string(what), line, {}}; };
  DocumentNode schema{
      DocumentNode::Table{{"enum", line, {values_shown_as(value, line), line, {}}}}, line, {}};
  for (auto name = path.rbegin(); name != path.rend(); ++name) {
    DocumentNode members{DocumentNode::Table{{*name, line, std::move(schema)}}, line, {}};
    schema = {DocumentNode::Table{{"type", line, text("object")},
                                  {"required", line, {DocumentNode::Array{text(*name)}, line, {}}},
                                  {"properties", line, std::move(members)}},
              line,
              {}};
  }
  check.type = "is-json";
  check.values.clear();
  check.schema = std::move(schema);
  return check;
}

}  // namespace

std::optional<ForeignTransform> read_transform(std::string_view script) {
  script = trimmed_script(script);
  if (take_start(script, "JSON.parse(output)")) return read_path(script);
  if (!take_start(script, "output") || script.empty()) return std::nullopt;
  ForeignTransform transform;
  while (!script.empty()) {
    const bool trims = take_start(script, ".trim()");
    const bool lowers = !trims && take_start(script, ".toLowerCase()");
    if (!trims && !lowers) return std::nullopt;
    transform.trims = transform.trims || trims;
    transform.lowers = transform.lowers || lowers;
  }
  return transform;
}

bool keeps_answer(const DocumentNode& transform) {
  const auto* script = std::get_if<std::string>(&transform.value);
  return std::holds_alternative<DocumentNull>(transform.value) || (script != nullptr && script->empty());
}

bool only_trims(const DocumentNode& transform) {
  const auto* script = std::get_if<std::string>(&transform.value);
  const auto read = script != nullptr ? read_transform(*script) : std::nullopt;
  return read && !read->lowers && read->path.empty();
}

std::optional<ForeignCheck> check_of_answer(ForeignCheck check, const ForeignTransform& transform) {
  if (!transform.path.empty()) return at_path(std::move(check), transform.path);
  return transform.lowers ? in_any_case(std::move(check)) : std::optional(std::move(check));
}

}  // namespace sluice
