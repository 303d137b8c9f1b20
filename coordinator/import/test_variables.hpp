#pragma once

#include "common/text/template.hpp"
#include "coordinator/import/import_source.hpp"
#include "coordinator/import/promptfoo_checks.hpp"
#include "coordinator/import/promptfoo_prompts.hpp"
#include "coordinator/import/promptfoo_tests.hpp"
#include "coordinator/import/value_renderer.hpp"

#include <set>
#include <string>
#include <vector>

namespace sluice {

/// The default test as a suite has it, and the checks of it that each test has itself.
struct SharedTest {
  ImportedTest test;
  std::vector<ImportedCheck> given{};
};

/// Gives tests the variables that their prompts and checks show, and leaves out all others. The methods are
/// called in the order in which they stand.
class TestVariables {
 public:
  /// REQUIRES: all of it lives as long as this does.
  TestVariables(SharedTest& shared, const std::vector<ImportedPrompt>& prompts, const ImportFile& from);

  /// Gives each test the values of the default test that it has to have itself: those that may show variables
  /// of its own, and all of them where the default test is not for it.
  void share(std::vector<ImportedTest>& tests);
  /// Templates in values and in the name are rendered there too. False if one of a value cannot be: nothing
  /// that looks like a template is sent.
  bool render(ImportedTest& test) const;
  void add_missing(ImportedTest& test) const;
  /// When all of its checks are there.
  void keep_used(ImportedTest& test);
  /// When all tests are.
  void keep_used_by_default() const { keep(default_, used_); }

  /// The values as a template shows them.
  Variables values_for(const ImportedTest& test) const;
  /// Whether any prompt shows a variable.
  bool are_asked() const { return !asked_.empty(); }

 private:
  using Names = std::set<std::string, std::less<>>;

  void find_names(const std::vector<ImportedTest>& tests);
  void take_values_of_default(ImportedTest& test);
  /// A program gets all variables of its test.
  bool reads_all(const ImportedTest& test) const;
  /// What the prompts and the checks of a test show.
  Names shown_by(const ImportedTest& test) const;
  ValueRenderer renderer_for(const ImportedTest& test) const;
  /// Gives what is shown as JSON a variable of its own. Lists are texts from there on, as a template shows
  /// them.
  void show_values(ImportedTest& test) const;
  void keep(ImportedTest& test, const Names& used) const;
  /// Nothing shows it, neither whole nor in part nor in the mapping that it is a part of. Of a mapping that
  /// is lost the parts are not named.
  bool is_lost(const std::string& name, const ImportedTest& test) const;
  bool has_used_part(const std::string& mapping) const;

  ImportedTest& default_;
  const std::vector<ImportedCheck>& given_;
  const std::vector<ImportedPrompt>& prompts_;
  const ImportFile& from_;
  Names asked_{};               ///< What prompts use,
  Names anywhere_{};            ///< and any test's checks and values besides.
  Names used_{};                ///< What is used in the end.
  Names json_{};                ///< What prompts and checks show as JSON.
  Variables default_values_{};  ///< Of the default test, its lists as JSON,
  Variables default_lists_{};   ///< and as they are shown without a filter.
  bool default_runs_programs_ = false;
};

}  // namespace sluice
