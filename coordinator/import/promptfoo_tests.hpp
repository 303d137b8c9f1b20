#pragma once

#include "common/documents/document.hpp"
#include "coordinator/import/import_source.hpp"
#include "coordinator/import/promptfoo_checks.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// A test of a promptfoo configuration.
struct ImportedTest {
  std::string name;                                        ///< Its description; may be empty.
  std::map<std::string, std::string, std::less<>> vars{};  ///< Parts of a mapping as `NAME.PART`.
  /// The variables that are lists, as a template shows them: their entries with commas between. `vars` has
  /// them as JSON.
  std::map<std::string, std::string, std::less<>> lists{};
  /// The JSON of those that prompts and checks show as such, by json_name.
  std::map<std::string, std::string, std::less<>> json{};
  /// The values of those that are no texts: programs get them with their types.
  std::map<std::string, DocumentNode, std::less<>> values{};
  std::map<std::string, std::vector<std::string>, std::less<>> metadata{};
  std::vector<ImportedCheck> checks{};
  bool lost_checks = false;         ///< It had checks of its own, and none could be taken over.
  bool had_default_checks = false;  ///< The default test has checks for it there.
  std::uint32_t line = 1;
  std::string file{};
  bool keeps_lists = false;  ///< A list is a text (`disableVarExpansion`), and not a test for each entry.
  std::optional<double> pass_mark{};        ///< Its checks are a group, by its `threshold`.
  std::optional<DocumentNode> transform{};  ///< What makes the answer that its checks judge.
  bool takes_default_checks = true;
  std::vector<std::pair<std::string, std::uint32_t>> filters{};  ///< Keys that say who asks it, with lines.
};

/// The file that a test stands in.
ImportFile file_of(const ImportedTest& test, const ImportFile& from);
/// A note at its line, and the `loss`.
void note(const ImportedTest& test, const ImportFile& from, std::string message, Loss loss = Loss::none);

/// What holds for every test of a configuration.
struct TestDefaults {
  AssertionTemplates templates{};
  bool keeps_lists = false;     ///< As ImportedTest::keeps_lists.
  DocumentNode::Table lists{};  ///< Variables of several values, for tests that have no such variable,
  std::string lists_file{};     ///< and the file that they stand in.
};

/// Reads one test. A variable with a list makes a test for each entry.
std::vector<ImportedTest> import_test(const DocumentNode& test, const TestDefaults& defaults,
                                      const ImportFile& from);
/// Reads `tests`: tests, and files of them in YAML, JSON, JSON Lines and CSV.
std::vector<ImportedTest> import_tests(const DocumentNode& tests, const TestDefaults& defaults,
                                       const ImportFile& from);
/// Reads `scenarios`, also in files: each entry of `config` with each of `tests`.
std::vector<ImportedTest> import_scenarios(const DocumentNode& scenarios, const TestDefaults& defaults,
                                           const ImportFile& from);

}  // namespace sluice
