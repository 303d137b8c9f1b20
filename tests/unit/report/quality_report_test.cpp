#include "coordinator/report/commands/quality_report.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::quality_report_test {

using nlohmann::json;

QualityOfTest test_of(const std::string& candidate, const std::string& category, const std::string& test,
                      std::uint64_t grades, double sum) {
  QualityOfTest one;
  one.group = {
      "capitals", "llm", "llm:j:comparison-v1", {"old", "openai", "m-1"}, {candidate, "claude", "m-2"}};
  one.category = category;
  one.test = test;
  one.grades = grades;
  one.quality_sum = sum;
  one.compared_twice = grades;
  one.position_flips = 1;
  one.baseline = {0.02, 2, 900.0, 1};
  one.last_graded_ms = 1770301800000;
  return one;
}

const std::vector<QualityOfTest>& sample() {
  static const std::vector<QualityOfTest> tests{
      test_of("new", "america", "peru", 2, 1.0), test_of("new", "europe", "france", 2, 1.5),
      test_of("new", "europe", "spain", 1, 0.25), test_of("newer", "europe", "spain", 1, 1.0)};
  return tests;
}

TEST(QualityReport, ATestCountsOnceByTheMeanOfItsGrades) {
  const auto groups = quality_by_group(sample());
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].all.tests, 3u);
  EXPECT_EQ(groups[0].all.grades, 5u);
  EXPECT_DOUBLE_EQ(*groups[0].all.quality.proportion(), (0.5 + 0.75 + 0.25) / 3.0);
  EXPECT_DOUBLE_EQ(*groups[0].by_category.at("europe").quality.proportion(), (0.75 + 0.25) / 2.0);
  ClusteredProportion by_hand;
  for (const double of_test : {0.5, 0.75, 0.25}) by_hand.add(of_test, 1.0);
  EXPECT_EQ(groups[0].all.quality.interval(0.95), by_hand.interval(0.95));
  EXPECT_DOUBLE_EQ(*mean_cost(groups[0].all.baseline), 0.01);
  EXPECT_DOUBLE_EQ(*mean_latency_ms(groups[0].all.baseline), 900.0);
  EXPECT_FALSE(mean_cost(groups[0].all.candidate));
}

// Grading the same cached answers nine times made the interval half as wide.
TEST(QualityReport, GradesOfTheSameAnswersOutOfACacheNarrowNothing) {
  const auto interval = [](std::uint64_t runs) {
    std::vector<QualityOfTest> tests;
    for (const char* test : {"france", "peru", "spain"})
      tests.push_back(test_of("new", "all", test, runs, 0.5 * static_cast<double>(runs)));
    return quality_by_group(tests).at(0).all.quality.interval(0.95);
  };
  EXPECT_EQ(interval(9), interval(1));
}

TEST(QualityReport, TextNamesArmsGraderAndCategories) {
  const std::string text = quality_text(quality_by_group(sample()), 0.95, 100);
  EXPECT_NE(text.find("capitals, graded by llm:j:comparison-v1, last 2026-02-05 14:30:00 UTC\n"
                      "  baseline   old (openai:m-1): $0.01 and 0.9 s an answer\n"
                      "  candidate  new (claude:m-2): cost and latency of an answer not known\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("new"), text.find("newer"));
  EXPECT_NE(text.find("europe"), std::string::npos);
}

TEST(QualityReport, TextFitsATerminal) {
  for (const std::size_t columns : {80u, 120u}) {
    const std::string text = quality_text(quality_by_group(sample()), 0.95, columns);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      std::size_t width = 0;
      for (const char c : text.substr(at, end - at)) width += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
      EXPECT_LE(width, columns) << text;
      at = end + 1;
    }
  }
}

TEST(QualityReport, JsonHasEachGroupWithItsCategories) {
  const json groups = json::parse(quality_json(quality_by_group(sample()), 0.95));
  ASSERT_EQ(groups.size(), 2u);
  const json& first = groups[0];
  EXPECT_EQ(first["suite"], "capitals");
  EXPECT_EQ(first["grader_id"], "llm:j:comparison-v1");
  EXPECT_EQ(first["last_graded_at"], "2026-02-05T14:30:00.000Z");
  EXPECT_EQ(first["baseline"]["arm"], "old");
  EXPECT_EQ(first["baseline"]["mean_cost"], 0.01);
  EXPECT_TRUE(first["candidate"]["mean_latency_ms"].is_null());
  EXPECT_EQ(first["all"]["grades"], 5);
  EXPECT_EQ(first["all"]["position_flips"], 3);
  ASSERT_EQ(first["by_category"].size(), 2u);
  EXPECT_EQ(first["by_category"][1]["category"], "europe");
  EXPECT_EQ(first["by_category"][1]["tests"], 2);
  EXPECT_EQ(quality_json({}, 0.95), "[]\n");
}

}  // namespace sluice::quality_report_test
