#include "coordinator/import/test_variables.hpp"

#include "coordinator/import/foreign_template.hpp"
#include "coordinator/import/program_checks.hpp"
#include "coordinator/import/test_names.hpp"

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
  show_values(default_);
  for (ImportedTest& test : tests) take_values_of_default(test);
  std::erase_if(default_.json, [](const auto& one) { return has_template(one.second); });
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
      if (!translated) return;
      add_names(translated->variables, anywhere_);
      add_names(translated->json_variables, json_);
    };
    add_shown(test.name);
    for (const auto& [name, value] : test.vars) add_shown(value);
  };
  add(default_);
  std::ranges::for_each(tests, add);
  add_names(json_, anywhere_);
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
  for (const ImportedPrompt& prompt : prompts_) add_names(prompt.json_variables, shown);
  const auto add = [&](const std::vector<ImportedCheck>& checks) {
    for (const ImportedCheck& check : checks) {
      add_names(check.variables, shown);
      add_json_names(check, shown);
    }
  };
  add(test.checks);
  if (test.takes_default_checks) add(default_.checks);
  if (test.takes_default_checks) add(given_);
  if (reads_all(test)) add_names(variables_of(test, default_), shown);
  return shown;
}

bool TestVariables::render(ImportedTest& test) const {
  if (has_template(test.name)) test.name = filled_name(test.name, renderer_for(test));
  const Names shown = shown_by(test);
  const auto holds_template = [&](const auto& held) {
    return shown.contains(held.first) && has_template(held.second);
  };
  // Most tests have none, and their default test may have large values.
  if (std::ranges::none_of(test.vars, holds_template) && std::ranges::none_of(test.lists, holds_template)) {
    show_values(test);
    return true;
  }
  ValueRenderer renderer = renderer_for(test);
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
  show_values(test);
  return true;
}

ValueRenderer TestVariables::renderer_for(const ImportedTest& test) const {
  Variables values = test.vars;
  values.insert(default_values_.begin(), default_values_.end());
  Variables lists = test.lists;
  for (const auto& list : default_lists_) {
    if (!test.vars.contains(list.first)) lists.insert(list);
  }
  Names typed;
  for (const auto& [name, value] : test.values) typed.insert(name);
  for (const auto& [name, value] : default_.values) {
    if (!test.vars.contains(name)) typed.insert(name);
  }
  return {std::move(values), std::move(lists), std::move(typed)};
}

Variables TestVariables::values_for(const ImportedTest& test) const {
  Variables values = test.json;
  values.insert(test.vars.begin(), test.vars.end());
  values.insert(default_.json.begin(), default_.json.end());
  values.insert(default_.vars.begin(), default_.vars.end());
  return values;
}

void TestVariables::show_values(ImportedTest& test) const {
  for (const std::string& name : json_) {
    const auto value = test.vars.find(name);
    if (value == test.vars.end()) continue;
    const std::string own = json_name(name);
    if (test.vars.contains(own))
      note(test, from_,
           "the variable \"" + own + "\" has the name of what the suite has as the JSON of \"" + name +
               "\", which stands in its place: give it another name",
           Loss::change);
    test.json.insert_or_assign(own, json_of_value(value->second, !test.values.contains(name)));
  }
  for (auto& [name, shown] : test.lists) test.vars.insert_or_assign(name, std::move(shown));
  test.lists.clear();
}

void TestVariables::add_missing(ImportedTest& test) const {
  for (const std::string& name : shown_by(test)) {
    const auto has_one = [&](const ImportedTest& one) {
      return one.vars.contains(name) || one.json.contains(name);
    };
    if (has_one(test) || has_one(default_)) continue;
    // A prompt may not be empty.
    const auto is_all_of = [&](const ImportedPrompt& prompt, const std::string& shown) {
      const std::string alone = "{{" + shown + "}}";
      return prompt.prompt == alone ||
             std::ranges::find(prompt.messages, alone, &ImportedMessage::content) != prompt.messages.end();
    };
    const bool is_whole_prompt = std::ranges::any_of(prompts_, [&](const ImportedPrompt& prompt) {
      return is_all_of(prompt, name) || is_all_of(prompt, json_name(name));
    });
    note(test, from_,
         "the variable \"" + name + "\" has no value: it is " + (is_whole_prompt ? "a blank" : "empty"));
    test.vars.emplace(name, is_whole_prompt ? " " : "");
    // Behind it in the order of names.
    if (json_.contains(name)) test.json.emplace(json_name(name), is_whole_prompt ? " " : "");
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
  for (const auto& [name, value] : test.json) test.vars.insert_or_assign(name, value);
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
