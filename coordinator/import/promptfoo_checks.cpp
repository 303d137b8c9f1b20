#include "coordinator/import/promptfoo_checks.hpp"

#include "common/checks/json_schema.hpp"
#include "common/checks/pattern.hpp"
#include "common/documents/canonical_json.hpp"
#include "common/model/metrics.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/import/foreign_script.hpp"
#include "coordinator/import/foreign_template.hpp"
#include "coordinator/suite/foreign_check.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

namespace sluice {
namespace {

/// What an assertion holds beside its type, value and threshold; all else is a note.
constexpr std::array<std::string_view, 6> known_keys{"type",   "value",       "threshold",
                                                     "assert", "description", "$ref"};

DocumentEntry* find_key(DocumentNode& table, std::string_view key) {
  auto& entries = std::get<DocumentNode::Table>(table.value);
  const auto found = std::ranges::find(entries, key, &DocumentEntry::key);
  return found != entries.end() ? &*found : nullptr;
}

/// Schemas and fingerprints want keys in order, people do not.
DocumentNode in_order(DocumentNode node) {
  if (auto* table = std::get_if<DocumentNode::Table>(&node.value)) {
    for (DocumentEntry& entry : *table) entry.value = in_order(std::move(entry.value));
    std::ranges::stable_sort(*table, {}, &DocumentEntry::key);
  } else if (auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
    for (DocumentNode& one : *list) one = in_order(std::move(one));
  }
  return node;
}

class CheckImporter {
 public:
  CheckImporter(const DocumentNode* templates, const ImportFile& from) : templates_(templates), from_(from) {}

  std::vector<ImportedCheck> read(const DocumentNode& assertions, std::optional<double> pass_mark) {
    is_in_group_ = pass_mark.has_value();
    read_list(assertions);
    is_in_group_ = false;
    if (pass_mark && !checks_.empty()) put_in_group(assertions.line, *pass_mark);
    return std::move(checks_);
  }

 private:
  void read_list(const DocumentNode& assertions) {
    const auto* list = std::get_if<DocumentNode::Array>(&assertions.value);
    if (list == nullptr) return from_.note(assertions.line, "\"assert\" is no list: left out");
    for (const DocumentNode& one : *list) read_one(one);
  }

  void read_one(const DocumentNode& assertion) {
    if (const std::string* reference = text_in(assertion, "$ref")) return follow(*reference, assertion.line);
    const std::string* type = text_in(assertion, "type");
    if (type == nullptr) return from_.note(assertion.line, "a check without a type: left out");
    if (number_in(assertion, "weight") == 0.0)
      return leave_out(assertion.line, *type, "has the weight 0, with which it fails no test");
    if (*type == "assert-set") return read_set(assertion);
    note_other_keys(assertion, *type);
    ForeignCheck check;
    check.line = assertion.line;
    check.is_negated = type->starts_with("not-");
    check.type = type->substr(check.is_negated ? 4 : 0);
    check.threshold = number_in(assertion, "threshold");
    if (check.type == "context-faithfulness") {
      return leave_out(assertion.line, *type,
                       "judges by \"input.context\", which the prompts here show themselves");
    }
    const auto why = check.type == "javascript" ? "" : why_not_taken(check.type);
    if (!why.empty()) return leave_out(assertion.line, *type, std::string(why));
    if (!read_value(assertion, *type, check)) return;
    if (check.type == "javascript" && !check.is_negated && check.values.size() == 1) {
      if (auto script = check_of_script(check.values.front(), check.line)) check = std::move(*script);
    }
    auto made = expectation_of(check);
    if (!made) return leave_out(assertion.line, *type, made.error());
    if (const auto weight = number_in(assertion, "weight"); weight && is_in_group_)
      std::get<DocumentNode::Table>(made->value)
          .push_back({"weight", assertion.line, {*weight, assertion.line, {}}});
    add(std::move(*made), *type);
  }

  void leave_out(std::uint32_t line, const std::string& type, const std::string& why) {
    from_.note(line, "the check " + excerpt(type, defaults::quoted_bytes) + " " + why + ": left out");
  }

  void follow(const std::string& reference, std::uint32_t line) {
    constexpr std::string_view start = "#/assertionTemplates/";
    const DocumentEntry* entry = templates_ != nullptr && reference.starts_with(start)
                                     ? find_entry(*templates_, reference.substr(start.size()))
                                     : nullptr;
    if (entry == nullptr || find_entry(entry->value, "$ref") != nullptr)
      return from_.note(line, "the check " + json_string(excerpt(reference, defaults::quoted_bytes)) +
                                  " is not there: left out");
    read_one(entry->value);
  }

  /// All of a set must pass, unless a threshold says what share: then it is a group of its own.
  void read_set(const DocumentNode& set) {
    note_other_keys(set, "assert-set");
    const DocumentEntry* held = find_entry(set, "assert");
    if (held == nullptr) return;
    const auto threshold = number_in(set, "threshold");
    if (!threshold) return read_list(held->value);
    if (is_in_group_)
      return leave_out(set.line, "assert-set", "with a threshold in another such set has no counterpart");
    std::vector<ImportedCheck> outside = std::exchange(checks_, {});
    is_in_group_ = true;
    read_list(held->value);
    is_in_group_ = false;
    std::vector<ImportedCheck> parts = std::exchange(checks_, std::move(outside));
    if (!parts.empty()) add_group(set.line, *threshold, std::move(parts));
  }

  /// All checks of a test, by its threshold.
  void put_in_group(std::uint32_t line, double pass_mark) {
    std::vector<ImportedCheck> parts = std::exchange(checks_, {});
    if (std::ranges::none_of(parts, needs_model)) return add_group(line, pass_mark, std::move(parts));
    from_.note(
        line,
        "the \"threshold\" of a test whose checks a model judges, which no group takes: each check must "
        "pass, whatever its weight");
    for (ImportedCheck& part : parts) {
      std::erase_if(std::get<DocumentNode::Table>(part.expectation.value),
                    [](const DocumentEntry& entry) { return entry.key == "weight"; });
    }
    checks_ = std::move(parts);
  }

  void add_group(std::uint32_t line, double pass_mark, std::vector<ImportedCheck> parts) {
    if (std::ranges::any_of(parts, needs_model))
      return leave_out(line, "assert-set", "with a threshold holds a check by a model, which no group takes");
    ImportedCheck group{.expectation = {}, .type = "all_of"};
    DocumentNode::Array of;
    for (ImportedCheck& part : parts) {
      of.push_back(std::move(part.expectation));
      group.variables.merge(part.variables);
    }
    DocumentNode::Table table;
    table.push_back({"type", line, {group.type, line, {}}});
    table.push_back({"pass_mark", line, {pass_mark, line, {}}});
    table.push_back({"of", line, {std::move(of), line, {}}});
    group.expectation = {std::move(table), line, {}};
    checks_.push_back(std::move(group));
  }

  static bool needs_model(const ImportedCheck& check) {
    const MetricInfo* metric = find_metric(check.type);
    return metric != nullptr &&
           (is_judge_metric(metric->id) || metric->id == MetricId::semantic_similarity_to);
  }

  void note_other_keys(const DocumentNode& assertion, const std::string& type) {
    for (const DocumentEntry& entry : std::get<DocumentNode::Table>(assertion.value)) {
      if (std::ranges::find(known_keys, entry.key) != known_keys.end()) continue;
      if (is_in_group_ && entry.key == "weight") continue;
      from_.note(entry.line, "\"" + entry.key + "\" of the check " + excerpt(type, defaults::quoted_bytes) +
                                 " has no counterpart: left out");
    }
  }

  static bool is_schema(const ForeignCheck& check) {
    return check.type == "is-json" || check.type == "contains-json";
  }

  /// False if the value cannot be had, which is a note.
  bool read_value(const DocumentNode& assertion, const std::string& type, ForeignCheck& check) {
    const DocumentEntry* entry = find_entry(assertion, "value");
    if (entry == nullptr) return true;
    const std::string* text = text_in(entry->value);
    if (text != nullptr && text->starts_with("file://"))
      return read_value_file(*text, type, entry->line, check);
    return take_value(entry->value, type, entry->line, check);
  }

  bool take_value(const DocumentNode& value, const std::string& type, std::uint32_t line,
                  ForeignCheck& check) {
    const auto text = scalar_text(value);
    if (text) return take_text(*text, type, line, check);
    const auto* list = std::get_if<DocumentNode::Array>(&value.value);
    if (check.type == "equals" || (is_schema(check) && list == nullptr)) return take_schema(value, check);
    if (list != nullptr) return take_list(*list, type, line, check);
    leave_out(line, type, "has a value that is no text");
    return false;
  }

  bool take_list(const DocumentNode::Array& list, const std::string& type, std::uint32_t line,
                 ForeignCheck& check) {
    for (const DocumentNode& one : list) {
      const auto text = scalar_text(one);
      if (!text) leave_out(line, type, "has a value that is no text");
      if (!text) return false;
      check.values.push_back(*text);
    }
    return true;
  }

  bool take_text(const std::string& text, const std::string& type, std::uint32_t line, ForeignCheck& check) {
    if (is_schema(check)) return take_schema_text(text, type, line, check);
    if (!takes_foreign_list(check.type)) {
      check.values.push_back(text);
      return true;
    }
    auto values = parse_foreign_list(text);
    if (!values) leave_out(line, type, values.error());
    if (!values) return false;
    check.values = std::move(*values);
    return true;
  }

  bool take_schema(const DocumentNode& node, ForeignCheck& check) {
    schema_ = in_order(node);
    check.schema = &schema_;
    return true;
  }

  bool take_schema_text(const std::string& text, const std::string& type, std::uint32_t line,
                        ForeignCheck& check) {
    const auto node = parse_foreign("schema.json", text);
    if (node && std::holds_alternative<DocumentNode::Table>(node->value)) return take_schema(*node, check);
    leave_out(line, type, "has a value that is no schema");
    return false;
  }

  bool read_value_file(const std::string& reference, const std::string& type, std::uint32_t line,
                       ForeignCheck& check) {
    const std::string name = referenced_file(reference, from_.files);
    if (is_code_file(name)) {
      leave_out(line, type, "takes its value from a program, which has no counterpart");
      return false;
    }
    const std::string extension = extension_of(name);
    if (extension == ".json" || extension == ".yaml" || extension == ".yml") {
      const auto value = read_document(name, from_, line);
      return value && take_value(*value, type, line, check);
    }
    const auto text = read_text_file(name, from_, line);
    return text && take_text(trimmed_text(*text), type, line, check);
  }

  void add(DocumentNode expectation, const std::string& foreign_type) {
    ImportedCheck check;
    check.type = *text_in(expectation, "type");
    const MetricInfo* metric = find_metric(check.type);
    check.is_scored = metric != nullptr && metric->kind == MetricKind::scored;
    for (const std::string_view key :
         {std::string_view("text"), std::string_view("criteria"), std::string_view("reference")}) {
      DocumentEntry* entry = find_key(expectation, key);
      if (entry != nullptr && !translate(entry->value, foreign_type, check)) return;
    }
    if (const DocumentEntry* pattern = find_entry(expectation, "pattern")) {
      if (!compiles(pattern->value, foreign_type)) return;
    }
    if (const DocumentEntry* schema = find_entry(expectation, "schema")) {
      const auto compiled = JsonSchema::compile(canonical_json(in_order(schema->value)));
      if (!compiled)
        return leave_out(expectation.line, foreign_type,
                         "has a schema that cannot be used (" + compiled.error().message + ")");
    }
    check.expectation = std::move(expectation);
    checks_.push_back(std::move(check));
  }

  bool translate(DocumentNode& node, const std::string& type, ImportedCheck& check) {
    if (auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
      return std::ranges::all_of(*list, [&](DocumentNode& one) { return translate(one, type, check); });
    }
    auto* text = std::get_if<std::string>(&node.value);
    if (text == nullptr) return true;
    auto translated = translate_template(*text);
    if (!translated) leave_out(node.line, type, translated.error());
    if (!translated) return false;
    *text = std::move(translated->text);
    check.variables.merge(translated->variables);
    return true;
  }

  bool compiles(const DocumentNode& node, const std::string& type) {
    if (const auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
      return std::ranges::all_of(*list, [&](const DocumentNode& one) { return compiles(one, type); });
    }
    const auto compiled = Pattern::compile(std::get<std::string>(node.value));
    if (!compiled) leave_out(node.line, type, "cannot be said: " + compiled.error().message);
    return compiled.has_value();
  }

  const DocumentNode* templates_;
  const ImportFile& from_;
  DocumentNode schema_;
  std::vector<ImportedCheck> checks_;
  bool is_in_group_ = false;  ///< In a set with a threshold, whose checks have weights.
};

/// Of two rubrics that become one, the higher limit holds for both.
void raise_limit(DocumentNode& own, const DocumentNode& other) {
  const double least = number_in(other, "min_score").value_or(defaults::judge_min_score);
  if (number_in(own, "min_score").value_or(defaults::judge_min_score) >= least) return;
  auto& table = std::get<DocumentNode::Table>(own.value);
  std::erase_if(table, [](const DocumentEntry& entry) { return entry.key == "min_score"; });
  table.push_back({"min_score", other.line, {least, other.line, {}}});
}

}  // namespace

std::vector<ImportedCheck> import_checks(const DocumentNode& assertions, const DocumentNode* templates,
                                         const ImportFile& from, std::optional<double> pass_mark) {
  return CheckImporter(templates, from).read(assertions, pass_mark);
}

std::vector<ImportedCheck> with_one_of_each_score(std::vector<ImportedCheck> checks, const ImportFile& from) {
  std::vector<ImportedCheck> result;
  for (ImportedCheck& check : checks) {
    const auto same = std::ranges::find_if(
        result, [&](const ImportedCheck& one) { return one.is_scored && one.type == check.type; });
    if (!check.is_scored || same == result.end()) {
      result.push_back(std::move(check));
      continue;
    }
    DocumentEntry* own = find_key(same->expectation, "criteria");
    const std::string* more = text_in(check.expectation, "criteria");
    if (own == nullptr || more == nullptr) {
      from.note(check.expectation.line, "a test has one " + check.type + ": the further one is left out");
      continue;
    }
    from.note(check.expectation.line,
              "a test has one rubric: several are joined to one that asks for all of them");
    std::get<std::string>(own->value.value) += "\n" + *more;
    raise_limit(same->expectation, check.expectation);
    same->variables.merge(check.variables);
  }
  return result;
}

}  // namespace sluice
