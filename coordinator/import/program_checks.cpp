#include "coordinator/import/program_checks.hpp"

#include "common/documents/canonical_json.hpp"
#include "common/text/text.hpp"
#include "coordinator/import/bound_checks.hpp"
#include "coordinator/import/foreign_template.hpp"
#include "coordinator/import/ordered_table.hpp"
#include "coordinator/import/value_renderer.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

using Names = std::set<std::string, std::less<>>;

/// The value that is no text; null for one that is.
const DocumentNode* typed_value(const std::string& name, const ImportedTest& test,
                                const ImportedTest& defaults) {
  const ImportedTest& holder = test.vars.contains(name) ? test : defaults;
  const auto found = holder.values.find(name);
  return found != holder.values.end() && has_only_json_values(found->second) ? &found->second : nullptr;
}

/// `user.name` beside the mapping `user`.
bool is_part(const std::string& name, const ImportedTest& test, const ImportedTest& defaults) {
  for (auto dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    const DocumentNode* whole = typed_value(name.substr(0, dot), test, defaults);
    if (whole != nullptr && std::holds_alternative<DocumentNode::Table>(whole->value)) return true;
  }
  return false;
}

/// Texts within a value are templates there as well.
DocumentNode as_templates(DocumentNode node, const Names& known) {
  if (auto* text = std::get_if<std::string>(&node.value)) {
    auto translated =
        has_template(*text) ? translate_template(*text) : TranslatedTemplate{template_of(*text)};
    const bool is_known = translated && std::ranges::all_of(translated->variables, [&](const auto& name) {
                            return known.contains(name);
                          });
    *text = is_known ? std::move(translated->text) : template_of(*text);
  } else if (auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
    for (DocumentNode& one : *list) one = as_templates(std::move(one), known);
  } else if (auto* table = std::get_if<DocumentNode::Table>(&node.value)) {
    for (DocumentEntry& entry : *table) entry.value = as_templates(std::move(entry.value), known);
  }
  return node;
}

/// The variables in all texts below it.
void add_variables_in(const DocumentNode& node, Names& names) {
  if (const auto* text = std::get_if<std::string>(&node.value)) {
    for (const std::string_view name : variables_in(*text)) names.emplace(name);
  } else if (const auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
    for (const DocumentNode& one : *list) add_variables_in(one, names);
  } else if (const auto* table = std::get_if<DocumentNode::Table>(&node.value)) {
    for (const DocumentEntry& entry : *table) add_variables_in(entry.value, names);
  }
}

}  // namespace

bool run_programs(const std::vector<ImportedCheck>& checks) {
  return std::ranges::any_of(
      checks, [](const ImportedCheck& check) { return check.program || run_programs(check.parts); });
}

Names variables_of(const ImportedTest& test, const ImportedTest& defaults) {
  Names names;
  for (const auto& [name, value] : test.vars) names.insert(name);
  if (!test.takes_default_checks) return names;
  for (const auto& [name, value] : defaults.vars) names.insert(name);
  return names;
}

ProgramInput program_input(const ImportedTest& test, const ImportedTest& defaults, bool is_json) {
  const Names names = variables_of(test, defaults);
  Names shown = names;
  for (const ImportedTest* one : {&test, &defaults}) {
    for (const auto& [name, value] : one->json) shown.insert(name);
  }
  OrderedTable vars;
  ProgramInput input;
  for (const std::string& name : names) {
    const DocumentNode* typed = typed_value(name, test, defaults);
    const ImportedTest& holder = test.vars.contains(name) ? test : defaults;
    const std::string& text = holder.vars.find(name)->second;
    input.json.emplace(name, typed != nullptr ? written_json(*typed) : json_string(text));
    if (is_part(name, test, defaults)) continue;
    vars.add(name, typed != nullptr ? as_templates(*typed, shown) : text_node("{{" + name + "}}"));
  }
  input.vars = vars.take();
  input.is_json = is_json;
  return input;
}

void finish_programs(ImportedCheck& check, const ProgramInput& input) {
  for (ImportedCheck& part : check.parts) finish_programs(part, input);
  if (check.program) {
    finish(check, expectation_of(*check.program, input));
    check.variables.clear();  // What stood in the code as JSON is written into it.
    add_variables_in(check.expectation, check.variables);
  }
}

bool answers_are_values(const DocumentNode& input) {
  const DocumentEntry* form = find_entry(input, "response_format");
  return form != nullptr && std::holds_alternative<DocumentNode::Table>(form->value.value);
}

void note_lost_scores(const std::vector<ImportedCheck>& parts, const ImportFile& from) {
  for (const ImportedCheck& part : parts) {
    if (part.program)
      from.with(part.file).change(part.line,
                                  "the check " + part.foreign_type +
                                      " counts as passed or failed towards a \"threshold\"; there the "
                                      "score that it returns counts");
  }
}

}  // namespace sluice
