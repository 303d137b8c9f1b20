// Labels for a judge: what is read, and what is said of a line that is none.
#include "coordinator/suite/answers/labels_file.hpp"

#include "coordinator/suite/prompts/arm.hpp"

#include <string>
#include <utility>
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

Case test_by(std::string id, const std::vector<MetricId>& metrics) {
  Case test;
  test.id = std::move(id);
  for (const MetricId metric : metrics) test.expectations.emplace_back().what.metric = metric;
  return test;
}

TEST(LabelsFile, ALabelThatNamesItsMetricGoesFirst) {
  const auto labels = parse_labels(
      "{\"id\": \"a\", \"passed\": true}\r\n\n  \n"
      "{\"id\": \"a\", \"passed\": false, \"metric\": \"relevancy\"}\n"
      "{\"metric\": \"rubric\", \"id\": \"b\", \"passed\": false}",
      "labels.jsonl");
  ASSERT_TRUE(labels);
  EXPECT_EQ(labels->size(), 3u);
  EXPECT_EQ(labels->find("a", {faithfulness}), true);
  EXPECT_EQ(labels->find("a", {relevancy}), false);
  EXPECT_EQ(labels->find("b", {rubric}), false);
  EXPECT_EQ(labels->find("b", {relevancy}), std::nullopt);
  EXPECT_EQ(labels->find("c", {relevancy}), std::nullopt);
}

TEST(LabelsFile, ALabelIsOfOneScoreOfItsMetric) {
  const auto labels = parse_labels(
      "{\"id\": \"a\", \"passed\": true, \"metric\": \"rubric:tone\"}\n"
      "{\"id\": \"a\", \"passed\": false, \"metric\": \"rubric\"}\n",
      "labels.jsonl");
  ASSERT_TRUE(labels);
  EXPECT_EQ(labels->find("a", {rubric, "tone"}), true);
  EXPECT_EQ(labels->find("a", {rubric}), false);
  EXPECT_EQ(labels->find("a", {rubric, "form"}), std::nullopt);
  Case test = test_by("a", {rubric, rubric});
  test.expectations[1].name = "form";
  CaseList cases;
  cases.push_back(test);
  const auto findings = labels->check_tests(cases, false);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(to_text(findings.front()),
            "labels.jsonl:1: the test \"a\" is not judged by `rubric:tone` but by rubric, rubric:form; name "
            "that one, or take the label out");
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
            "labels.jsonl:1: unknown key \"pased\"; " + example + "; did you mean \"passed\"?");
  for (const char* metric : {"must_contain", "relevance"}) {
    EXPECT_EQ(problems_of("{\"id\": \"a\", \"passed\": true, \"metric\": \"" + std::string(metric) + "\"}"),
              std::vector<std::string>{"labels.jsonl:1: `metric` must be one that a judge scores: "
                                       "faithfulness, relevancy, correctness, rubric, context_recall, "
                                       "context_relevance; with the name that a test gives the score, as "
                                       "\"rubric:tone\""});
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
  const CaseList cases{test_by("a", {faithfulness})};
  const auto findings = labels->check_tests(cases, false);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(to_text(findings[0]),
            "labels.jsonl:2: the suite has no test \"z\"; take the label out, or name the test as the suite "
            "does");
  EXPECT_TRUE(labels->check_tests(cases, true).empty()) << "the test may be in the rest of the suite";
}

TEST(LabelsFile, LabelsThatNoJudgeMetricAsksForAreNamed) {
  const auto labels = parse_labels(
      "{\"id\": \"capital\", \"metric\": \"faithfulness\", \"passed\": true}\n"
      "{\"id\": \"capital\", \"metric\": \"rubric\", \"passed\": true}\n"
      "{\"id\": \"plain\", \"passed\": true}\n",
      "labels.jsonl");
  ASSERT_TRUE(labels);
  const CaseList cases{test_by("capital", {must_contain, relevancy, rubric}),
                       test_by("plain", {must_contain})};
  for (const bool is_part : {false, true}) {
    const auto findings = labels->check_tests(cases, is_part);
    ASSERT_EQ(findings.size(), 2u);
    EXPECT_EQ(
        to_text(findings[0]),
        "labels.jsonl:1: the test \"capital\" is not judged by `faithfulness` but by relevancy, rubric; "
        "name that one, or take the label out");
    EXPECT_EQ(
        to_text(findings[1]),
        "labels.jsonl:3: the test \"plain\" has no judge metric, so nothing is compared with the label; "
        "take it out");
  }
}

TEST(LabelsFile, UnderArmsTheIdsOfTheAnswersAreNamed) {
  const auto labels = parse_labels("{\"id\": \"kenya\", \"passed\": true}", "labels.jsonl");
  ASSERT_TRUE(labels);
  const std::vector<Arm> arms{{.name = "mini/short", .provider = {}, .model = {}},
                              {.name = "mini/polite", .provider = {}, .model = {}}};
  const CaseList cases = CaseList{test_by("kenya", {rubric}), test_by("kenyan", {rubric})}.under(arms);
  const auto findings = labels->check_tests(cases, true);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(to_text(findings[0]),
            "labels.jsonl:1: the test \"kenya\" is answered by several arms: label each answer, as "
            "\"kenya@mini/polite\", \"kenya@mini/short\"");
}

TEST(LabelsFile, AFileThatIsNotThereIsNamed) {
  const auto labels = load_labels("no/such.jsonl");
  ASSERT_FALSE(labels);
  EXPECT_EQ(labels.error().at(0).file, "no/such.jsonl");
}

}  // namespace sluice::labels_file_test
