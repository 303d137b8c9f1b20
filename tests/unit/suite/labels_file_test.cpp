// Labels for a judge: what is read, and what is said of a line that is none.
#include "coordinator/suite/labels_file.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::labels_file_test {

using enum MetricId;

std::vector<std::string> problems_of(std::string_view text) {
  const auto labels = parse_labels(text, "labels.jsonl");
  std::vector<std::string> lines;
  if (!labels) {
    for (const Finding& one : labels.error()) lines.push_back(to_text(one));
  }
  return lines;
}

TEST(LabelsFile, ALabelThatNamesItsMetricGoesFirst) {
  const auto labels = parse_labels(
      "{\"id\": \"a\", \"passed\": true}\r\n\n  \n"
      "{\"id\": \"a\", \"passed\": false, \"metric\": \"relevancy\"}\n"
      "{\"metric\": \"rubric\", \"id\": \"b\", \"passed\": false}",
      "labels.jsonl");
  ASSERT_TRUE(labels);
  EXPECT_EQ(labels->size(), 3u);
  EXPECT_EQ(labels->find("a", faithfulness), true);
  EXPECT_EQ(labels->find("a", relevancy), false);
  EXPECT_EQ(labels->find("b", rubric), false);
  EXPECT_EQ(labels->find("b", relevancy), std::nullopt);
  EXPECT_EQ(labels->find("c", relevancy), std::nullopt);
}

TEST(LabelsFile, EachLineThatIsNoLabelIsNamed) {
  const std::string example = R"(a label is {"id": "TEST", "passed": true})";
  EXPECT_EQ(problems_of("{\"id\": \"a\"}\n{\"passed\": true}\n[1]\n"),
            (std::vector<std::string>{"labels.jsonl:1: `passed` is missing; " + example,
                                      "labels.jsonl:2: `id` is missing; " + example,
                                      "labels.jsonl:3: the line is an array; " + example}));
  EXPECT_EQ(problems_of("\n{\"id\": \"a\", \"passed\": \"yes\"}"),
            std::vector<std::string>{"labels.jsonl:2: `passed` is a string, expected true or false"});
  EXPECT_EQ(problems_of("{\"id\": 7, \"passed\": true}"),
            std::vector<std::string>{"labels.jsonl:1: `id` must be the id of a test, as a string"});
  EXPECT_EQ(problems_of("{\"id\": \"a\", \"pased\": true}").at(0),
            "labels.jsonl:1: unknown key \"pased\"; did you mean \"passed\"?; " + example);
  for (const char* metric : {"must_contain", "relevance"}) {
    EXPECT_EQ(problems_of("{\"id\": \"a\", \"passed\": true, \"metric\": \"" + std::string(metric) + "\"}"),
              std::vector<std::string>{"labels.jsonl:1: `metric` must be one that a judge scores: "
                                       "faithfulness, relevancy, correctness, rubric"});
  }
  EXPECT_EQ(problems_of("{\"id\": \"a\", \"passed\": true}\n{\"id\": \"a\", \"passed\": true}"),
            std::vector<std::string>{
                "labels.jsonl:2: the test \"a\" is labelled in line 1 already; leave one of the two"});
  EXPECT_EQ(problems_of("{\"id\": \"a\", \"passed\": tru}").size(), 1u);
  EXPECT_EQ(problems_of("\n"), std::vector<std::string>{"labels.jsonl: there is no label in it; " + example});
}

TEST(LabelsFile, ManyBadLinesAreNotAllListed) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "7\n";
  EXPECT_LE(problems_of(text).size(), 101u);
}

TEST(LabelsFile, LabelsOfTestsThatAreNotThereAreNamed) {
  const auto labels =
      parse_labels("{\"id\": \"a\", \"passed\": true}\n{\"id\": \"z\", \"passed\": true}\n", "labels.jsonl");
  ASSERT_TRUE(labels);
  Case test;
  test.id = "a";
  const CaseList cases{test};
  const auto findings = labels->check_tests(cases);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(to_text(findings[0]),
            "labels.jsonl:2: the suite has no test \"z\"; take the label out, or name the test as the suite "
            "does (under arms: TEST@ARM)");
}

TEST(LabelsFile, AFileThatIsNotThereIsNamed) {
  const auto labels = load_labels("no/such.jsonl");
  ASSERT_FALSE(labels);
  EXPECT_EQ(labels.error().at(0).file, "no/such.jsonl");
}

}  // namespace sluice::labels_file_test
