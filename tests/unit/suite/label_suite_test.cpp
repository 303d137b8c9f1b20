#include "common/defaults.hpp"
#include "coordinator/suite/canonical_case.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/suite/suite_files.hpp"

#include <string>
#include <vector>

namespace sluice {
namespace {

/// Suites of a classifier.
class LabelSuite : public SuiteFiles {
 protected:
  static std::string test(const std::string& id, const std::string& expected) {
    return "- id: " + id + "\n  input: {prompt: p}\n  expected: " + expected + "\n";
  }
  static std::string with_tests(const std::string& tests, const std::string& head = "") {
    return "suite: s\n" + head + "tests:\n" + tests;
  }
  static std::vector<std::string> texts_of(const Suite& suite, std::size_t index) {
    const auto one = suite.cases.read(index);
    return one && (*one)->expectations.size() == 1 ? (*one)->expectations[0].what.texts
                                                   : std::vector<std::string>{};
  }
};

TEST_F(LabelSuite, TheLabelsAreThoseThatTestsExpectAndList) {
  const Suite expected =
      load(with_tests(test("a", "{type: label, label: refund}") + test("b", "{type: label, label: billing}") +
                      test("c", "{type: label, label: refund}")))
          .suite;
  EXPECT_EQ(expected.labels, (SuiteLabels{{"", {"billing", "refund"}}}));
  EXPECT_EQ(texts_of(expected, 0), (std::vector<std::string>{"refund", ""}));
  const Suite listed =
      load(with_tests(test("a", "{type: label, label: low, labels: [low, high, none], path: /level}") +
                      test("b", "{type: label, label: mid, path: /level}") +
                      test("c", "{type: all_of, of: [{type: label, label: sad}]}")))
          .suite;
  EXPECT_EQ(listed.labels, (SuiteLabels{{"", {"sad"}}, {"/level", {"low", "high", "none", "mid"}}}));
}

TEST_F(LabelSuite, OneThatIsExcludedIsNoLabelByThat) {
  const Suite suite = load(with_tests(test("a", "{type: not_label, label: spam, labels: [spam, mail]}") +
                                      test("b", "{type: not_label, label: other}") +
                                      test("c", "{type: label, label: other}")))
                          .suite;
  EXPECT_EQ(suite.labels, (SuiteLabels{{"", {"spam", "mail", "other"}}}));
  EXPECT_EQ(texts_of(suite, 0), (std::vector<std::string>{"spam", "", "spam", "mail"}));
}

TEST_F(LabelSuite, TheDefaultTestSaysThemOnce) {
  const std::string head =
      "prompts: [\"{{mail}}\"]\n"
      "default_test:\n  expected: {type: label, label: \"{{intent}}\", labels: [refund, billing]}\n";
  const Suite suite =
      load(with_tests("- id: a\n  vars: {mail: m, intent: refund}\n"
                      "- id: b\n  vars: {mail: m}\n  expected: {type: label, label: billing}\n",
                      head))
          .suite;
  EXPECT_EQ(texts_of(suite, 0), (std::vector<std::string>{"refund", "", "refund", "billing"}));
  EXPECT_EQ(texts_of(suite, 1), (std::vector<std::string>{"billing", "", "refund", "billing"}))
      << "its own label, and the labels of all";
}

TEST_F(LabelSuite, AnotherPathIsAnotherLabel) {
  const std::string head =
      "default_test:\n  expected: {type: label, label: sad, path: /mood, labels: [sad, glad]}\n";
  const auto one =
      load(with_tests(test("a", "{type: label, label: refund, path: /intent}"), head)).suite.cases.read(0);
  ASSERT_TRUE(one);
  EXPECT_EQ((*one)->expectations.size(), 2u);
}

TEST_F(LabelSuite, ATableOfTestsHasThemInAColumn) {
  write("mails.csv", "mail,intent\nWhere is it?,delivery\nMoney back!,refnd\n");
  EXPECT_EQ(findings("suite: s\nprompts: [\"{{mail}}\"]\ntests_file: mails.csv\ndefault_test:\n"
                     "  expected: {type: label, label: \"{{intent}}\", labels: [refund, delivery]}\n"),
            "mails.csv:3: the expected label \"refnd\" is none of the test's \"labels\"; did you mean "
            "\"refund\"?\n");
}

// The value that stood in for the wrong one was called a misspelt label.
TEST_F(LabelSuite, AWrongVariableIsNoWrongLabelAsWell) {
  write("mails.csv", "mail,intent:json\nWhere is it?,null\n");
  const std::string yaml =
      "suite: s\nprompts: [\"{{mail}}\"]\ntests_file: mails.csv\ndefault_test:\n"
      "  expected: {type: label, label: \"{{intent}}\", labels: [\"1\", \"2\"]}\n";
  EXPECT_EQ(
      findings(yaml),
      "mails.csv:2: \"intent\" in vars must be a string, a number or a boolean, not null: write \"\" for an "
      "empty text\n");
  write("mails.csv", "mail,intent\nWhere is it?,?\n");
  EXPECT_NE(findings(yaml).find("mails.csv:2: the expected label \"?\" is none"), std::string::npos);
}

// The finding named the check alone, and the table has many columns.
TEST_F(LabelSuite, AnEmptyCellIsNamedByItsColumn) {
  const auto suite = [](const std::string& expected) {
    return "suite: s\nprompts: [\"{{mail}}\"]\ntests_file: mails.csv\ndefault_test:\n  expected: " +
           expected + "\n";
  };
  const std::string found =
      "mails.csv:3: \"label\" in expected[0] must not be empty: {{intent}} is empty here\n";
  for (const char* cell : {"", "\"\"", "  "}) {
    write("mails.csv", std::string("mail,intent\nWhere is it?,delivery\nMoney back!,") + cell + "\n");
    EXPECT_EQ(findings(suite("{type: label, label: \"{{intent}}\"}")), found) << '[' << cell << ']';
    EXPECT_EQ(findings(suite("{type: label, label: \"{{intent}}\", labels: [refund, delivery]}")), found);
  }
  write("mails.csv", "mail,intent,tone\nWhere is it?,,\n");
  EXPECT_EQ(findings(suite("{type: must_contain, text: [\"{{mail}}\", \"{{ intent }}{{tone}}\"]}")),
            "mails.csv:2: \"text\" in expected[0] must not be empty: {{ intent }}{{tone}} is empty here\n");
  EXPECT_EQ(findings(with_tests(test("a", "{type: label, label: \"\"}"))),
            "suite.yaml:5: \"label\" in expected must not be empty\n");
}

TEST_F(LabelSuite, AMisspeltVariableIsNoWrongLabelAsWell) {
  std::string rows = "mail,intent\n";
  for (std::size_t i = 0; i <= defaults::max_file_findings; ++i)
    rows += "m" + std::to_string(i) + ",refund\n";
  write("mails.csv", rows);
  const auto suite = [](const std::string& variable) {
    return "suite: s\nprompts: [\"{{mail}}\"]\ntests_file: mails.csv\ndefault_test:\n"
           "  expected: {type: label, label: \"{{" +
           variable + "}}\", labels: [refund, delivery]}\n";
  };
  EXPECT_EQ(findings(suite("intent")), "(none)\n");
  const std::string found = findings(suite("intnt"));
  EXPECT_NE(found.find("uses {{intnt}}, which the test's \"vars\" do not have"), std::string::npos) << found;
  EXPECT_EQ(found.find("is none of the test's \"labels\""), std::string::npos) << found;
  EXPECT_EQ(found.find("cannot be used"), std::string::npos) << found;
  EXPECT_NE(
      findings(with_tests(test("a", "{type: label, label: \"{{x}}\", labels: [refund]}"))).find("{{x}}"),
      std::string::npos);
}

// The message named as meant what stood there: the blank was not to be seen in it.
TEST_F(LabelSuite, BlanksAroundALabelDoNotCount) {
  write("mails.csv", "mail,intent\nWhere is it?,\"delivery \"\nMoney back!, refund\n");
  const Suite suite =
      load(
          "suite: s\nprompts: [\"{{mail}}\"]\ntests_file: mails.csv\ndefault_test:\n"
          "  expected: {type: label, label: \"{{intent}}\", labels: [refund, \" delivery\"]}\n")
          .suite;
  EXPECT_EQ(suite.labels, (SuiteLabels{{"", {"refund", "delivery"}}}));
  EXPECT_EQ(texts_of(suite, 0), (std::vector<std::string>{"delivery", "", "refund", "delivery"}));
  EXPECT_EQ(texts_of(suite, 1), (std::vector<std::string>{"refund", "", "refund", "delivery"}));
  EXPECT_NE(findings(with_tests(test("a", "{type: label, label: \"  \"}"))), "(none)\n");
}

TEST_F(LabelSuite, AnAnswerHasOneLabelAtAPath) {
  EXPECT_EQ(findings(with_tests(test("a", "[{type: label, label: x}, {type: label, label: y}]"))),
            "suite.yaml:5: \"type\" in expected[1] label stands in the test already: an answer has one label "
            "at a path; where one of several is right, they are parts of any_of\n");
  EXPECT_EQ(findings(with_tests(test("a",
                                     "[{type: label, label: x, path: /a}, {type: label, label: x}, "
                                     "{type: any_of, of: [{type: label, label: x}, "
                                     "{type: label, label: y}]}]"))),
            "(none)\n");
}

TEST_F(LabelSuite, WhatCannotBeReadIsAFindingWithItsPlace) {
  EXPECT_EQ(findings(with_tests(test("a", "{type: label, label: spam, labels: [refund, billing]}"))),
            "suite.yaml:3: the expected label \"spam\" is none of the test's \"labels\"; add it to them\n");
  EXPECT_EQ(
      findings(
          with_tests(test("a", "{type: label, label: Refund}") + test("b", "{type: label, label: refund.}"))),
      "suite.yaml:6: the label \"refund.\" cannot be told from \"Refund\" (suite.yaml:3): case, quotes, a "
      "full stop and Markdown do not count in an answer; write one of them in both places\n");
  EXPECT_EQ(
      findings(with_tests(test("a", "{type: label, label: a, labels: [a, \"**.**\"]}"))),
      "suite.yaml:3: the label \"**.**\" is empty without the quotes, full stop and Markdown that answers "
      "may have\n");
  EXPECT_EQ(
      findings(with_tests(test("a", "{type: label, label: a, labels: [a, \"b  c\"]}"))),
      "suite.yaml:3: the label \"b c\" must be one line, with single blanks between its words and none at "
      "its ends\n");
  EXPECT_EQ(findings(with_tests(test("a", "{type: label, label: " + std::string(201, 'x') + "}"))),
            "suite.yaml:3: the label \"" + std::string(200, 'x') + "...\" has more than 200 bytes\n");
  EXPECT_EQ(findings(with_tests(test("a", "{type: label, label: a, path: intent}"))),
            "suite.yaml:5: \"path\" in expected must be a JSON pointer, such as \"/intent\"\n");
  EXPECT_EQ(findings(with_tests(test("a", "{type: label, label: a, path: \"/a~2\"}"))),
            "suite.yaml:5: \"path\" in expected must be a JSON pointer, such as \"/intent\"\n");
  EXPECT_NE(findings(with_tests(test("a", "{type: label}"))).find("missing \"label\""), std::string::npos);
  EXPECT_EQ(
      findings(with_tests(test("a", "{type: not_label, label: refnd}") +
                          test("b", "{type: label, label: billing, labels: [refund, billing]}"))),
      "suite.yaml:3: no answer can be the label \"refnd\" of not_label, which no test lists or expects; "
      "did you mean \"refund\"?\n")
      << "it would always pass";
  EXPECT_EQ(findings(with_tests(test("a", "{type: not_label, label: spam}"))),
            "suite.yaml:3: no answer can be the label \"spam\" of not_label, which no test lists or expects; "
            "list all labels as \"labels\"\n");
  std::string many = "[a";
  for (int i = 0; i < 1000; ++i) many += ", l" + std::to_string(i);
  EXPECT_EQ(findings(with_tests(test("a", "{type: label, label: a, labels: " + many + "]}"))),
            "suite.yaml:3: the suite has more than 1000 labels: texts that are none of a fixed list are "
            "checked by exact_match\n");
  EXPECT_NE(findings(with_tests(test("a", "{type: label, path: /x, label: a, labels: " + many + "]}")))
                .find("more than 1000 labels at \"/x\": "),
            std::string::npos);
}

// Each of a table's rows had one: nobody reads half a million lines.
TEST_F(LabelSuite, OfManyWrongLabelsTheFirstAreNamedAndTheOthersCounted) {
  const auto count_of = [](const std::string& text, const std::string& words) {
    std::size_t count = 0;
    for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
    return count;
  };
  std::string strangers;
  std::string long_ones;
  for (int i = 0; i < 103; ++i) {
    const std::string id = "t" + std::to_string(i);
    strangers += test(id, "{type: label, label: x" + id + ", labels: [refund, billing]}");
    long_ones += test(id, "{type: label, label: " + id + std::string(200, 'x') + "}");
  }
  const std::string of_strangers = findings(with_tests(strangers));
  EXPECT_EQ(count_of(of_strangers, "is none of the test's"), defaults::max_file_findings);
  EXPECT_NE(of_strangers.find("suite.yaml: 3 more labels cannot be used\n"), std::string::npos)
      << of_strangers;
  const std::string of_long_ones = findings(with_tests(long_ones));
  EXPECT_EQ(count_of(of_long_ones, "has more than 200 bytes"), defaults::max_file_findings);
  EXPECT_NE(of_long_ones.find("suite.yaml: 3 more labels cannot be used\n"), std::string::npos);
}

TEST_F(LabelSuite, TheExampleIsOneOfTwoLabels) {
  const auto loaded = load_any_suite(support::source_path("docs/examples/intents/suite.yaml"));
  ASSERT_TRUE(loaded) << join_findings(loaded.error());
  EXPECT_EQ(loaded->suite.cases.size(), 8u);
  EXPECT_EQ(loaded->suite.labels, (SuiteLabels{{"/intent", {"refund", "billing", "delivery", "other"}},
                                               {"/urgent", {"true", "false"}}}));
}

// Adding an intent to a classifier made each of its checks a new one, which fails a pull request.
TEST_F(LabelSuite, ACheckIsTheSameWhateverOtherLabelsThereAre) {
  const auto expectation = [&](const std::string& expected) {
    const auto one = load(with_tests(test("a", expected))).suite.cases.read(0);
    return one ? (*one)->expectations.at(0) : Expectation{};
  };
  const Expectation two = expectation("{type: label, label: a, labels: [a, b]}");
  const Expectation three = expectation("{type: label, label: a, labels: [a, b, c]}");
  EXPECT_EQ(check_digest(two), check_digest(three));
  EXPECT_EQ(check_digest(two), check_digest(expectation("{type: label, label: a}")));
  EXPECT_NE(check_digest(two), check_digest(expectation("{type: label, label: b, labels: [a, b]}")));
  EXPECT_NE(check_digest(two),
            check_digest(expectation("{type: label, label: a, path: /x, labels: [a, b]}")));
  const auto fingerprint = [&](const std::string& expected) {
    return load(with_tests(test("a", expected))).suite.content_fingerprint;
  };
  EXPECT_NE(fingerprint("{type: label, label: a, labels: [a, b]}"),
            fingerprint("{type: label, label: a, labels: [a, b, c]}"));
  EXPECT_EQ(fingerprint("{type: label, label: b, labels: [a, b]}"),
            fingerprint("{type: label, label: b, labels: [b, a]}"))
      << "their order says nothing";

  const Expectation other = expectation("{type: not_label, label: a, labels: [a, b]}");
  EXPECT_EQ(check_digest(other), check_digest(expectation("{type: not_label, label: a, labels: [c, a]}")));
  EXPECT_NE(check_digest(other), check_digest(expectation("{type: not_label, label: b, labels: [a, b]}")));
  EXPECT_NE(check_digest(other), check_digest(two));
  EXPECT_EQ(fingerprint("{type: not_label, label: b, labels: [a, b]}"),
            fingerprint("{type: not_label, label: b, labels: [b, a]}"));
  EXPECT_NE(fingerprint("{type: not_label, label: b, labels: [a, b]}"),
            fingerprint("{type: not_label, label: a, labels: [a, b]}"));
}

}  // namespace
}  // namespace sluice
