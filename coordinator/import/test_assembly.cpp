#include "coordinator/import/test_assembly.hpp"

#include "common/defaults.hpp"
#include "common/documents/canonical_json.hpp"
#include "common/model/metrics.hpp"
#include "common/text/template.hpp"
#include "common/text/text.hpp"
#include "coordinator/import/bound_checks.hpp"
#include "coordinator/import/defaults.hpp"
#include "coordinator/import/foreign_template.hpp"
#include "coordinator/import/ordered_table.hpp"
#include "coordinator/import/program_checks.hpp"
#include "coordinator/import/test_names.hpp"
#include "coordinator/import/value_renderer.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace sluice {
namespace {

using Names = std::set<std::string, std::less<>>;
using Places = std::set<std::pair<std::string, std::uint32_t>>;  ///< Files and lines.

void add_names(const Names& names, Names& to) {
  to.insert(names.begin(), names.end());
}

void add_json_names(const ImportedCheck& check, Names& to) {
  if (check.source) add_names(check.source->json_variables, to);
  if (check.program) add_names(check.program->json_variables, to);
  for (const ImportedCheck& part : check.parts) add_json_names(part, to);
}

bool reads_answer(const ImportedCheck& check) {
  const MetricInfo* metric = find_metric(check.type);
  if (metric == nullptr) return true;
  const MetricId id = positive(metric->id);
  return id != MetricId::latency && id != MetricId::cost;
}

class TestAssembly {
 public:
  TestAssembly(ImportedTest default_test, std::vector<ImportedTest> tests,
               const std::vector<ImportedPrompt>& prompts, const DocumentNode& input, const ImportFile& from)
      : default_(std::move(default_test)),
        tests_(std::move(tests)),
        prompts_(prompts),
        input_(input),
        from_(from) {}

  AssembledTests build() {
    stand_in_for_none();
    take_sets_apart();
    leave_out_transformed();
    find_names();
    default_values_ = default_.vars;
    default_lists_ = default_.lists;
    show_lists(default_);
    for (ImportedTest& test : tests_) take_values_of_default(test);
    std::erase_if(default_.vars,
                  [&](const auto& one) { return has_template(one.second) && anywhere_.contains(one.first); });
    std::erase_if(tests_, [&](ImportedTest& test) { return !render_values(test); });
    stand_in_for_none();
    give_out_default_checks();
    note_kept(default_.checks);
    default_.checks = with_one_of_each_score(std::move(default_.checks), from_);
    for (const ImportedCheck& check : default_.checks) add_names(check.variables, checked_);
    DocumentNode::Array list;
    for (ImportedTest& test : tests_) list.push_back(assembled(test));
    note_lost_to_default();
    keep_used(default_, used_);
    settle_grader();
    made_.tests = {std::move(list), 1, {}};
    made_.default_test = default_test();
    return std::move(made_);
  }

 private:
  void note(const ImportedTest& test, std::string message, Loss loss = Loss::none) const {
    from_.with(test.file.empty() ? from_.name : test.file).lose(loss, test.line, std::move(message));
  }

  void stand_in_for_none() {
    if (!tests_.empty()) return;
    from_.note(
        1,
        "no test could be taken over: one without variables stands in \"tests\"; write yours in its place");
    ImportedTest stand_in;
    stand_in.file = from_.name;
    tests_.push_back(std::move(stand_in));
  }

  /// A set is its checks, but where a threshold weighs it. There a threshold of 0 is none.
  void take_sets_apart() {
    default_.checks = with_sets_flat(std::move(default_.checks), from_);
    for (ImportedTest& test : tests_) {
      if (test.pass_mark == 0) test.pass_mark.reset();
      if (!test.pass_mark) test.checks = with_sets_flat(std::move(test.checks), from_);
    }
  }

  /// What a program makes of an answer is judged by no check of the answer. Those of the default test stand
  /// in the tests that its program is not for.
  void leave_out_transformed() {
    std::vector<ImportedCheck> of_answers;
    if (default_.changes_answer.value_or(false)) {
      std::ranges::copy_if(default_.checks, std::back_inserter(of_answers), reads_answer);
      std::erase_if(default_.checks, reads_answer);
    }
    for (ImportedTest& test : tests_) {
      if (!test.changes_answer.value_or(default_.changes_answer.value_or(false))) {
        if (test.takes_default_checks) std::ranges::copy(of_answers, std::back_inserter(test.checks));
        continue;
      }
      const auto lost = std::erase_if(test.checks, reads_answer);
      test.lost_checks = test.lost_checks || lost > 0;
      const bool keeps_default = !std::ranges::any_of(default_.checks, reads_answer);
      test.takes_default_checks = test.takes_default_checks && keeps_default;
    }
  }

  void find_names() {
    default_runs_programs_ = run_programs(default_.checks);
    for (const ImportedTest& test : tests_) {
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
    std::ranges::for_each(tests_, add);
  }

  /// Those that this test has to have itself: values that may show variables of its own, and all of them
  /// where the default test is not for it.
  void take_values_of_default(ImportedTest& test) {
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

  /// A program gets all variables of its test.
  bool reads_all(const ImportedTest& test) const {
    return run_programs(test.checks) || (test.takes_default_checks && default_runs_programs_);
  }

  /// What the prompts and the checks of a test show.
  Names shown_by(const ImportedTest& test) const {
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

  /// Templates in values are rendered there too. False if one cannot be: nothing that looks like a template
  /// is sent.
  bool render_values(ImportedTest& test) const {
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
        if (!text) note(test, text.error() + ": the test is left out", Loss::test);
        if (!text) return false;
        found->second = std::move(*text);
      }
    }
    for (const std::string& name : renderer.missing())
      note(test, "the variable \"" + name + "\" has no value: it is empty");
    return true;
  }

  /// The values as a template shows them.
  Variables values_for(const ImportedTest& test) const {
    Variables values(test.lists.begin(), test.lists.end());
    values.insert(test.vars.begin(), test.vars.end());
    values.insert(default_.lists.begin(), default_.lists.end());
    values.insert(default_.vars.begin(), default_.vars.end());
    return values;
  }

  /// A list is JSON where a filter makes it that; one variable cannot be both.
  void show_lists(ImportedTest& test) const {
    std::erase_if(test.lists, [&](const auto& list) {
      if (json_.contains(list.first)) return false;
      test.vars.insert_or_assign(list.first, list.second);
      return true;
    });
  }

  /// A check that the values of a test decide stands in each test.
  void give_out_default_checks() {
    std::vector<ImportedCheck> kept;
    for (ImportedCheck& check : default_.checks) {
      if (check.weight) note_weight(check, from_);
      const bool is_for_all = std::ranges::none_of(tests_, [&](const ImportedTest& test) {
        return test.takes_default_checks && depends_on_values(check, values_for(test));
      });
      if (is_for_all && !needs_values(check))
        kept.push_back(std::move(check));
      else
        given_.push_back(std::move(check));
    }
    default_.checks = std::move(kept);
  }

  /// The order matters: what is missing has a value before checks are bound to the values, and after that
  /// the test keeps what is still used.
  DocumentNode assembled(ImportedTest& test) {
    fill_name(test);
    add_missing_values(test);
    const Variables values = values_for(test);
    const bool had_checks = !test.checks.empty();
    test.checks = bound(std::move(test.checks), test, values);
    test.lost_checks = test.lost_checks || (had_checks && test.checks.empty());
    group_or_note_weights(test);
    const std::string id = ids_.next(test.name);
    if (test.checks.empty() && test.lost_checks) note_lost_checks(test, id);
    if (test.takes_default_checks)
      std::ranges::move(bound(given_, test, values), std::back_inserter(test.checks));
    note_kept(test.checks);
    join_scores(test);
    if (test.checks.empty() && (default_.checks.empty() || !test.takes_default_checks))
      add_stand_in_check(test, id);
    Names used = asked_;
    if (test.takes_default_checks) add_names(checked_, used);
    for (const ImportedCheck& check : test.checks) add_names(check.variables, used);
    keep_used(test, used);
    add_names(used, used_);
    return test_node(test, id);
  }

  /// Before variables that it has no other use for are gone.
  void fill_name(ImportedTest& test) const {
    if (!has_template(test.name)) return;
    Variables values = test.vars;
    values.insert(default_values_.begin(), default_values_.end());
    Variables lists = test.lists;
    for (const auto& list : default_lists_) {
      if (!test.vars.contains(list.first)) lists.insert(list);
    }
    test.name = filled_name(test.name, std::move(values), std::move(lists));
  }

  std::vector<ImportedCheck> bound(std::vector<ImportedCheck> checks, const ImportedTest& test,
                                   const Variables& values) const {
    std::vector<ImportedCheck> result;
    const bool has_programs = run_programs(checks);
    const auto input =
        has_programs ? program_input(test, default_, answers_are_values(input_)) : ProgramInput();
    for (ImportedCheck& check : checks) {
      if (has_programs) finish_programs(check, input);
      if (auto one = bound_check(std::move(check), values, from_)) result.push_back(std::move(*one));
    }
    return result;
  }

  void group_or_note_weights(ImportedTest& test) const {
    if (test.pass_mark) {
      test.checks = in_one_group(std::move(test.checks), *test.pass_mark,
                                 from_.with(test.file.empty() ? from_.name : test.file), test.line);
      const bool has_others = !default_.checks.empty() || !given_.empty();
      if (has_others && test.takes_default_checks)
        note(test, "the checks of the default test must pass beside the \"threshold\" of a test");
      return;
    }
    for (const ImportedCheck& check : test.checks) {
      if (check.weight) note_weight(check, from_);
    }
  }

  void add_missing_values(ImportedTest& test) const {
    for (const std::string& name : shown_by(test)) {
      if (test.vars.contains(name) || default_.vars.contains(name)) continue;
      // A prompt may not be empty.
      const std::string alone = "{{" + name + "}}";
      const bool is_whole_prompt = std::ranges::any_of(prompts_, [&](const ImportedPrompt& prompt) {
        return prompt.prompt == alone ||
               std::ranges::find(prompt.messages, alone, &ImportedMessage::content) != prompt.messages.end();
      });
      note(test,
           "the variable \"" + name + "\" has no value: it is " + (is_whole_prompt ? "a blank" : "empty"));
      test.vars.emplace(name, is_whole_prompt ? " " : "");
    }
  }

  void keep_used(ImportedTest& test, const Names& used) {
    for (const auto& [name, value] : test.vars) {
      if (is_lost(name, test))
        note(test, "the variable \"" + name + "\" is used by no prompt and no check: left out");
    }
    std::erase_if(test.vars, [&](const auto& one) { return !used.contains(one.first); });
  }

  /// Nothing shows it, neither whole nor in part nor in the mapping that it is a part of. Of a mapping that
  /// is lost the parts are not named.
  bool is_lost(const std::string& name, const ImportedTest& test) const {
    if (anywhere_.contains(name) || has_used_part(name)) return false;
    for (auto dot = name.rfind('.'); dot != std::string::npos && dot > 0; dot = name.rfind('.', dot - 1)) {
      const std::string mapping = name.substr(0, dot);
      if (anywhere_.contains(mapping)) return false;
      if (test.vars.contains(mapping) && !has_used_part(mapping)) return false;
    }
    return true;
  }

  bool has_used_part(const std::string& mapping) const {
    return std::ranges::any_of(anywhere_,
                               [&](const std::string& name) { return name.starts_with(mapping + "."); });
  }

  /// Of a score that both have a suite takes the test's own alone.
  void join_scores(ImportedTest& test) const {
    std::vector<ImportedCheck> both = test.checks;
    for (const ImportedCheck& check : default_.checks) {
      const bool is_shared =
          check.is_scored && test.takes_default_checks &&
          std::ranges::any_of(test.checks, [&](const ImportedCheck& own) { return own.type == check.type; });
      if (is_shared) both.push_back(check);
    }
    test.checks = with_one_of_each_score(std::move(both), from_);
  }

  /// Of checks that are kept: what they let pass, and what they need of a run.
  void note_kept(const std::vector<ImportedCheck>& checks) {
    for (const ImportedCheck& check : checks) {
      note_kept(check.parts);
      if (check.program) ++made_.programs[check.program->language];
      note_lost_scores(check.parts, from_);
      if (!check.leniency.empty()) {
        from_.with(check.file)
            .note(check.line,
                  "the check " + excerpt(check.foreign_type, defaults::quoted_bytes) + " " + check.leniency);
      }
      const MetricInfo* metric = find_metric(check.type);
      if (metric == nullptr) continue;
      const MetricId id = positive(metric->id);
      const bool is_own = check.file == from_.name;
      if (id == MetricId::latency && !made_.timed_line) made_.timed_line = is_own ? check.line : 1;
      made_.is_priced = made_.is_priced || id == MetricId::cost;
      made_.is_embedded = made_.is_embedded || id == MetricId::semantic_similarity_to;
      if (!is_judge_metric(id)) continue;
      made_.is_judged = true;
      if (!made_.grader) made_.grader = check.grader;
      graded_[check.grader ? canonical_json(*check.grader) : std::string()].emplace(check.file, check.line);
    }
  }

  /// A suite has one judge.
  void settle_grader() {
    if (graded_.size() < 2) return;
    made_.grader.reset();
    for (const auto& [grader, places] : graded_) {
      for (const auto& [file, line] : places) {
        if (!grader.empty())
          from_.with(file).note(line,
                                "the \"provider\" of a check is not that of all checks which a model judges, "
                                "and a suite has one judge: left out");
      }
    }
  }

  /// Once for all tests that a list made of one. Those that the default test's transform is for are
  /// counted.
  void note_lost_checks(const ImportedTest& test, const std::string& id) {
    const bool is_judged = test.takes_default_checks && (!default_.checks.empty() || !given_.empty());
    if (!test.changes_answer && default_.changes_answer.value_or(false)) {
      ++(is_judged ? judged_by_default_ : unjudged_);
      return;
    }
    if (!lost_places_.emplace(test.file, test.line).second) return;
    note(test,
         "of the test \"" + id + "\" no check of its own is left: " +
             (is_judged ? "the default test's alone judge it" : "it passes if the answer is not blank"));
  }

  void note_lost_to_default() const {
    const auto of = [](std::size_t count) {
      return count == 1 ? "of 1 test no check of its own is left: "
                        : "of " + std::to_string(count) + " tests no check of their own is left: ";
    };
    if (unjudged_ > 0)
      note(default_,
           of(unjudged_) + (unjudged_ == 1 ? "it passes" : "they pass") + " if the answer is not blank");
    if (judged_by_default_ > 0)
      note(default_, of(judged_by_default_) + "the default test's alone judge " +
                         (judged_by_default_ == 1 ? "it" : "them"));
  }

  /// One that lost its checks has a tag, by which a run can leave it out.
  void add_stand_in_check(ImportedTest& test, const std::string& id) const {
    if (test.lost_checks) {
      from_.notes.count(test.file, test.line, id, Loss::all_checks);
      test.metadata["unchecked"].emplace_back("unchecked");
    } else {
      note(test, "a test without a check that a suite has: it passes if the answer is not blank");
    }
    OrderedTable check;
    check.add("type", text_of("regex_match")).add("pattern", text_of("\\S"));
    ImportedCheck stand_in;
    finish(stand_in, check.take());
    test.checks.push_back(std::move(stand_in));
  }

  DocumentNode test_node(const ImportedTest& test, const std::string& id) const {
    OrderedTable node;
    node.add("id", text_of(id));
    if (!one_line(test.name).empty()) node.add("name", text_of(one_line(test.name)));
    add_tags(test, node);
    if (!test.takes_default_checks && !default_.checks.empty()) node.add("default_test", {false, 1, {}});
    // Without any a suite fills in no parameters.
    if (!test.vars.empty() || !asked_.empty() || run_programs(test.checks)) node.add("vars", vars(test));
    if (!std::get<DocumentNode::Table>(input_.value).empty()) node.add("input", input_);
    if (!test.checks.empty()) node.add("expected", expected(test.checks));
    return node.take();
  }

  void add_tags(const ImportedTest& test, OrderedTable& node) const {
    auto metadata = test.metadata;
    metadata.insert(default_.metadata.begin(), default_.metadata.end());
    DocumentNode::Array tags;
    std::set<std::string_view> known;
    for (const auto& [key, texts] : metadata) {
      for (const std::string& text : texts) {
        if (known.insert(text).second) tags.push_back(text_of(text));
      }
    }
    if (!tags.empty()) node.add("tags", {std::move(tags), 1, {}});
  }

  static DocumentNode vars(const ImportedTest& test) {
    OrderedTable node;
    for (const auto& [name, value] : test.vars) node.add(name, text_of(value));
    return node.take();
  }

  static DocumentNode expected(const std::vector<ImportedCheck>& checks) {
    DocumentNode::Array list;
    for (const ImportedCheck& check : checks) list.push_back(check.expectation);
    return {std::move(list), 1, {}};
  }

  DocumentNode default_test() const {
    OrderedTable node;
    if (!default_.vars.empty()) node.add("vars", vars(default_));
    if (!default_.checks.empty()) node.add("expected", expected(default_.checks));
    return node.take();
  }

  ImportedTest default_;
  std::vector<ImportedTest> tests_;
  const std::vector<ImportedPrompt>& prompts_;
  const DocumentNode& input_;
  const ImportFile& from_;
  AssembledTests made_{};
  std::vector<ImportedCheck> given_;      ///< Checks of the default test that each test has itself.
  Names asked_;                           ///< What prompts use,
  Names checked_;                         ///< and the default test's checks.
  Names anywhere_;                        ///< What any test's checks and values use besides.
  Names used_;                            ///< What is used in the end.
  Names json_;                            ///< What prompts and checks show as JSON.
  Variables default_values_{};            ///< Of the default test, its lists as JSON,
  Variables default_lists_{};             ///< and as they are shown without a filter.
  std::map<std::string, Places> graded_;  ///< Where checks are that a model judges, by the judge.
  Places lost_places_;
  std::size_t unjudged_ = 0;           ///< Tests that the default test's transform leaves without a check,
  std::size_t judged_by_default_ = 0;  ///< and with those of the default test alone.
  TestIds ids_;
  bool default_runs_programs_ = false;
};

}  // namespace

AssembledTests assemble_tests(ImportedTest default_test, std::vector<ImportedTest> tests,
                              const std::vector<ImportedPrompt>& prompts, const DocumentNode& input,
                              const ImportFile& from) {
  return TestAssembly(std::move(default_test), std::move(tests), prompts, input, from).build();
}

}  // namespace sluice
