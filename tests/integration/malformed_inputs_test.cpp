// Suites that are none, through the command line: for each finding one line on stderr that names file and
// place, exit code 2, nothing on stdout, and no file that a flag names is touched.

#include "tests/integration/malformed_inputs.hpp"

#include <fstream>

namespace sluice {
namespace {

using namespace support;

TEST_F(MalformedInputs, SuitesThatAreNoYaml) {
  expect_bad_suites({
      {"empty", "", {}},
      {"white space and a comment", "\n# nothing\n", {}},
      {"a text", "hello", {"bad.yaml:1", "mapping"}},
      {"a list", "- id: q_1\n", {"bad.yaml:1", "mapping"}},
      {"truncated", "suite: demo\ntests: [{id: q_1, input: {prompt: \"Hel", {"bad.yaml:2"}},
      {"a tab", "suite: demo\ntests:\n\t- id: q_1\n", {"bad.yaml:3"}},
      {"a key twice",
       "suite: demo\nsuite: other\n" + test_of("{type: must_contain, text: x}").substr(12),
       {"bad.yaml:2", "suite"}},
      {"invalid UTF-8", "suite: \"\xff\"\n", {"UTF-8"}},
      {"binary", std::string("\0\1\2\3", 4), {"bad.yaml"}},
      {"an unknown anchor", "suite: *nobody\n", {"bad.yaml:1"}},
      {"deep nesting", "suite: " + repeated("[", 10'000), {"bad.yaml:1", "nest"}},
      {"two documents", test_of("{type: must_contain, text: x}") + "---\nsuite: other\n", {"bad.yaml"}},
  });
}

TEST_F(MalformedInputs, SuitesWithWrongKeysAndValues) {
  const std::string test =
      "  - id: q_1\n    input: {prompt: Hello}\n    expected: {type: must_contain, text: x}\n";
  expect_bad_suites({
      {"no name", "tests:\n" + test, {"\"suite\""}},
      {"no tests", "suite: demo\n", {"tests"}},
      {"an empty list of tests", "suite: demo\ntests: []\n", {"bad.yaml:2", "tests"}},
      {"an unknown key", "suite: demo\ntest_file: x\ntests:\n" + test, {"bad.yaml:2", "test_file"}},
      {"an unknown setting",
       "suite: demo\nsettings: {thresholds: {}}\ntests:\n" + test,
       {"bad.yaml:2", "thresholds"}},
      {"no such mode",
       "suite: demo\nsettings: {thresholding: {mode: relativ}}\ntests:\n" + test,
       {"bad.yaml:2", "relativ", "relative"}},
      {"a negative drop",
       "suite: demo\nsettings: {thresholding: {max_drop: -0.1}}\ntests:\n" + test,
       {"bad.yaml:2", "max_drop"}},
      {"a drop that is no number",
       "suite: demo\nsettings: {thresholding: {max_drop: .nan}}\ntests:\n" + test,
       {"bad.yaml:2", "max_drop"}},
      {"a key of the other mode",
       "suite: demo\nsettings: {thresholding: {mode: absolute, max_drop: 0.1}}\ntests:\n" + test,
       {"bad.yaml:2", "max_drop", "absolute"}},
      {"a time that is none",
       "suite: demo\nsettings: {timeout_seconds: soon}\ntests:\n" + test,
       {"bad.yaml:2", "timeout_seconds"}},
      {"a test twice", suite_of(test + test), {"bad.yaml:6", "q_1", "bad.yaml:3"}},
      {"a test that is a text", suite_of("  - q_1\n"), {"bad.yaml:3", "mapping"}},
      {"a test without an id",
       suite_of("  - input: {prompt: x}\n    expected: {type: must_contain, text: x}\n"),
       {"bad.yaml:3", "\"id\""}},
      {"a test without input",
       suite_of("  - id: q_1\n    expected: {type: must_contain, text: x}\n"),
       {"bad.yaml:3", "\"input\""}},
      {"a test without expectation",
       suite_of("  - id: q_1\n    input: {prompt: x}\n"),
       {"bad.yaml:3", "\"expected\""}},
      {"a prompt that is not there",
       suite_of("  - id: q_1\n    input: {file: no.txt}\n    expected: {type: "
                "must_contain, text: x}\n"),
       {"bad.yaml:4", "no.txt", "cannot be read"}},
      {"fixtures that are not there", "suite: demo\nfixtures: nowhere\n", {"bad.yaml:2", "nowhere"}},
  });
}

TEST_F(MalformedInputs, SuitesWithBadExpectations) {
  expect_bad_suites({
      {"an unknown metric",
       test_of("{type: must_contains, text: x}"),
       {"bad.yaml:5", "must_contains", "must_contain"}},
      {"no metric", test_of("{text: x}"), {"bad.yaml:5", "\"type\""}},
      {"no metrics", test_of("[]"), {"bad.yaml:5", "expected"}},
      {"no text", test_of("{type: must_contain}"), {"bad.yaml:5", "\"text\""}},
      {"an empty text", test_of("{type: must_contain, text: ''}"), {"bad.yaml:5", "text"}},
      {"a pattern that is none",
       test_of("{type: regex_match, pattern: '(a'}"),
       {"bad.yaml:5", "pattern", "(a"}},
      {"a pattern with a look-ahead",
       test_of("{type: regex_match, pattern: '(?=a)'}"),
       {"bad.yaml:5", "RE2"}},
      {"a schema that is none", test_of("{type: json_schema, schema: {type: 7}}"), {"bad.yaml:5", "schema"}},
      {"a parameter of another metric",
       test_of("{type: must_contain, text: x, pattern: y}"),
       {"bad.yaml:5", "pattern", "must_contain"}},
      {"a threshold without a score",
       test_of("{type: regex_match, pattern: x, thresholding: {max_drop: 0.1}}"),
       {"bad.yaml:5", "thresholding", "only passes or fails"}},
      {"a least score without a score",
       test_of("{type: exact_match, text: x, min_score: 0.5}"),
       {"bad.yaml:5", "min_score", "only passes or fails"}},
      {"a least score above 1",
       test_of("{type: semantic_similarity_to, text: x, min_score: 85}"),
       {"bad.yaml:5", "min_score"}},
      {"a scored metric twice",
       test_of("[{type: semantic_similarity_to, text: x}, {type: semantic_similarity_to, text: y}]"),
       {"bad.yaml:5", "semantic_similarity_to"}},
      {"claims beside text",
       test_of("[{type: claims_recall}, {type: must_contain, text: y}]"),
       {"bad.yaml:5"}},
  });
}

TEST_F(MalformedInputs, EveryFindingOfASuiteIsReported) {
  write_text(folder() / "bad.yaml",
             "suite: demo\nsettings: {thresholding: {max_drop: 2}}\ntests:\n"
             "  - id: q_1\n    input: {prompt: x}\n    expected: {type: nothing}\n"
             "  - id: q_2\n    input: {prompt: 7}\n    expected: {type: must_contain, text: x}\n");
  expect_findings(run_suite("bad.yaml"), 3, {"bad.yaml:2", "bad.yaml:6", "bad.yaml:8"});
}

TEST_F(MalformedInputs, LinesOfATestsFile) {
  write_text(folder() / "bad.yaml", "suite: demo\ntests_file: tests.jsonl\n");
  const std::string good =
      R"({"id": "q_1", "input": {"prompt": "x"}, "expected": {"type": "must_contain", "text": "x"}})";
  write_text(folder() / "tests.jsonl", good + "\n{\"id\": \"q_2\"\n" + good + "\n[]\n");
  expect_findings(run_suite("bad.yaml"), 3, {"tests.jsonl:2", "tests.jsonl:3", "q_1", "tests.jsonl:4"});
  std::filesystem::remove(folder() / "tests.jsonl");
  expect_findings(run_suite("bad.yaml"), 1, {"tests.jsonl", "cannot be read"});
}

TEST_F(MalformedInputs, SuitesThatCannotBeRead) {
  std::filesystem::create_symlink("nowhere.yaml", folder() / "dangling.yaml");
  std::filesystem::create_directory(folder() / "folder.yaml");
  for (const auto* name : {"missing.yaml", "dangling.yaml", "missing"}) {
    SCOPED_TRACE(name);
    expect_findings(run_suite(name), 1, {name});
  }
  const auto finished = run_suite("folder.yaml");
  EXPECT_EQ(finished.exit_code, 2) << "a folder without fixtures: " << finished.errors;
  EXPECT_EQ(finished.output, "");
}

TEST_F(MalformedInputs, ASuiteOf100Megabytes) {
  std::ofstream file(folder() / "large.yaml", std::ios::binary);
  const std::string block(1u << 20, '#');
  for (int i = 0; i < 100; ++i) file << block;
  ASSERT_TRUE(file.flush());
  expect_findings(run_suite("large.yaml"), 1, {"large.yaml", "too large"});
}

}  // namespace
}  // namespace sluice
