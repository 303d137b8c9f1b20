#include "coordinator/import/test_variables.hpp"

#include "coordinator/import/foreign_template.hpp"
#include "coordinator/import/program_checks.hpp"
#include "coordinator/import/test_names.hpp"
#include "coordinator/import/value_renderer.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

using Names = std::set<std::string, std::less<>>;

void add_names(const Names& names, Names& to) {
  to.insert(names.begin(), names.end());
}

void add_json_names(const ImportedCheck& check, Names& to) {
  if (check.source) add_names(check.source->json_variables, to);
  if (check.program) add_names(check.program->json_variables, to);
  for (const ImportedCheck& part : check.parts) add_json_names(part, to);
}

}  // namespace

TestVariables::TestVariables(SharedTest& shared, const std::vector<ImportedPrompt>& prompts,
                             const ImportFile& from)
    : default_(shared.test), given_(shared.given), prompts_(prompts), from_(from) {}

void TestVariables::share(std::vector<ImportedTest>& tests) {
  find_names(tests);
  default_values_ = default_.vars;
  default_lists_ = default_.lists;
  show_lists(default_);
  for (ImportedTest& test : tests) take_values_of_default(test);
  std::erase_if(default_.vars,
                [&](const auto& one) { return has_template(one.second) && anywhere_.contains(one.first); });
}

void TestVariables::find_names(const std::vector<ImportedTest>& tests) {
  default_runs_programs_ = run_programs(default_.checks);
  for (const ImportedTest& test : tests) {
    if (!reads_all(test)) continue;
    for (const ImportedTest* one : {&test, &std::as_const(default_)}) {
      for (const auto& [name, value] : one->vars) anywhere_.insert(name);
    }
  }
  for (const ImportedPrompt& prompt : prompts_) {
    add_names(prompt.variables, asked_);
    add_names(prompt.json_variables, json_);
  }
  add_names(asked_, anywhere_);
  const auto add = [&](const ImportedTest& test) {
    for (const ImportedCheck& check : test.checks) {
      add_names(check.variables, anywhere_);
      add_json_names(check, json_);
    }
    const auto add_shown = [&](const std::string& text) {
      const auto translated = has_template(text) ? translate_template(text) : TranslatedTemplate();
      if (translated) add_names(translated->variables, anywhere_);
    };
    add_shown(test.name);
    for (const auto& [name, value] : test.vars) add_shown(value);
  };
  add(default_);
  std::ranges::for_each(tests, add);
}

void TestVariables::take_values_of_default(ImportedTest& test) {
  if (default_.checks.empty()) test.takes_default_checks = true;
  for (const auto& [name, value] : default_values_) {
    const bool is_own = !test.takes_default_checks || has_template(value);
    if (!is_own || !anywhere_.contains(name)) continue;
    const bool is_new = test.vars.emplace(name, value).second;
    const auto typed = default_.values.find(name);
    if (is_new && typed != default_.values.end()) test.values.insert(*typed);
    const auto list = default_lists_.find(name);
    if (is_new && list != default_lists_.end()) test.lists.insert(*list);
  }
}

bool TestVariables::reads_all(const ImportedTest& test) const {
  return run_programs(test.checks) || (test.takes_default_checks && default_runs_programs_);
}

Names TestVariables::shown_by(const ImportedTest& test) const {
  Names shown = asked_;
  const auto add = [&](const std::vector<ImportedCheck>& checks) {
    for (const ImportedCheck& check : checks) add_names(check.variables, shown);
  };
  add(test.checks);
  if (test.takes_default_checks) add(default_.checks);
  if (test.takes_default_checks) add(given_);
  if (reads_all(test)) add_names(variables_of(test, default_), shown);
  return shown;
}

bool TestVariables::render(ImportedTest& test) const {
  const Names shown = shown_by(test);
  const auto holds_template = [&](const auto& held) {
    return shown.contains(held.first) && has_template(held.second);
  };
  // Most tests have none, and their default test may have large values.
  if (std::ranges::none_of(test.vars, holds_template) && std::ranges::none_of(test.lists, holds_template)) {
    show_lists(test);
    return true;
  }
  Variables values = test.vars;
  values.insert(default_values_.begin(), default_values_.end());
  Variables lists = test.lists;
  for (const auto& list : default_lists_) {
    if (!test.vars.contains(list.first)) lists.insert(list);
  }
  ValueRenderer renderer(std::move(values), std::move(lists));
  show_lists(test);
  for (const std::string& name : shown) {
    for (Variables* held : {&test.vars, &test.lists}) {
      const auto found = held->find(name);
      if (found == held->end()) continue;
      auto text = renderer.rendered(name, found->second);
      if (!text) note(test, from_, text.error() + ": the test is left out", Loss::test);
      if (!text) return false;
      found->second = std::move(*text);
    }
  }
  for (const std::string& name : renderer.missing())
    note(test, from_, "the variable \"" + name + "\" has no value: it is empty");
  return true;
}

Variables TestVariables::values_for(const ImportedTest& test) const {
  Variables values(test.lists.begin(), test.lists.end());
  values.insert(test.vars.begin(), test.vars.end());
  values.insert(default_.lists.begin(), default_.lists.end());
  values.insert(default_.vars.begin(), default_.vars.end());
  return values;
}

void TestVariables::show_lists(ImportedTest& test) const {
  std::erase_if(test.lists, [&](const auto& list) {
    if (json_.contains(list.first)) return false;
    test.vars.insert_or_assign(list.first, list.second);
    return true;
  });
}

void TestVariables::fill_name(ImportedTest& test) const {
  if (!has_template(test.name)) return;
  Variables values = test.vars;
  values.insert(default_values_.begin(), default_values_.end());
  Variables lists = test.lists;
  for (const auto& list : default_lists_) {
    if (!test.vars.contains(list.first)) lists.insert(list);
  }
  test.name = filled_name(test.name, std::move(values), std::move(lists));
}

void TestVariables::add_missing(ImportedTest& test) const {
  for (const std::string& name : shown_by(test)) {
    if (test.vars.contains(name) || default_.vars.contains(name)) continue;
    // A prompt may not be empty.
    const std::string alone = "{{" + name + "}}";
    const bool is_whole_prompt = std::ranges::any_of(prompts_, [&](const ImportedPrompt& prompt) {
      return prompt.prompt == alone ||
             std::ranges::find(prompt.messages, alone, &ImportedMessage::content) != prompt.messages.end();
    });
    note(test, from_,
         "the variable \"" + name + "\" has no value: it is " + (is_whole_prompt ? "a blank" : "empty"));
    test.vars.emplace(name, is_whole_prompt ? " " : "");
  }
}

void TestVariables::keep_used(ImportedTest& test) {
  Names used = asked_;
  const auto add = [&](const std::vector<ImportedCheck>& checks) {
    for (const ImportedCheck& check : checks) add_names(check.variables, used);
  };
  add(test.checks);
  if (test.takes_default_checks) add(default_.checks);
  keep(test, used);
  add_names(used, used_);
}

void TestVariables::keep(ImportedTest& test, const Names& used) const {
  for (const auto& [name, value] : test.vars) {
    if (is_lost(name, test))
      note(test, from_, "the variable \"" + name + "\" is used by no prompt and no check: left out");
  }
  std::erase_if(test.vars, [&](const auto& one) { return !used.contains(one.first); });
}

bool TestVariables::is_lost(const std::string& name, const ImportedTest& test) const {
  if (anywhere_.contains(name) || has_used_part(name)) return false;
  for (auto dot = name.rfind('.'); dot != std::string::npos && dot > 0; dot = name.rfind('.', dot - 1)) {
    const std::string mapping = name.substr(0, dot);
    if (anywhere_.contains(mapping)) return false;
    if (test.vars.contains(mapping) && !has_used_part(mapping)) return false;
  }
  return true;
}

bool TestVariables::has_used_part(const std::string& mapping) const {
  return std::ranges::any_of(anywhere_,
                             [&](const std::string& name) { return name.starts_with(mapping + "."); });
}

}  // namespace sluice
