#include "common/checks/schema_preparation.hpp"

#include "common/checks/pattern.hpp"
#include "common/checks/schema_keywords.hpp"
#include "common/defaults.hpp"
#include "common/text/number.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>

#include <nlohmann/json.hpp>

namespace sluice {

namespace {

using Json = nlohmann::json;
using Path = std::vector<std::string>;

Path operator+(Path path, std::string_view step) {
  path.emplace_back(step);
  return path;
}

tl::unexpected<Error> wrong(const Path& path, const std::string& what) {
  return fail(Reason::fixture_invalid, "the schema is wrong at " + pointer_text(path) + ": " + what);
}

/// The path of `#/a/b`; nothing if the reference is of another form, or escapes what stands in a name.
std::optional<Path> path_of_reference(std::string_view reference) {
  if (!reference.starts_with('#') || reference.find_first_of("%~") != std::string_view::npos) {
    return std::nullopt;
  }
  Path path;
  for (auto rest = reference.substr(1); !rest.empty();) {
    if (rest.front() != '/') return std::nullopt;
    const auto name = rest.substr(1, rest.find('/', 1) - 1);
    if (name.empty()) return std::nullopt;  // The validator passes over empty steps.
    path.emplace_back(name);
    rest.remove_prefix(1 + name.size());
  }
  return path;
}

Json* node_at(Json& root, const Path& path) {
  Json* node = &root;
  for (const auto& step : path) {
    if (node->is_object()) {
      const auto found = node->find(step);
      if (found == node->end()) return nullptr;
      node = &*found;
    } else if (node->is_array()) {
      const auto index = number_from<std::size_t>(step);
      if (!index || *index >= node->size()) return nullptr;
      node = &(*node)[*index];
    } else {
      return nullptr;
    }
  }
  return node;
}

void rename(Json& object, const char* from, std::string_view to) {
  const auto found = object.find(from);
  if (found == object.end()) return;
  Json value = std::move(*found);
  object.erase(found);
  object[std::string(to)] = std::move(value);
}

/// `integer` becomes a number that own_integer looks at.
void take_integers(Json& schema) {
  const auto type = schema.find("type");
  if (type == schema.end()) return;
  if (*type == "integer") {
    *type = "number";
    schema[std::string(own_integer)] = true;
  } else if (type->is_array() && std::ranges::find(*type, "number") == type->end()) {
    const auto integer = std::ranges::find(*type, "integer");
    if (integer == type->end()) return;
    *integer = "number";
    schema[std::string(own_integer)] = true;
  }
}

/// As the last of `allOf`, which the validator looks at first: a schema is counted before it is applied any
/// further, and references into `allOf` stay what they are.
void count_steps(Json& schema) {
  if (!schema.is_object() || schema.contains("$ref")) return;
  if (Json& all = schema["allOf"]; all.is_null() || all.is_array()) {
    all.push_back(Json::object({{std::string(own_step), true}}));
  }
}

/// Goes through all schemas of a document: from the root down, and wherever a reference leads.
class Walk {
 public:
  explicit Walk(Json& root) : root_(root) {}

  Result<std::set<std::string>> run() {
    pending_.push_back({});
    while (!pending_.empty()) {
      const Path path = std::move(pending_.back());
      pending_.pop_back();
      if (!seen_.emplace(path, seen_.size()).second) continue;
      if (seen_.size() > defaults::max_schema_nodes) {
        return wrong(path,
                     "these are more than " + std::to_string(defaults::max_schema_nodes) + " schemas in one");
      }
      if (Json* const schema = node_at(root_, path)) visit(path, *schema);
    }
    // A reference may lead into the value of a keyword that has another name by now.
    for (const auto& [path, order] : seen_) {
      if (node_at(root_, path) == nullptr) refuse(path, "a reference leads to a value that is no schema");
    }
    if (!problems_.empty()) return all_problems();
    if (auto circle = find_circle()) return wrong(*circle, "the schema refers to itself without end");
    for (const auto& [path, order] : seen_) count_steps(*node_at(root_, path));
    return std::move(formats_);
  }

 private:
  struct Problem {
    Path path;
    std::string what;
  };

  /// By their places, the first few of them.
  tl::unexpected<Error> all_problems() {
    constexpr std::size_t most_problems = 8;
    std::ranges::stable_sort(problems_, {}, &Problem::path);
    Error error = wrong(problems_.front().path, problems_.front().what).value();
    const std::size_t shown = std::min(problems_.size(), most_problems);
    for (std::size_t i = 1; i < shown; ++i)
      error.message += "; at " + pointer_text(problems_[i].path) + ": " + problems_[i].what;
    if (const std::size_t rest = problems_.size() - shown; rest > 0)
      error.message += "; and " + std::to_string(rest) + " more";
    return tl::unexpected(std::move(error));
  }

  void refuse(Path path, std::string what) { problems_.push_back({std::move(path), std::move(what)}); }

  void visit(const Path& path, Json& schema) {
    if (schema.is_boolean()) return;
    if (!schema.is_object()) return refuse(path, "a schema is an object, true or false");
    if (schema.contains("$ref")) return visit_reference(path, schema["$ref"]);
    for (const auto& [name, value] : schema.items()) check_keyword(path, name, value);
    if (const auto format = schema.find("format"); format != schema.end() && format->is_string())
      formats_.insert(format->get<std::string>());
    // Old drafts' name of the base that references are relative to; draft 7 has no such keyword.
    if (const auto id = schema.find("id"); id != schema.end() && id->is_string()) schema.erase(id);
    rename(schema, "pattern", own_pattern);
    rename(schema, "format", own_format);
    rename(schema, "const", own_const);
    rename(schema, "enum", own_enum);
    rename(schema, "uniqueItems", own_unique_items);
    rename(schema, "multipleOf", own_multiple_of);
    take_integers(schema);
    visit_below(path, schema);
  }

  void check_keyword(const Path& path, const std::string& name, const Json& value) {
    if (std::ranges::find(later_keywords, name) != later_keywords.end())
      return refuse(path, '"' + name + "\" belongs to a later draft than the supported draft 7");
    if (name == patterned_keyword) {
      return refuse(path, '"' + name +
                              "\" is not supported; list the names under \"properties\", or give all others "
                              "a schema as \"additionalProperties\"");
    }
    if (const auto meant = meant_assertion(name)) {
      return refuse(path, json_string(excerpt(name, 80)) + " is no keyword; did you mean \"" +
                              std::string(*meant) + "\"?");
    }
    const SchemaKeyword* keyword = schema_keyword(name);
    std::string problem = keyword != nullptr ? problem_with_value(keyword->holds, value) : "";
    if (problem.empty() && name == "pattern") {
      const auto pattern = Pattern::compile(value.get_ref<const std::string&>());
      if (!pattern) problem = pattern.error().message;
    }
    if (!problem.empty()) refuse(path + name, std::move(problem));
  }

  void visit_reference(const Path& path, const Json& reference) {
    if (!reference.is_string()) return refuse(path, "\"$ref\" is no text");
    const auto& text = reference.get_ref<const std::string&>();
    const auto quoted = json_string(excerpt(text, 80));
    const auto target = path_of_reference(text);
    if (!target) {
      return refuse(path,
                    "only references within the schema are followed, as #/definitions/x; not " + quoted);
    }
    if (!node_at(root_, *target)) return refuse(path, "there is nothing at " + quoted);
    if (++references_ > defaults::max_schema_references) {
      if (references_ > defaults::max_schema_references + 1) return;
      return refuse(path, "\"$ref\" stands there more than " +
                              std::to_string(defaults::max_schema_references) + " times in one schema");
    }
    in_place_[path].push_back(*target);
    pending_.push_back(*target);
  }

  void visit_below(const Path& path, const Json& schema) {
    const auto go_to = [&](Path below, bool in_place) {
      if (in_place) in_place_[path].push_back(below);
      pending_.push_back(std::move(below));
    };
    for (const auto& [name, value] : schema.items()) {
      const SchemaKeyword* keyword = schema_keyword(name);
      if (keyword == nullptr) continue;
      const SchemaHolds holds = keyword->holds;
      const bool is_list = value.is_array();
      if (!is_list && (holds == SchemaHolds::schema || holds == SchemaHolds::schema_or_list))
        go_to(path + name, keyword->in_place);
      if (is_list && (holds == SchemaHolds::list || holds == SchemaHolds::schema_or_list)) {
        for (std::size_t i = 0; i < value.size(); ++i)
          go_to(path + name + std::to_string(i), keyword->in_place);
      }
      if (holds != SchemaHolds::by_name || !value.is_object()) continue;
      for (const auto& [key, below] : value.items()) {
        // A dependency may also be a list of names.
        if (!below.is_array()) go_to(path + name + key, keyword->in_place);
      }
    }
  }

  /// A schema from which steps that stay at the same value lead back to it: validating it would never end.
  std::optional<Path> find_circle() const {
    enum class Mark { open, done };
    std::map<Path, Mark> marks;
    for (const auto& [start, edges] : in_place_) {
      if (marks.contains(start)) continue;
      std::vector<std::pair<const Path*, std::size_t>> trail{{&start, 0}};
      marks[start] = Mark::open;
      while (!trail.empty()) {
        auto& [node, next] = trail.back();
        const auto found = in_place_.find(*node);
        if (found == in_place_.end() || next == found->second.size()) {
          marks[*node] = Mark::done;
          trail.pop_back();
          continue;
        }
        const Path& target = found->second[next++];
        const auto [mark, is_new] = marks.try_emplace(target, Mark::open);
        if (is_new) {
          trail.emplace_back(&target, 0);
        } else if (mark->second == Mark::open) {
          return target;
        }
      }
    }
    return std::nullopt;
  }

  Json& root_;
  std::vector<Path> pending_;
  std::vector<Problem> problems_;
  std::map<Path, std::size_t> seen_;
  std::map<Path, std::vector<Path>> in_place_;
  std::set<std::string> formats_;
  std::size_t references_ = 0;
};

}  // namespace

std::string pointer_text(const std::vector<std::string>& path) {
  if (path.empty()) return "the root";
  std::string text;
  for (const auto& step : path) {
    text += '/';
    for (const char c : step) {
      if (c == '~') {
        text += "~0";
      } else if (c == '/') {
        text += "~1";
      } else {
        text += c;
      }
    }
  }
  return text;
}

void normalise_numbers(Json& document) {
  constexpr double exact = 9007199254740992;  // 2^53
  if (document.is_structured()) {
    for (auto& below : document) normalise_numbers(below);
  } else if (document.is_number_float()) {
    const double value = document.get<double>();
    if (std::floor(value) == value && std::abs(value) <= exact) document = static_cast<std::int64_t>(value);
  } else if (document.is_number_unsigned()) {
    const auto value = document.get<std::uint64_t>();
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      document = static_cast<double>(value);
    }
  }
}

Result<std::set<std::string>> prepare_schema(Json& schema) {
  return Walk(schema).run();
}

}  // namespace sluice
