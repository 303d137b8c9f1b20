#include "coordinator/import/test_assembly.hpp"

#include "common/documents/canonical_json.hpp"
#include "common/text/template.hpp"
#include "coordinator/import/bound_checks.hpp"
#include "coordinator/import/foreign_transform.hpp"
#include "coordinator/import/ordered_table.hpp"
#include "coordinator/import/program_checks.hpp"
#include "coordinator/import/score_names.hpp"
#include "coordinator/import/test_names.hpp"
#include "coordinator/import/test_nodes.hpp"
#include "coordinator/import/test_variables.hpp"
#include "coordinator/import/transformed_checks.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace sluice {
namespace {

using Places = std::set<std::pair<std::string, std::uint32_t>>;  ///< Files and lines.

class TestAssembly {
 public:
  TestAssembly(ImportedTest default_test, std::vector<ImportedTest> tests,
               const std::vector<ImportedPrompt>& prompts, const CommonParts& common, const ImportFile& from)
      : shared_{std::move(default_test), {}},
        tests_(std::move(tests)),
        common_(common),
        from_(from),
        variables_(shared_, prompts, from),
        kept_(from, common.judge),
        names_(from, common.judge) {}

  AssembledTests build() {
    stand_in_for_none();
    const bool has_defaults = default_.lost_checks || !default_.checks.empty();
    for (ImportedTest& test : tests_) test.had_default_checks = has_defaults && test.takes_default_checks;
    take_sets_apart();
    take_transforms(default_, tests_, from_);
    take_transform_of_providers();
    variables_.share(tests_);
    std::erase_if(tests_, [&](ImportedTest& test) { return !variables_.render(test); });
    stand_in_for_none();
    give_out_default_checks();
    kept_.add(default_.checks);
    name_scores();
    for (ImportedTest& test : tests_) {
      variables_.add_missing(test);
    }
    std::vector<CodeFile> code_files = write_code_once();
    share_programs();
    DocumentNode::Array list;
    for (ImportedTest& test : tests_) list.push_back(assembled(test));
    note_lost_to_default();
    variables_.keep_used_by_default();
    return {default_test_node(default_), {std::move(list), 1, {}}, kept_.take(), std::move(code_files)};
  }

 private:
  void stand_in_for_none() {
    if (!tests_.empty()) return;
    from_.change(
        1,
        "no test could be taken over: one without variables stands in \"tests\"; write yours in its place");
    ImportedTest stand_in;
    stand_in.file = from_.name;
    tests_.push_back(std::move(stand_in));
  }

  /// A set is its checks, but where a threshold weighs it.
  void take_sets_apart() {
    default_.checks = with_sets_flat(std::move(default_.checks), from_);
    for (ImportedTest& test : tests_) {
      if (!test.pass_mark) test.checks = with_sets_flat(std::move(test.checks), from_);
    }
  }

  void take_transform_of_providers() {
    if (!common_.transform) return;
    const auto take = [&](ImportedTest& test) {
      take_transform(test, *common_.transform, "the \"transform\" of the providers", from_);
    };
    take(default_);
    std::ranges::for_each(tests_, take);
  }

  /// A check that the values of a test decide stands in each test.
  void give_out_default_checks() {
    std::vector<ImportedCheck> kept;
    for (ImportedCheck& check : default_.checks) {
      if (check.weight) note_weight(check, from_);
      const bool is_for_all = std::ranges::none_of(tests_, [&](const ImportedTest& test) {
        return test.takes_default_checks && depends_on_values(check, variables_.values_for(test));
      });
      if (is_for_all && !needs_values(check))
        kept.push_back(std::move(check));
      else
        shared_.given.push_back(std::move(check));
    }
    default_.checks = std::move(kept);
  }

  void name_scores() {
    default_.checks = names_.of_default(std::move(default_.checks));
    shared_.given = names_.of_default(std::move(shared_.given));
    for (const ImportedTest& test : tests_) names_.learn(test.checks);
  }

  std::vector<CodeFile> write_code_once() {
    CodeFiles files;
    const auto takers = std::ranges::count_if(tests_, &ImportedTest::takes_default_checks);
    files.count(shared_.given, static_cast<std::size_t>(takers));
    for (const ImportedTest& test : tests_) files.count(test.checks, 1);
    files.name_in(shared_.given);
    for (ImportedTest& test : tests_) files.name_in(test.checks);
    return files.take();
  }

  /// A program reads the variables of its test. Where all tests hand over the same, the default test has it.
  void share_programs() {
    std::vector<ImportedCheck> own;
    for (ImportedCheck& check : shared_.given) {
      auto common = common_form(check);
      if (common) kept_.add({*common});
      if (common)
        default_.checks.push_back(std::move(*common));
      else
        own.push_back(std::move(check));
    }
    shared_.given = std::move(own);
  }

  /// A check with programs as each test has it; nothing if they have it differently, or do without a part.
  std::optional<ImportedCheck> common_form(const ImportedCheck& check) const {
    if (!run_programs({check})) return std::nullopt;
    ImportNotes notes;
    const ImportFile apart{from_.files, notes, from_.name, from_.folder};
    std::optional<ImportedCheck> common;
    std::string written;
    for (const ImportedTest& test : tests_) {
      if (!test.takes_default_checks) continue;
      auto form = bound({check}, test, variables_.values_for(test), apart);
      if (form.empty()) return std::nullopt;
      std::string json = canonical_json(form.front().expectation);
      if (common && json != written) return std::nullopt;
      common = std::move(form.front());
      written = std::move(json);
    }
    return notes.take().empty() ? common : std::nullopt;
  }

  /// Missing variables have values by now. When its checks are bound to them, the test keeps what is used.
  DocumentNode assembled(ImportedTest& test) {
    const Variables values = variables_.values_for(test);
    const bool had_checks = !test.checks.empty();
    test.checks = bound(std::move(test.checks), test, values, from_);
    test.lost_checks = test.lost_checks || (had_checks && test.checks.empty());
    group_or_note_weights(test);
    const std::string id = ids_.next(test.name);
    if (test.checks.empty() && test.lost_checks) note_lost_checks(test, id);
    if (test.takes_default_checks)
      std::ranges::move(bound(shared_.given, test, values, from_), std::back_inserter(test.checks));
    kept_.add(test.checks);
    test.checks = names_.of_test(std::move(test.checks));
    if (test.checks.empty() && (default_.checks.empty() || !test.takes_default_checks))
      add_stand_in_check(test, id);
    variables_.keep_used(test);
    return test_node(test, id, default_, common_.input, variables_.are_asked());
  }

  std::vector<ImportedCheck> bound(std::vector<ImportedCheck> checks, const ImportedTest& test,
                                   const Variables& values, const ImportFile& from) const {
    std::vector<ImportedCheck> result;
    const bool has_programs = run_programs(checks);
    const auto input =
        has_programs ? program_input(test, default_, answers_are_values(common_.input)) : ProgramInput();
    for (ImportedCheck& check : checks) {
      if (has_programs) finish_programs(check, input);
      if (auto one = bound_check(std::move(check), values, from)) result.push_back(std::move(*one));
    }
    return result;
  }

  void group_or_note_weights(ImportedTest& test) const {
    if (test.pass_mark) {
      test.checks = in_one_group(std::move(test.checks), *test.pass_mark, file_of(test, from_), test.line);
      const bool has_others = !default_.checks.empty() || !shared_.given.empty();
      if (has_others && test.takes_default_checks)
        note(test, from_, "the checks of the default test must pass beside the \"threshold\" of a test",
             Loss::change);
      return;
    }
    for (const ImportedCheck& check : test.checks) {
      if (check.weight) note_weight(check, from_);
    }
  }

  /// Once for all tests that a list made of one. Those that the default test's transform is for are
  /// counted.
  void note_lost_checks(const ImportedTest& test, const std::string& id) {
    const bool is_judged = test.takes_default_checks && (!default_.checks.empty() || !shared_.given.empty());
    if (!test.transform && default_.transform && !keeps_answer(*default_.transform)) {
      ++(is_judged ? judged_by_default_ : unjudged_);
      return;
    }
    if (!lost_places_.emplace(test.file, test.line).second) return;
    note(test, from_,
         "of the test \"" + id + "\" no check of its own is left: " +
             (is_judged ? "the default test's alone judge it" : "it passes if the answer is not blank"));
  }

  void note_lost_to_default() const {
    const auto of = [](std::size_t count) {
      return count == 1 ? "of 1 test no check of its own is left: "
                        : "of " + std::to_string(count) + " tests no check of their own is left: ";
    };
    if (unjudged_ > 0)
      note(default_, from_,
           of(unjudged_) + (unjudged_ == 1 ? "it passes" : "they pass") + " if the answer is not blank");
    if (judged_by_default_ > 0)
      note(default_, from_,
           of(judged_by_default_) + "the default test's alone judge " +
               (judged_by_default_ == 1 ? "it" : "them"));
  }

  /// One that lost its checks has a tag, by which a run can leave it out.
  void add_stand_in_check(ImportedTest& test, const std::string& id) const {
    if (test.lost_checks || test.had_default_checks) {
      from_.notes.count(test.file, test.line, id, Loss::all_checks);
      test.metadata["unchecked"].emplace_back("unchecked");
      if (!test.lost_checks)
        note(
            test, from_,
            "no check of the default test is left for a test without its own: it passes if the answer is not "
            "blank");
    } else {
      note(test, from_, "a test without a check that a suite has: it passes if the answer is not blank",
           Loss::change);
    }
    OrderedTable check;
    check.add("type", text_node("regex_match")).add("pattern", text_node("\\S"));
    ImportedCheck stand_in;
    finish(stand_in, check.take());
    test.checks.push_back(std::move(stand_in));
  }

  SharedTest shared_;
  ImportedTest& default_ = shared_.test;
  std::vector<ImportedTest> tests_;
  const CommonParts& common_;
  const ImportFile& from_;
  TestVariables variables_;
  KeptChecks kept_;
  ScoreNames names_;
  Places lost_places_{};
  std::size_t unjudged_ = 0;           ///< Tests that the default test's transform leaves without a check,
  std::size_t judged_by_default_ = 0;  ///< and with those of the default test alone.
  TestIds ids_{};
};

}  // namespace

AssembledTests assemble_tests(ImportedTest default_test, std::vector<ImportedTest> tests,
                              const std::vector<ImportedPrompt>& prompts, const CommonParts& common,
                              const ImportFile& from) {
  return TestAssembly(std::move(default_test), std::move(tests), prompts, common, from).build();
}

}  // namespace sluice
