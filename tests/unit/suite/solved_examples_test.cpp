#include "coordinator/suite/examples/solved_examples.hpp"

#include "tests/unit/suite/suite_files.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice::solved_examples_test {

class SolvedExamples : public SuiteFiles {
 protected:
  static constexpr const char* tests =
      "tests:\n"
      "  - id: t-1\n"
      "    language: java\n"
      "    input: {prompt: \"Raise log4j.\"}\n"
      "    expected: {type: exact_match, text: \"2.17\"}\n";
  static constexpr const char* two =
      "{\"id\": \"b\", \"input\": \"Raise jackson.\", \"answer\": \"2.9\", \"tags\": [\"java\"]}\n"
      "\n"
      "{\"id\": \"a\", \"input\": \"Rename.\", \"answer\": \"load\"}\n";

  static std::string with(const std::string& examples) { return "suite: s\n" + examples + "\n" + tests; }
};

TEST_F(SolvedExamples, AreReadFromAJsonLinesFile) {
  write("solved.jsonl", two);
  const Suite suite = load(with("examples: solved.jsonl")).suite;
  ASSERT_TRUE(suite.examples);
  ASSERT_EQ(suite.examples->solved.size(), 2u);
  EXPECT_EQ(suite.examples->solved[0].id, "a") << "by id";
  EXPECT_EQ(suite.examples->solved[1].input, "Raise jackson.");
  EXPECT_EQ(suite.examples->solved[1].answer, "2.9");
  EXPECT_EQ(suite.examples->solved[1].tags, std::vector<std::string>{"java"});
  EXPECT_EQ(suite.examples->plugin.name, "default");
  EXPECT_EQ(suite.cases.read(0).value()->examples, (CaseExamples{true, "", ""}));
}

TEST_F(SolvedExamples, AreReadFromAFolderOfFiles) {
  write("solved/more.jsonl", two);
  write("solved/rename-method.yaml", "input: |\n  Rename fetch.\nanswer: load\ntags: java\n");
  write("solved/README.md", "about them");
  const Suite suite = load(with("examples: [solved]")).suite;
  ASSERT_TRUE(suite.examples);
  ASSERT_EQ(suite.examples->solved.size(), 3u);
  EXPECT_EQ(suite.examples->solved[2].id, "rename-method") << "named by its file";
}

TEST_F(SolvedExamples, NameThePluginAndTheTriple) {
  write("solved.jsonl", two);
  write("plugins/upgrades/plugin.yaml", "high_floor: 0.9\n");
  const Suite suite =
      load(
          "suite: s\n"
          "examples: {from: solved.jsonl, plugin: upgrades, task_class: bump, "
          "build_system: maven}\n"
          "tests:\n"
          "  - {id: t-1, input: {prompt: a}, expected: {type: exact_match, text: b}}\n"
          "  - {id: t-2, input: {prompt: a}, expected: {type: exact_match, text: b}, examples: false}\n"
          "  - {id: t-3, input: {prompt: a}, expected: {type: exact_match, text: b}, "
          "examples: {build_system: gradle}}\n")
          .suite;
  EXPECT_EQ(suite.examples->plugin.name, "upgrades");
  EXPECT_EQ(suite.examples->plugin.floors.high, 0.9);
  EXPECT_EQ(suite.cases.read(0).value()->examples, (CaseExamples{true, "bump", "maven"}));
  EXPECT_EQ(suite.cases.read(1).value()->examples, CaseExamples{});
  EXPECT_EQ(suite.cases.read(2).value()->examples, (CaseExamples{true, "bump", "gradle"}));
}

TEST_F(SolvedExamples, WhatIsWrongWithThemHasFileAndLine) {
  write("solved.jsonl",
        "{\"id\": \"a\", \"input\": \"Rename.\", \"answer\": \"load\"}\n"
        "{\"id\": \"a\", \"input\": \"Rename.\", \"answer\": \"load\"}\n"
        "{\"id\": \"b\", \"input\": \" \", \"answer\": \"load\", \"note\": 1}\n"
        "[]\n"
        "{\"input\": \"x\", \"answer\": 1}\n"
        "{\n");
  const std::string found = findings(with("examples: solved.jsonl"));
  EXPECT_NE(found.find("solved.jsonl:2: the id \"a\" is already that of an example in solved.jsonl:1\n"),
            std::string::npos)
      << found;
  EXPECT_NE(found.find("solved.jsonl:3: \"input\" must not be empty\n"), std::string::npos) << found;
  EXPECT_NE(found.find("solved.jsonl:3: unknown key \"note\""), std::string::npos) << found;
  EXPECT_NE(found.find("solved.jsonl:4: is an array, but an example is {\"id\""), std::string::npos) << found;
  EXPECT_NE(found.find("solved.jsonl:5: missing \"id\""), std::string::npos) << found;
  EXPECT_NE(found.find("solved.jsonl:6: "), std::string::npos) << found;
}

TEST_F(SolvedExamples, AKeyThatCannotBeUsedIsAFinding) {
  EXPECT_EQ(
      findings(with("examples: 3")),
      "suite.yaml:2: \"examples\" must be the name of a JSON Lines file or of a folder, a list of them, "
      "or a mapping such as {from: solved.jsonl, plugin: NAME}, not a whole number\n");
  EXPECT_EQ(findings(with("examples: nowhere.jsonl")).find("suite.yaml:2: the examples nowhere.jsonl"), 0u)
      << findings(with("examples: nowhere.jsonl"));
  EXPECT_EQ(findings(with("examples: nowhere")).find("suite.yaml:2: \"examples\" name \"nowhere\", which"),
            0u);
  write("empty.jsonl", "\n");
  EXPECT_EQ(findings(with("examples: empty.jsonl")),
            "suite.yaml:2: \"examples\" name no example: there is none in the files\n");
  write("solved.jsonl", two);
  EXPECT_EQ(findings(with("examples: {from: solved.jsonl, plugin: none}"))
                .find("suite.yaml:2: \"plugin\" in examples names \"none\", but plugins/none/plugin.yaml "),
            0u);
  EXPECT_EQ(findings(with("examples: {from: solved.jsonl, plugin: ../x}"))
                .find("suite.yaml:2: \"plugin\" in examples must be a plain name"),
            0u);
  write("plugins/bad/plugin.yaml", "# floors\nhigh_floor: 2\n");
  EXPECT_EQ(findings(with("examples: {from: solved.jsonl, plugin: bad}"))
                .find("plugins/bad/plugin.yaml:2: \"high_floor\" must be"),
            0u)
      << findings(with("examples: {from: solved.jsonl, plugin: bad}"));
}

TEST_F(SolvedExamples, ATestThatNamesThemWhereThereAreNoneIsAFinding) {
  EXPECT_EQ(findings("suite: s\ntests:\n  - id: t\n    examples: false\n    input: {prompt: a}\n"
                     "    expected: {type: exact_match, text: b}\n"),
            "suite.yaml:4: \"examples\" have no effect: the suite names no examples\n");
  write("solved.jsonl", two);
  EXPECT_EQ(findings("suite: s\nexamples: solved.jsonl\ntests:\n  - id: t\n    examples: all\n"
                     "    input: {prompt: a}\n    expected: {type: exact_match, text: b}\n")
                .find("suite.yaml:5: \"examples\" of a test must be false, or a mapping"),
            0u);
}

// A baseline of other examples is one of other questions.
TEST_F(SolvedExamples, AreInTheFingerprint) {
  write("solved.jsonl", two);
  const Digest before = load(with("examples: solved.jsonl")).suite.content_fingerprint;
  EXPECT_NE(before, load(with("")).suite.content_fingerprint);
  EXPECT_EQ(before, load(with("examples: [solved.jsonl]")).suite.content_fingerprint);
  EXPECT_NE(before, load(with("examples: {from: solved.jsonl, task_class: bump}")).suite.content_fingerprint);
  write("plugins/p/plugin.yaml", "high_floor: 0.9\n");
  EXPECT_NE(before, load(with("examples: {from: solved.jsonl, plugin: p}")).suite.content_fingerprint);
  write("solved.jsonl", std::string(two) + R"({"id": "c", "input": "x", "answer": "y"})");
  EXPECT_NE(before, load(with("examples: solved.jsonl")).suite.content_fingerprint);
}

TEST_F(SolvedExamples, AsALineTheyReadAsTheyWere) {
  std::vector<Finding> findings;
  SolvedExamplesReader reader(findings);
  const SolvedExample example{"a \"b\"", "two\nlines", "{}", {"x", "y"}};
  reader.add_json_lines(json_line(example), "f");
  ASSERT_TRUE(findings.empty()) << join_findings(findings);
  const auto read = reader.finish();
  EXPECT_EQ(read.at(0).id, example.id);
  EXPECT_EQ(read.at(0).input, example.input);
  EXPECT_EQ(read.at(0).answer, example.answer);
  EXPECT_EQ(read.at(0).tags, example.tags);
}

}  // namespace sluice::solved_examples_test
