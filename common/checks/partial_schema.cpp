#include "common/checks/partial_schema.hpp"

#include "common/checks/pattern.hpp"
#include "common/checks/schema_preparation.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using Json = nlohmann::json;

/// A value that lacks members may break these, and with more of them fit.
constexpr std::array<std::string_view, 10> mended_by_more = {
    "required", "minProperties", "dependencies", "not",         "if",
    "then",     "else",          "contains",     "uniqueItems", "extends"};
/// Their schemas are for the same value: none of them names all of its members.
constexpr std::array<std::string_view, 7> beside_properties = {
    "allOf", "anyOf", "oneOf", "if", "dependencies", "dependentSchemas", "extends"};

template <class Words>
bool is_among(std::string_view name, const Words& words) {
  return std::ranges::find(words, name) != words.end();
}

bool has_any(const Json& schema, const auto& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return schema.contains(word); });
}

class PartialSchema {
 public:
  explicit PartialSchema(const Json& root) : root_(root) {}

  /// `is_alone`: no other schema is for the same value.
  Json of(const Json& schema, bool is_alone) const {
    if (!schema.is_object()) return schema;
    const auto reference = schema.find("$ref");
    if (reference != schema.end() && !is_followed(*reference)) return Json::object();
    Json made = Json::object();
    const bool are_members_alone = is_alone && !has_any(schema, beside_properties);
    for (const auto& [name, value] : schema.items()) add(name, value, schema, are_members_alone, made);
    if (schema.contains("prefixItems")) {  // `items` are those behind them.
      made.erase("items");
      made.erase("additionalItems");
    }
    if (schema.contains(patterned_keyword)) {
      made.erase("additionalProperties");
    } else if (is_alone && is_closed(schema)) {
      made["additionalProperties"] = false;
    }
    return made;
  }

 private:
  /// `are_members_alone`: no schema beside this one is for what its members hold.
  void add(const std::string& name, const Json& value, const Json& schema, bool are_members_alone,
           Json& made) const {
    if (is_among(name, mended_by_more) || is_among(name, later_keywords) || name == patterned_keyword) return;
    if (name == "pattern" && value.is_string() && !Pattern::compile(value.get_ref<const std::string&>()))
      return;
    const bool is_structured = value.is_structured();
    if (name == "properties" || name == "definitions" || name == "$defs") {
      made[name] = value.is_object() ? each(value, name == "properties" && are_members_alone) : value;
    } else if (name == "allOf" || name == "anyOf") {
      made[name] = is_structured ? each(value, false) : value;
    } else if (name == "oneOf") {
      if (!schema.contains("anyOf")) made["anyOf"] = is_structured ? each(value, false) : value;
    } else if (name == "items" && value.is_array()) {
      made[name] = each(value, are_members_alone);
    } else if (name == "items" || name == "additionalItems" || name == "additionalProperties" ||
               name == "propertyNames") {
      made[name] = of(value, are_members_alone);
    } else if (name == "const" || name == "enum") {
      if (!has_objects(value)) made[name] = value;
    } else {
      made[name] = value;
    }
  }

  Json each(const Json& schemas, bool is_alone) const {
    Json made = schemas;
    for (Json& one : made) one = of(one, is_alone);
    return made;
  }

  /// To what stands among the definitions of the document: they are there still.
  bool is_followed(const Json& reference) const {
    if (!reference.is_string()) return true;  // That is wrong, and is said so.
    const std::string_view text = reference.get_ref<const std::string&>();
    if (text == "#") return true;
    for (const std::string_view key : {"definitions", "$defs"}) {
      const std::string start = "#/" + std::string(key) + "/";
      const auto definitions = root_.find(key);
      if (text.starts_with(start) && definitions != root_.end() && definitions->is_object())
        return text.find_first_of("%~/", start.size()) == std::string_view::npos &&
               definitions->contains(text.substr(start.size()));
    }
    return false;
  }

  /// Whether whoever names its members means these alone.
  static bool is_closed(const Json& schema) {
    const auto properties = schema.find("properties");
    return properties != schema.end() && properties->is_object() && !properties->empty() &&
           !schema.contains("additionalProperties") && !schema.contains("unevaluatedProperties") &&
           !has_any(schema, beside_properties);
  }

  static bool has_objects(const Json& value) {
    return value.is_object() || (value.is_array() && std::ranges::any_of(value, has_objects));
  }

  const Json& root_;
};

}  // namespace

Json partial_schema(const Json& schema) {
  return PartialSchema(schema).of(schema, true);
}

}  // namespace sluice
