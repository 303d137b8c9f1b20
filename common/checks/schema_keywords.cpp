#include "common/checks/schema_keywords.hpp"

#include "common/text/joined.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using Json = nlohmann::json;
using Holds = SchemaHolds;

/// Those by which a value can fail.
constexpr std::array<SchemaKeyword, 36> keywords = {{
    {"$ref"},
    {"additionalItems", Holds::schema},
    {"additionalProperties", Holds::schema},
    {"allOf", Holds::list, true},
    {"anyOf", Holds::list, true},
    {"const"},
    {"contains", Holds::schema},
    {"definitions", Holds::by_name},
    {"dependencies", Holds::by_name, true},
    {"else", Holds::schema, true},
    {"enum", Holds::values},
    {"exclusiveMaximum", Holds::number},
    {"exclusiveMinimum", Holds::number},
    {"extends", Holds::schema, true},
    {"format", Holds::text},
    {"if", Holds::schema, true},
    {"items", Holds::schema_or_list},
    {"maxItems", Holds::count},
    {"maxLength", Holds::count},
    {"maxProperties", Holds::count},
    {"maximum", Holds::number},
    {"minItems", Holds::count},
    {"minLength", Holds::count},
    {"minProperties", Holds::count},
    {"minimum", Holds::number},
    {"multipleOf", Holds::divisor},
    {"not", Holds::schema, true},
    {"oneOf", Holds::list, true},
    {"pattern", Holds::text},
    {"properties", Holds::by_name},
    {"propertyNames", Holds::schema},
    {"required", Holds::texts},
    {"then", Holds::schema, true},
    {"type", Holds::types},
    {"uniqueItems", Holds::boolean},
    {"$defs", Holds::by_name},
}};

/// An older draft's: a slip is not taken for it.
constexpr std::string_view old_keyword = "extends";

/// Words of other tools and of people that are near to one.
constexpr std::array<std::string_view, 2> annotations = {"cost", "requires"};

/// Without what tells `max_length` and `maxLength` apart.
std::string bare(std::string_view keyword) {
  std::string letters = to_lower(keyword);
  std::erase_if(letters, [](char c) { return c == '_' || c == '-'; });
  return letters;
}

/// One slip where the word is long enough that no other is meant, two in the longest. Two letters that
/// changed places are one.
bool is_slip(const std::string& word, const std::string& known) {
  if (known.size() < 5) return false;
  const std::size_t slips = edit_distance(word, known);
  return slips <= (known.size() < 10 ? 1 : 2) || (slips == 2 && std::ranges::is_permutation(word, known));
}

constexpr std::array<std::string_view, 7> type_names = {"array",  "boolean", "integer", "null",
                                                        "number", "object",  "string"};

/// What is wrong with the name of a type; empty: it is one.
std::string problem_with_type_name(const Json& name) {
  if (!name.is_string()) return "a type is a text";
  const auto& text = name.get_ref<const std::string&>();
  // The validator knows "any" of an old draft.
  if (text == "any" || std::ranges::find(type_names, text) != type_names.end()) return "";
  const std::string meant = did_you_mean(text, type_names);
  return json_string(excerpt(text, 80)) + " is no type" +
         (meant.empty() ? "; there are " + joined(type_names) : meant);
}

std::string problem_with_types(const Json& value) {
  if (!value.is_array()) return problem_with_type_name(value);
  for (const Json& one : value) {
    if (std::string problem = problem_with_type_name(one); !problem.empty()) return problem;
  }
  return "";
}

}  // namespace

const SchemaKeyword* schema_keyword(std::string_view name) {
  const auto found = std::ranges::find(keywords, name, &SchemaKeyword::name);
  return found == keywords.end() ? nullptr : &*found;
}

std::optional<std::string_view> meant_assertion(std::string_view keyword) {
  if (schema_keyword(keyword) != nullptr || std::ranges::find(annotations, keyword) != annotations.end())
    return std::nullopt;
  const std::string word = bare(keyword);
  const auto is_meant = [&word](const SchemaKeyword& known) {
    const std::string small = bare(known.name);
    return known.name != old_keyword &&
           (word == small || (word.starts_with(small.front()) && is_slip(word, small)));
  };
  const auto meant = std::ranges::find_if(keywords, is_meant);
  return meant == keywords.end() ? std::nullopt : std::optional(meant->name);
}

std::string problem_with_value(Holds holds, const Json& value) {
  const auto is_text = [](const Json& one) { return one.is_string(); };
  const auto unless = [](bool is_sound, const char* what) { return is_sound ? std::string() : what; };
  switch (holds) {
    case Holds::text:
      return unless(value.is_string(), "a text is expected");
    case Holds::texts:
      return unless(value.is_array() && std::ranges::all_of(value, is_text), "a list of texts is expected");
    case Holds::types:
      return problem_with_types(value);
    case Holds::values:
    case Holds::list:
      return unless(value.is_array(), "a list is expected");
    case Holds::number:
      return unless(value.is_number(), "a number is expected");
    case Holds::count:
      return unless(value.is_number_integer() && value >= 0, "a whole number, 0 or more, is expected");
    case Holds::divisor:
      return unless(value.is_number() && value > 0, "a number above 0 is expected");
    case Holds::boolean:
      return unless(value.is_boolean(), "true or false is expected");
    case Holds::by_name:
      return unless(value.is_object(), "an object is expected");
    case Holds::schema:
      return unless(!value.is_array(), "an object, true or false is expected");
    case Holds::any:
    case Holds::schema_or_list:
      return "";
  }
  return "";
}

}  // namespace sluice
