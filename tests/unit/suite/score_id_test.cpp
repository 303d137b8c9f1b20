#include "coordinator/suite/score_id.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::score_id_test {

TEST(ScoreId, IsWrittenAndReadAlike) {
  for (const MetricInfo& metric : metric_catalogue()) {
    for (const std::string name : {"", "tone", "a.b-c_9"}) {
      if (!name.empty() && !takes_name(metric)) continue;
      const std::string text = score_text(metric.id, name);
      EXPECT_TRUE(is_text_of_score(text, metric.id, name)) << text;
      const ScoreParts parts = parts_of_score(text);
      ASSERT_NE(parts.metric, nullptr) << text;
      EXPECT_EQ(parts.metric->id, metric.id) << text;
      EXPECT_EQ(parts.name, name) << text;
    }
  }
  EXPECT_EQ(to_string({MetricId::rubric, "tone"}), "rubric:tone");
}

TEST(ScoreId, OfAnotherToolIsNoneOfOurs) {
  for (const char* text :
       {"", ":", ":tone", "rubric:", "rubrics:tone", "must_contain:a", "claims_f1:a", "ragas"})
    EXPECT_EQ(parts_of_score(text).metric, nullptr) << text;
}

TEST(ScoreId, ATextIsOfOneScoreAlone) {
  EXPECT_FALSE(is_text_of_score("rubric:tone", MetricId::rubric, ""));
  EXPECT_FALSE(is_text_of_score("rubric", MetricId::rubric, "tone"));
  EXPECT_FALSE(is_text_of_score("rubric:tone", MetricId::rubric, "ton"));
  EXPECT_FALSE(is_text_of_score("rubric:tone", MetricId::rubric, "e"));
  EXPECT_FALSE(is_text_of_score("rubric-tone", MetricId::rubric, "tone"));
}

TEST(ScoreId, NamesDifferInWriting) {
  for (const auto& [one, other] : std::vector<std::pair<const char*, const char*>>{
           {"tone", "Tone"}, {"tone_of_voice", "tone-of.voice"}, {"part-1", "part1"}, {"v1.1", "V1_1"}}) {
    EXPECT_TRUE(differ_in_writing(one, other)) << one << ' ' << other;
  }
  for (const auto& [one, other] : std::vector<std::pair<const char*, const char*>>{
           {"a1", "a2"}, {"part-1", "part-2"}, {"v1.1", "v11"}, {"v1--1", "v11"}, {"tone", "tone-2"}}) {
    EXPECT_FALSE(differ_in_writing(one, other)) << one << ' ' << other;
  }
}

TEST(ScoreId, NamesDifferByASlip) {
  for (const auto& [one, other] :
       std::vector<std::pair<const char*, const char*>>{{"tone", "tnoe"},
                                                        {"polite-tone", "polite-tome"},
                                                        {"tone", "tonee"},
                                                        {"a-politeness", "a-politness"}}) {
    EXPECT_TRUE(differ_by_a_slip(one, other)) << one << ' ' << other;
    EXPECT_TRUE(differ_by_a_slip(other, one)) << one << ' ' << other;
  }
  for (const auto& [one, other] : std::vector<std::pair<const char*, const char*>>{{"a1", "a2"},
                                                                                   {"part-1", "part-2"},
                                                                                   {"expected", "expected1"},
                                                                                   {"tone-a", "tone-b"},
                                                                                   {"tone-i", "tone-ii"},
                                                                                   {"tone-en", "tone-es"},
                                                                                   {"optionA", "optionB"},
                                                                                   {"ton", "tone"},
                                                                                   {"tone", "note"},
                                                                                   {"tone1", "tone21"}}) {
    EXPECT_FALSE(differ_by_a_slip(one, other)) << one << ' ' << other;
    EXPECT_FALSE(differ_by_a_slip(other, one)) << one << ' ' << other;
  }
}

}  // namespace sluice::score_id_test
