#pragma once

#include "common/checks/json_schema.hpp"
#include "common/documents/document.hpp"
#include "common/documents/finding.hpp"
#include "coordinator/suite/case.hpp"
#include "coordinator/suite/expectations/suite_rubrics.hpp"
#include "coordinator/suite/prompts/suite_prompts.hpp"
#include "coordinator/suite/suite_folder.hpp"
#include "coordinator/suite/test_files/default_test.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sluice {

/// Compiles patterns and schemas by the code that will assess answers by them, each once however many tests
/// hold it. Not thread-safe.
class CheckCompiler {
 public:
  /// Why a pattern does not compile (common/checks/pattern.hpp); empty if it does.
  const std::string& problem_with_pattern(const std::string& pattern);
  /// Why a JSON Schema cannot be used; empty if it can (common/checks/json_schema.hpp). `place`: `FILE:LINE`.
  const std::string& problem_with_schema(const std::string& schema, const std::string& place);
  /// As Suite::other_formats, of all these schemas.
  const std::map<std::string, std::string>& other_formats() const { return other_formats_; }
  void take_formats(const CheckCompiler& other) {
    other_formats_.insert(other.other_formats_.begin(), other.other_formats_.end());
  }
  /// Why a tool can have no such parameters; empty if it can. What sluice does not assess of a JSON Schema is
  /// taken: it is for the provider.
  std::string problem_with_parameters(const std::string& parameters);
  /// Why no call that fits the parameters has these arguments, a JSON object, with others beside them or not;
  /// empty if one can, or nobody knows.
  std::string problem_with_arguments(const std::string& parameters, const std::string& arguments);

 private:
  const Result<JsonSchema>& partial(const std::string& parameters);
  std::unordered_map<std::string, std::string> patterns_;
  std::unordered_map<std::string, std::string> schemas_;
  std::map<std::string, std::string> other_formats_;
  std::unordered_map<std::string, Result<JsonSchema>> partial_;  ///< Of the parameters of tools.
};

/// Where tests come from.
struct TestSource {
  std::string file;    ///< As findings name it.
  std::string source;  ///< As Case::source.
  Notation notation = Notation::yaml;
  Thresholding suite;  ///< `settings.thresholding`.
  ReadNamedFile read_file;
  CheckCompiler* checker = nullptr;             ///< Null: patterns and schemas were checked before.
  std::vector<FileIdentity>* opened = nullptr;  ///< Gets the files that tests name. Null: it has them.
  std::shared_ptr<SuiteRubrics> rubrics = std::make_shared<SuiteRubrics>();  ///< Those that tests may name.
  CaseExamples examples{};  ///< Of a test that says nothing else; not wanted where the suite has none.
  std::shared_ptr<const SuitePrompts> prompts = std::make_shared<SuitePrompts>();  ///< For all tests.
  std::shared_ptr<const DefaultTest> defaults = std::make_shared<DefaultTest>();   ///< For all tests.
  bool is_named_by_suite = false;    ///< Its file is not the suite's own.
  bool may_leave_variables = false;  ///< Columns of a table may be for people alone.
  /// Where the first metrics of a test stand, as findings say it: columns of a table. Others go by number.
  std::vector<std::string> metric_places{};
};

/// What a test came to. The case is meant for use only if there are no findings.
struct ParsedTest {
  Case test;
  std::uint32_t id_line = 0;
  std::vector<Finding> findings;
};

/// Reads a test of a YAML suite or a line of its tests_file (docs/suites.md) and collects everything that is
/// wrong with it.
ParsedTest parse_test(const DocumentNode& node, const TestSource& source);

/// What a key of promptfoo's tests is called here; empty for any other.
std::string place_of_foreign_key(std::string_view key);

}  // namespace sluice
