#pragma once

#include "coordinator/import/import_source.hpp"
#include "coordinator/import/promptfoo_checks.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// Names that tell the scores of one metric in a test apart (docs/suites.md): those that they count towards
/// there, or numbers. Over the whole import what asks for the same is called the same, as far as a test has
/// the name free. Keeps a reference to `from`.
class ScoreNames {
 public:
  /// `judge` is the suite's (identity_of), where it has one.
  ScoreNames(const ImportFile& from, std::string judge) : from_(from), judge_(std::move(judge)) {}

  /// Checks that tests have beside their own: no other check of a test takes their names.
  std::vector<ImportedCheck> of_default(std::vector<ImportedCheck> checks);
  /// Names what a test asks that has several scores of a metric: before tests with one alone, to which the
  /// name without a number would go.
  void learn(const std::vector<ImportedCheck>& checks);
  /// All checks of one test; of those that ask for the same the strictest stays. What asks for the same as a
  /// check of the default test has its name, and so its place, and is at least as strict.
  std::vector<ImportedCheck> of_test(std::vector<ImportedCheck> checks);

 private:
  using Question = std::pair<std::string, std::string>;  ///< A metric and what it asks for.

  std::vector<ImportedCheck> named(std::vector<ImportedCheck> checks);
  std::vector<ImportedCheck> without_equal_ones(std::vector<ImportedCheck> checks) const;
  /// Of scored checks of one test, in their order.
  std::vector<std::string> names_for(const std::vector<const ImportedCheck*>& checks);
  std::string free_name(const ImportedCheck& check, const std::set<std::string>& taken);
  /// The name there in characters that a name may have here; another one for each.
  const std::string& own_name(const ImportedCheck& check);
  /// Where another name, or none, is written.
  void note_other_name(const ImportedCheck& check, const std::string& name);
  void note_lost_name(const ImportedCheck& check) const;
  /// Where two become one that are judged by different models or prompts there.
  void note_other_judge(const ImportedCheck& check, const ImportedCheck& same) const;

  const ImportFile& from_;
  std::string judge_;
  std::map<std::string, std::string> own_names_{};
  std::map<Question, std::string> names_{};
  std::map<Question, ImportedCheck> defaults_{};
  std::map<std::string, std::set<std::string>> reserved_{};  ///< By metric: names in the default test.
};

}  // namespace sluice
