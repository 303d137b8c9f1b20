#include "coordinator/suite/suite_remarks.hpp"

#include "tests/unit/suite/suite_files.hpp"

#include <string>
#include <string_view>

namespace sluice {
namespace {

constexpr const char* claims_test =
    "  - {id: c, weight: 2, input: {prompt: x}, expected: {type: claims_recall, must_contain: [{subject: "
    "tls/cert_verification, predicate: enabled, value: false}]}}\n";

class SuiteRemarks : public SuiteFiles {
 protected:
  /// Those of a suite, a line each, without the folder's name.
  std::string remarks(const std::string& yaml) const {
    std::string text;
    for (const std::string& one : suite_remarks(load("suite: s\n" + yaml).suite)) text += one + "\n";
    const std::string folder = folder_.generic_string() + "/";
    for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder))
      text.erase(at, folder.size());
    return text;
  }
  /// A schema of a property for each format, in a line of the suite.
  static std::string schema_test(const std::string& id, const std::string& formats) {
    return "  - {id: " + id + ", input: {prompt: x}, expected: {type: json_schema, schema: {properties: {" +
           formats + "}}}}\n";
  }
};

// A weight of 1000 had no effect on anything, and nobody said so.
TEST_F(SuiteRemarks, AWeightIsForClaimsAlone) {
  const std::string check = ", input: {prompt: x}, expected: {type: contains, text: a}}\n";
  EXPECT_EQ(remarks("tests:\n  - {id: a, weight: 1000" + check + "  - {id: b, weight: 0.1" + check +
                    "  - {id: d, weight: 1" + check),
            "\"weight\" has no effect on 2 tests without claims (first suite.yaml:3): it is for the weighted "
            "precision, recall and F1 of claims, and a pass rate counts each test once; leave it out\n");
  EXPECT_EQ(remarks("tests:\n" + std::string(claims_test)), "");
}

TEST_F(SuiteRemarks, ALimitOnScoresNeedsAScore) {
  const std::string floor = "settings: {thresholding: {min_floor: 0.8, max_drop: 0.01}}\ntests:\n";
  const std::string check = "  - {id: a, input: {prompt: x}, expected: {type: contains, text: a}}\n";
  EXPECT_EQ(remarks(floor + check),
            "\"min_floor\" in settings.thresholding has no effect: no test of the suite has a score, and "
            "checks pass or fail; leave it out, or say \"min_pass_rate\" for a share of the tests\n");
  EXPECT_EQ(remarks(floor + check + claims_test), "");
  EXPECT_EQ(remarks(floor + "  - {id: a, input: {prompt: x}, expected: {type: relevancy}}\n"), "");
  EXPECT_EQ(remarks("settings: {thresholding: {max_drop: 0.01}}\ntests:\n" + check), "")
      << "it is stability's, too";
}

// An answer passed whatever stood where a mail address was asked for.
TEST_F(SuiteRemarks, FormatsThatNothingChecksAreNamed) {
  write("more.jsonl",
        R"({"id": "z", "input": {"prompt": "x"}, "expected": {"type": "json_schema", "schema": )"
        R"({"items": {"format": "uuid"}}}})"
        "\n");
  EXPECT_EQ(remarks("tests:\n" +
                    schema_test("a", "mail: {format: email}, when: {format: datetime}, day: {format: date}") +
                    schema_test("b", "mail: {format: email}, url: {format: uri}, format: {type: string}") +
                    "tests_file: more.jsonl\n"),
            "nothing checks the format \"datetime\" (suite.yaml:3) of a schema, which is none that is known; "
            "did you mean \"date-time\"?\n"
            "nothing checks these formats of schemas: \"email\" (suite.yaml:3), \"uri\" (suite.yaml:4), "
            "\"uuid\" (more.jsonl:1); only \"date\", \"time\" and \"date-time\" are checked: say what such a "
            "text looks like with \"pattern\"\n");
}

// Politeness was not judged in a test that asked for something else, and nobody said so.
TEST_F(SuiteRemarks, AScoreOfTheDefaultTestIsReplacedByAnother) {
  const std::string polite = "default_test: {expected: {type: rubric, criteria: is polite}}\ntests:\n";
  const auto test = [](const std::string& id, const std::string& expected) {
    return "  - {id: " + id + ", input: {prompt: x}, " + expected + "}\n";
  };
  const std::string other = "expected: {type: rubric, criteria: answers}";
  EXPECT_EQ(
      remarks(polite + test("a", other)),
      "what default_test asks by a score without a name is not asked in 1 test, whose own score of that "
      "metric replaces it and asks something else: rubric (suite.yaml:4); to keep both, give one of "
      "them a \"name\"\n");
  std::string many = polite;
  for (const char* id : {"a", "b", "c", "d", "e", "f", "g"}) many += test(id, other);
  EXPECT_EQ(remarks(many),
            "what default_test asks by a score without a name is not asked in 7 tests, whose own score of "
            "that metric replaces it and asks something else: rubric (suite.yaml:4), rubric (suite.yaml:5), "
            "rubric (suite.yaml:6), rubric (suite.yaml:7), rubric (suite.yaml:8) and 2 more; to keep both, "
            "give one of them a \"name\"\n");
  for (const char* silent :
       {"expected: {type: rubric, criteria: is polite, min_score: 0.9, samples: 3}",
        "expected: {type: rubric, criteria: is polite, thresholding: {max_drop: 0.2}}",
        "expected: {type: rubric, criteria: answers, name: facts}", "expected: {type: relevancy}",
        "expected: [{type: rubric, criteria: answers}, {type: rubric, criteria: is polite, name: tone}]",
        "default_test: false, expected: {type: rubric, criteria: answers}"}) {
    EXPECT_EQ(remarks(polite + test("a", silent)), "") << silent;
  }
}

TEST_F(SuiteRemarks, WhatTheDefaultTestAsksIsAskedWithTheVariablesOfATest) {
  const std::string like =
      "default_test: {expected: {type: semantic_similarity_to, text: \"{{capital}}\"}}\n";
  const auto test = [](const std::string& text) {
    return "tests: [{id: a, vars: {capital: Paris}, input: {prompt: \"{{capital}}?\"}, expected: {type: "
           "semantic_similarity_to, min_score: 0.9, text: " +
           text + "}}]\n";
  };
  EXPECT_EQ(remarks(like + test("Paris")), "");
  EXPECT_EQ(remarks(like + test("[Paris]")), "");
  EXPECT_NE(remarks(like + test("Lima")), "");
  EXPECT_EQ(
      remarks(like + "tests: [{id: a, input: {prompt: x}, expected: {type: semantic_similarity_to, text: "
                     "Lima}}]\n"),
      "")
      << "it has no capital to be like";
}

TEST_F(SuiteRemarks, ScoresOfTestsInFilesReplaceThoseOfTheDefaultTestToo) {
  write("more.jsonl",
        R"({"id": "z", "input": {"prompt": "x"}, "expected": {"type": "rubric", "criteria": "answers"}})"
        "\n");
  write("rows.csv", "q,__expected\nx,llm-rubric: answers\n");
  const std::string found = remarks(
      "prompts: [\"{{q}}\"]\ndefault_test: {expected: {type: rubric, criteria: is polite}}\n"
      "tests_file: [more.jsonl, rows.csv]\n");
  EXPECT_NE(found.find("in 2 tests"), std::string::npos) << found;
  EXPECT_NE(found.find(": rubric (more.jsonl:1), rubric (rows.csv:2);"), std::string::npos) << found;
}

// A score that was renamed by accident began without a baseline.
TEST_F(SuiteRemarks, NamesOfScoresDifferByLittle) {
  const auto tests = [](const std::string& name, int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += "  - {id: " + name + "-" + std::to_string(i) +
              ", input: {prompt: x}, expected: {type: rubric, criteria: polite, name: " + name + "}}\n";
    return text;
  };
  const std::string own =
      ", and each has limits, means and a baseline of its own: if they are one quality, give "
      "them one name\n";
  EXPECT_EQ(remarks("tests:\n" + tests("tone", 2) + tests("Tone", 1)),
            "the scores \"rubric:Tone\" (suite.yaml:5) and \"rubric:tone\" (2 tests, first suite.yaml:3) "
            "differ by little in their names" +
                own);
  EXPECT_EQ(remarks("tests:\n" + tests("tone", 10) + tests("tnoe", 1)),
            "the scores \"rubric:tnoe\" (suite.yaml:13) and \"rubric:tone\" (10 tests, first suite.yaml:3) "
            "differ by little in their names" +
                own);
  EXPECT_EQ(remarks("tests:\n" + tests("tone", 9) + tests("tnoe", 1)), "") << "both may be meant";
  EXPECT_EQ(remarks("tests:\n" + tests("part-1", 10) + tests("part-2", 1) + tests("a1", 1)), "");
  EXPECT_EQ(remarks("tests:\n" + tests("tone", 1) +
                    "  - {id: z, input: {prompt: x}, expected: {type: relevancy, name: Tone}}\n"),
            "")
      << "of another metric";
}

}  // namespace
}  // namespace sluice
