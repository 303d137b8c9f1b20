#include "coordinator/suite/json_schema_check.hpp"

#include "common/text.hpp"
#include "coordinator/suite/canonical_json.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <exception>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>

namespace sluice {
namespace {

/// The validator follows references by recursion; real schemas have a few dozen.
constexpr std::size_t max_reference_targets = 200;

using Words = std::string_view;
constexpr std::array<Words, 3> unbounded{"pattern", "patternProperties", "format"};
constexpr std::array<Words, 10> newer{
    "$anchor",     "$dynamicRef", "$recursiveRef", "dependentRequired", "dependentSchemas",
    "maxContains", "minContains", "prefixItems",   "unevaluatedItems",  "unevaluatedProperties"};
/// What a schema applies to the same value, and what it applies to parts of the value.
constexpr std::array<Words, 4> same_value_schema{"not", "if", "then", "else"};
constexpr std::array<Words, 3> same_value_schemas{"allOf", "anyOf", "oneOf"};
constexpr std::array<Words, 5> part_schema{"additionalItems", "additionalProperties", "contains",
                                           "propertyNames", "items"};
constexpr std::array<Words, 3> named_schemas{"properties", "definitions", "$defs"};

template <std::size_t N>
bool is_one_of(Words word, const std::array<Words, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

const DocumentNode* child(const DocumentNode& node, const std::string& key) {
  if (const auto* table = std::get_if<DocumentNode::Table>(&node.value)) {
    const auto found = std::ranges::find(*table, key, &DocumentEntry::key);
    return found != table->end() ? &found->value : nullptr;
  }
  const auto* array = std::get_if<DocumentNode::Array>(&node.value);
  if (array == nullptr) return nullptr;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
  const bool whole = error == std::errc() && end == key.data() + key.size();
  return whole && index < array->size() ? &(*array)[index] : nullptr;
}

/// A JSON Pointer's segment with `~1` for `/` and `~0` for `~` (RFC 6901).
std::string unescaped(Words segment) {
  std::string text;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const bool escape = segment[i] == '~' && i + 1 < segment.size();
    if (escape && segment[i + 1] == '1') {
      text += '/', ++i;
    } else if (escape && segment[i + 1] == '0') {
      text += '~', ++i;
    } else {
      text += segment[i];
    }
  }
  return text;
}

/// What `#` or `#/a/b` names.
const DocumentNode* resolve(const DocumentNode& root, Words reference) {
  const DocumentNode* at = &root;
  reference.remove_prefix(1);
  while (at != nullptr && !reference.empty()) {
    if (reference.front() != '/') return nullptr;
    const auto end = std::min(reference.find('/', 1), reference.size());
    at = child(*at, unescaped(reference.substr(1, end - 1)));
    reference.remove_prefix(end);
  }
  return at;
}

/// Goes through every place where a schema stands.
class SchemaWalk {
 public:
  explicit SchemaWalk(const DocumentNode& root) : root_(root) {}

  std::optional<std::string> problem() {
    reach(root_);
    while (!pending_.empty() && !problem_) {
      const DocumentNode* schema = pending_.back();
      pending_.pop_back();
      if (const auto* table = std::get_if<DocumentNode::Table>(&schema->value)) visit(*schema, *table);
    }
    if (!problem_ && leads_back()) {
      problem_ =
          "leads back to itself without going deeper into the value: its \"$ref\" would be followed without "
          "end";
    }
    return problem_;
  }

 private:
  void visit(const DocumentNode& schema, const DocumentNode::Table& table) {
    for (const DocumentEntry& entry : table) {
      const Words key = entry.key;
      if (key == "$ref") {
        follow(schema, entry.value);
      } else if (is_one_of(key, unbounded)) {
        fail("uses \"" + entry.key + "\", which has no bound in time; put a regex_match beside the schema");
      } else if (is_one_of(key, newer)) {
        fail("uses \"" + entry.key + "\", which is newer than draft 7 of JSON Schema");
      } else if (is_one_of(key, same_value_schema)) {
        reach(entry.value, &schema);
      } else if (is_one_of(key, same_value_schemas)) {
        for_each(entry.value, [&](const DocumentNode& one) { reach(one, &schema); });
      } else if (key == "dependencies") {
        for_each(entry.value, [&](const DocumentNode& one) { reach(one, &schema); });
      } else if (is_one_of(key, part_schema)) {
        reach(entry.value);
        if (key == "items") for_each_item(entry.value, [&](const DocumentNode& one) { reach(one); });
      } else if (is_one_of(key, named_schemas)) {
        for_each(entry.value, [&](const DocumentNode& one) { reach(one); });
      }
    }
  }

  void follow(const DocumentNode& schema, const DocumentNode& reference) {
    const auto* text = std::get_if<std::string>(&reference.value);
    if (text == nullptr) return fail("has a \"$ref\" that is no text");
    const std::string shown = "\"" + excerpt(*text, 80) + "\"";
    if (!text->starts_with("#")) {
      return fail("has the \"$ref\" " + shown +
                  ", but files and URLs are not read: refer to \"#/definitions/...\"");
    }
    const DocumentNode* target = resolve(root_, *text);
    if (target == nullptr) return fail("has the \"$ref\" " + shown + ", which names nothing in the schema");
    if (++references_ > max_reference_targets) {
      return fail("has more than " + std::to_string(max_reference_targets) + " times \"$ref\"");
    }
    reach(*target, &schema);
  }

  /// Notes a schema as one to go through, and as applied to the same value as `from`.
  void reach(const DocumentNode& schema, const DocumentNode* from = nullptr) {
    if (from != nullptr) same_value_[from].push_back(&schema);
    const auto [unused, is_new] = same_value_.try_emplace(&schema);
    if (is_new) pending_.push_back(&schema);
  }

  template <class Visit>
  static void for_each_item(const DocumentNode& node, const Visit& visit) {
    if (const auto* array = std::get_if<DocumentNode::Array>(&node.value)) {
      for (const DocumentNode& one : *array) visit(one);
    }
  }
  template <class Visit>
  static void for_each(const DocumentNode& node, const Visit& visit) {
    for_each_item(node, visit);
    if (const auto* table = std::get_if<DocumentNode::Table>(&node.value)) {
      for (const DocumentEntry& one : *table) visit(one.value);
    }
  }

  /// True if the graph of schemas that apply to the same value has a cycle: what is left when those without a
  /// way on are taken away again and again.
  bool leads_back() const {
    std::unordered_map<const DocumentNode*, std::size_t> ways_on;
    std::unordered_map<const DocumentNode*, std::vector<const DocumentNode*>> comes_from;
    std::vector<const DocumentNode*> ends;
    for (const auto& [schema, targets] : same_value_) {
      ways_on[schema] = targets.size();
      if (targets.empty()) ends.push_back(schema);
      for (const DocumentNode* target : targets) comes_from[target].push_back(schema);
    }
    std::size_t removed = 0;
    while (!ends.empty()) {
      const DocumentNode* end = ends.back();
      ends.pop_back();
      ++removed;
      for (const DocumentNode* before : comes_from[end]) {
        if (--ways_on[before] == 0) ends.push_back(before);
      }
    }
    return removed != same_value_.size();
  }

  void fail(std::string why) {
    if (!problem_) problem_ = std::move(why);
  }

  const DocumentNode& root_;
  std::unordered_map<const DocumentNode*, std::vector<const DocumentNode*>> same_value_;
  std::vector<const DocumentNode*> pending_;
  std::size_t references_ = 0;
  std::optional<std::string> problem_;
};

/// What the validator itself does not take.
std::optional<std::string> refused_by_validator(const DocumentNode& schema) {
  try {
    const auto document = nlohmann::json::parse(canonical_json(schema));
    valijson::Schema compiled;
    valijson::SchemaParser parser;
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(document), compiled);
  } catch (const std::exception& error) {
    std::string message = excerpt(to_valid_utf8(error.what()), 200);
    while (message.ends_with('.')) message.pop_back();
    return "is not a valid one: " + message;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> problem_with_schema(const DocumentNode& schema) {
  const bool is_schema =
      std::holds_alternative<DocumentNode::Table>(schema.value) || std::holds_alternative<bool>(schema.value);
  if (!is_schema) return "must be an object, not " + std::string(type_name(schema, Notation::json));
  if (auto problem = SchemaWalk(schema).problem()) return problem;
  return refused_by_validator(schema);
}

}  // namespace sluice
