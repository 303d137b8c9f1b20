#include "coordinator/suite/score_id.hpp"

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

}  // namespace sluice::score_id_test
