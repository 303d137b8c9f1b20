#include "coordinator/import/promptfoo_checks.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"
#include "coordinator/import/bound_checks.hpp"
#include "coordinator/import/defaults.hpp"
#include "coordinator/import/foreign_environment.hpp"
#include "coordinator/import/foreign_script.hpp"
#include "coordinator/import/foreign_transform.hpp"
#include "coordinator/import/judge_identity.hpp"
#include "coordinator/import/transformed_checks.hpp"
#include "coordinator/suite/expectations/foreign_check.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

namespace sluice {
namespace {

using Reading = CheckSource::Reading;

/// What an assertion may hold; all else is a note.
constexpr std::array<std::string_view, 7> known_keys{"type",        "value", "threshold", "assert",
                                                     "description", "$ref",  "weight"};
constexpr std::string_view program_key = "config";  ///< What one that is a program may hold besides.

bool is_no_number(const DocumentNode& assertion, std::string_view key) {
  const DocumentEntry* entry = find_entry(assertion, key);
  return entry != nullptr && !std::holds_alternative<DocumentNull>(entry->value.value) &&
         !number_in(assertion, key);
}

/// The references that are followed.
struct Way {
  std::vector<const DocumentEntry*> within{};  ///< Each in that before it.
  std::size_t followed = 0;
};

class CheckImporter {
 public:
  CheckImporter(const AssertionTemplates& templates, const ImportFile& from, Way& way)
      : templates_(templates), from_(from), way_(way) {}

  std::vector<ImportedCheck> read(const DocumentNode& assertions) {
    read_list(assertions);
    return std::move(checks_);
  }

 private:
  void read_list(const DocumentNode& assertions) {
    const auto* list = std::get_if<DocumentNode::Array>(&assertions.value);
    if (list == nullptr) return from_.lose(Loss::check, assertions.line, "\"assert\" is no list: left out");
    for (const DocumentNode& one : *list) read_one(one);
  }

  void read_one(const DocumentNode& assertion) {
    if (const std::string* reference = text_in(assertion, "$ref")) return follow(*reference, assertion.line);
    const std::string* type = text_in(assertion, "type");
    if (type == nullptr) return from_.lose(Loss::check, assertion.line, "a check without a type: left out");
    if (number_in(assertion, "weight") == 0.0)
      return from_.note(assertion.line, "the check " + excerpt(*type, defaults::quoted_bytes) +
                                            " has the weight 0, with which it fails no test: left out");
    if (*type == "assert-set") return read_set(assertion);
    ForeignCheck check;
    check.line = assertion.line;
    check.is_negated = type->starts_with("not-");
    check.type = type->substr(check.is_negated ? 4 : 0);
    check.threshold = number_in(assertion, "threshold");
    if (const auto why = why_not_readable(assertion, check.type); !why.empty())
      return leave_out(assertion.line, *type, why);
    ImportedCheck made;
    made.foreign_type = *type;
    made.file = from_.name;
    made.line = assertion.line;
    made.weight = number_in(assertion, "weight");
    note_other_keys(assertion, check.type, made);
    const std::size_t before = checks_.size();
    read_as(std::move(made), assertion, std::move(check));
    const DocumentEntry* transform = find_entry(assertion, "transform");
    if (transform == nullptr || keeps_answer(transform->value) || checks_.size() == before) return;
    ImportedCheck judged = std::move(checks_.back());
    checks_.pop_back();
    if (auto one = check_of_answer(std::move(judged), transform->value, "its \"transform\"", from_))
      checks_.push_back(std::move(*one));
  }

  void read_as(ImportedCheck made, const DocumentNode& assertion, ForeignCheck check) {
    auto script = script_in(assertion, check);
    if (is_program_type(check.type) && !script) return add_program(std::move(made), assertion, check);
    Reading reading = Reading::text;
    if (!read_value(assertion, made.foreign_type, check, reading)) return;
    if (takes_foreign_context(check.type)) check.context = foreign_context;
    if (check.type == "context-faithfulness" || check.type == "context-relevance")
      check.values.clear();  // They compare with no value.
    if (script) {
      if (auto program = read_program(assertion, check.type, check.is_negated, from_))
        made.script = std::make_shared<const ForeignProgram>(std::move(*program));
      check = std::move(*script);
    }
    add(std::move(made), std::move(check), reading);
  }

  /// A script that a check of texts says as well.
  static std::optional<ForeignCheck> script_in(const DocumentNode& assertion, const ForeignCheck& check) {
    const std::string* script = text_in(assertion, "value");
    if (check.type != "javascript" || check.is_negated || script == nullptr) return std::nullopt;
    return check_of_script(*script, check.line);
  }

  void add_program(ImportedCheck made, const DocumentNode& assertion, const ForeignCheck& check) {
    auto program = read_program(assertion, check.type, check.is_negated, from_);
    if (!program) return sluice::leave_out(made, program.error(), from_);
    made.variables = program->variables;
    made.program = std::make_shared<const ForeignProgram>(std::move(*program));
    checks_.push_back(std::move(made));
  }

  static std::string why_not_readable(const DocumentNode& assertion, const std::string& type) {
    if (is_no_number(assertion, "threshold")) return "has a \"threshold\" that is no number";
    if (takes_foreign_context(type) && find_entry(assertion, "contextTransform") != nullptr)
      return "judges by what its \"contextTransform\" finds in the answer, which has no counterpart";
    return is_program_type(type) ? "" : std::string(why_not_taken(type));
  }

  void leave_out(std::uint32_t line, const std::string& type, const std::string& why) {
    ImportedCheck check;
    check.foreign_type = type;
    check.line = line;
    check.file = from_.name;
    sluice::leave_out(check, why, from_);
  }

  void follow(const std::string& reference, std::uint32_t line) {
    constexpr std::string_view start = "#/assertionTemplates/";
    const DocumentEntry* entry = templates_.table != nullptr && reference.starts_with(start)
                                     ? find_entry(*templates_.table, reference.substr(start.size()))
                                     : nullptr;
    const std::string shown = "the check " + json_string(excerpt(reference, defaults::quoted_bytes));
    if (entry == nullptr || find_entry(entry->value, "$ref") != nullptr)
      return from_.lose(Loss::check, line, shown + " is not there: left out");
    if (std::ranges::find(way_.within, entry) != way_.within.end())
      return from_.lose(Loss::check, line, shown + " is a set that holds itself: left out");
    if (way_.within.size() == defaults::max_check_depth || way_.followed == defaults::max_followed_checks)
      return from_.lose(Loss::check, line,
                        shown + " stands more than " + std::to_string(defaults::max_check_depth) +
                            " deep in others, or behind more than " +
                            std::to_string(defaults::max_followed_checks) + " of them: left out");
    ImportFile there = from_.with(templates_.file);
    there.depth = from_.depth;
    CheckImporter importer(templates_, there, way_);
    importer.is_in_group_ = is_in_group_;
    ++way_.followed;
    way_.within.push_back(entry);
    importer.read_one(entry->value);
    way_.within.pop_back();
    std::ranges::move(importer.checks_, std::back_inserter(checks_));
  }

  /// All of a set must pass, unless a threshold says what share (with 0 it always passes).
  void read_set(const DocumentNode& set) {
    ImportedCheck group;
    group.foreign_type = "assert-set";
    group.file = from_.name;
    group.line = set.line;
    note_other_keys(set, group.foreign_type, group);
    const DocumentEntry* held = find_entry(set, "assert");
    if (held == nullptr) return;
    const auto threshold = number_in(set, "threshold");
    group.weight = number_in(set, "weight");
    if (threshold && !(*threshold >= 0 && *threshold <= 1))
      return leave_out(set.line, "assert-set", "has a threshold beyond 0 to 1");
    group.is_set = !threshold;
    if (is_in_group_ && group.is_set) {
      if (group.weight) note_weight(group, from_);
      return read_list(held->value);
    }
    if (is_in_group_)
      return leave_out(set.line, "assert-set", "with a threshold in another such set has no counterpart");
    std::vector<ImportedCheck> outside = std::exchange(checks_, {});
    is_in_group_ = !group.is_set;
    read_list(held->value);
    is_in_group_ = false;
    group.parts = std::exchange(checks_, std::move(outside));
    group.pass_mark = group.is_set ? 1 : *threshold;
    if (group.parts.empty()) return;
    if (make_group(group)) return checks_.push_back(std::move(group));
    if (group.is_set) {
      std::ranges::move(with_sets_flat({std::move(group)}, from_), std::back_inserter(checks_));
      return;
    }
    leave_out(set.line, "assert-set", "with a threshold holds a check by a model, which no group takes");
  }

  void note_other_keys(const DocumentNode& assertion, const std::string& type, ImportedCheck& made) {
    for (const DocumentEntry& entry : std::get<DocumentNode::Table>(assertion.value)) {
      const bool is_read = std::ranges::find(known_keys, entry.key) != known_keys.end() ||
                           (entry.key == program_key && is_program_type(type)) ||
                           (entry.key == "transform" && type != "assert-set");
      const bool is_unread_number =
          (entry.key == "weight" || entry.key == "threshold") && is_no_number(assertion, entry.key);
      if (is_read && !is_unread_number) continue;
      if (entry.key == "provider" && is_rubric(type)) {
        made.grader = entry.value;
        made.judge = identity_of(entry.value, from_);
        continue;
      }
      if (entry.key == "provider" && is_similarity(type)) {
        const DocumentEntry* embedder = find_entry(entry.value, "embedding");
        made.grader = embedder != nullptr ? embedder->value : entry.value;
        made.judge = identity_of_embedder(*made.grader, from_);
        continue;
      }
      const std::string* name = entry.key == "metric" ? text_in(entry.value) : nullptr;
      const bool has_template = name != nullptr && name->find("{{") != std::string::npos;
      const std::string shown =
          "\"" + entry.key + "\" of the check " + excerpt(made.foreign_type, defaults::quoted_bytes);
      if (name != nullptr && may_be_scored(type)) {
        if (!has_template) made.score_name = *name;
        if (has_template)
          from_.note(entry.line, shown + ", " + json_string(excerpt(*name, defaults::quoted_bytes)) +
                                     ", is a template, which the name of a score cannot be: left out");
        continue;
      }
      if (entry.key == rubric_prompt_key) made.rubric_prompt = entry.value;
      if (entry.key == "metric")
        from_.note(entry.line, shown + why_no_name(entry.value) + ": left out");
      else
        from_.change(entry.line, shown + why_left_out(entry.key));
    }
  }

  static std::string why_no_name(const DocumentNode& name) {
    return ", " + json_string(excerpt(scalar_text(name).value_or(""), defaults::quoted_bytes)) +
           ", names a score of several checks, and one that only passes or fails has no name in a suite";
  }

  /// In a group it only passes or fails.
  bool may_be_scored(std::string_view type) const {
    return !is_in_group_ && (is_rubric(type) || type == "similar" || type.starts_with("rouge-"));
  }

  static bool is_rubric(std::string_view type) {
    constexpr std::array<std::string_view, 9> types{"llm-rubric",
                                                    "g-eval",
                                                    "model-graded-closedqa",
                                                    "answer-relevance",
                                                    "context-faithfulness",
                                                    "context-recall",
                                                    "context-relevance",
                                                    "factuality",
                                                    "model-graded-factuality"};
    return std::ranges::find(types, type) != types.end();
  }

  static bool is_similarity(std::string_view type) {
    return type == "similar" || type.starts_with("similar:");
  }

  static bool is_schema(const ForeignCheck& check) {
    return check.type == "is-json" || check.type == "contains-json";
  }

  /// False if the value cannot be had, which is a note.
  bool read_value(const DocumentNode& assertion, const std::string& type, ForeignCheck& check,
                  Reading& reading) {
    const DocumentEntry* entry = find_entry(assertion, "value");
    if (entry == nullptr) return true;
    const std::string* text = text_in(entry->value);
    if (text != nullptr && text->starts_with("file://"))
      return read_value_file(*text, type, entry->line, check, reading);
    return take_value(entry->value, type, entry->line, check, reading);
  }

  bool take_value(const DocumentNode& value, const std::string& type, std::uint32_t line, ForeignCheck& check,
                  Reading& reading) {
    if (auto text = scalar_text(value)) {
      take_text(std::move(*text), check, reading);
      return true;
    }
    const auto* list = std::get_if<DocumentNode::Array>(&value.value);
    const bool is_read_whole = is_schema(check) || check.type == "word-count";
    if (check.type == "equals" || (is_read_whole && list == nullptr)) {
      check.schema = value;
      return true;
    }
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

  static void take_text(std::string text, ForeignCheck& check, Reading& reading) {
    if (is_schema(check)) reading = Reading::schema;
    if (takes_foreign_list(check.type)) reading = Reading::list;
    check.values.push_back(std::move(text));
  }

  bool read_value_file(const std::string& reference, const std::string& type, std::uint32_t line,
                       ForeignCheck& check, Reading& reading) {
    const std::string name = referenced_file(reference, from_.files);
    if (is_code_file(name)) {
      leave_out(line, type, "takes its value from a program, which has no counterpart");
      return false;
    }
    const std::string extension = extension_of(name);
    if (extension == ".json" || extension == ".yaml" || extension == ".yml") {
      const auto value = read_document(name, from_, line, Loss::check);
      return value && take_value(*value, type, line, check, reading);
    }
    const auto text = read_text_file(name, from_, line, Loss::check);
    if (text) take_text(with_environment(trimmed(*text), from_.with(name)), check, reading);
    return text.has_value();
  }

  void add(ImportedCheck made, ForeignCheck check, Reading reading) {
    auto source = check_source(std::move(check), reading);
    if (!source) return sluice::leave_out(made, source.error(), from_);
    const auto finished = finish(made, std::move(*source));
    if (!finished) return sluice::leave_out(made, finished.error(), from_);
    checks_.push_back(std::move(made));
  }

  const AssertionTemplates& templates_;
  const ImportFile& from_;
  Way& way_;
  std::vector<ImportedCheck> checks_;
  bool is_in_group_ = false;  ///< In a set with a threshold.
};

}  // namespace

std::string why_left_out(std::string_view key) {
  if (key != rubric_prompt_key) return " has no counterpart: left out";
  return " is left out: sluice asks judges by rubrics of its own; to ask by this one, write it as a rubric "
         "(\"rubrics\" of a suite, docs/judges.md)";
}

void leave_out(const ImportedCheck& check, const std::string& why, const ImportFile& from) {
  from.with(check.file)
      .lose(Loss::check, check.line,
            "the check " + excerpt(check.foreign_type, defaults::quoted_bytes) + " " + why + ": left out");
}

std::vector<ImportedCheck> import_checks(const DocumentNode& assertions, const AssertionTemplates& templates,
                                         const ImportFile& from) {
  Way way;
  return CheckImporter(templates, from, way).read(assertions);
}

}  // namespace sluice
