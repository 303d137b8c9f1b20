#include "coordinator/session/unnamed_models.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

bool has(const std::optional<std::string>& text, const std::string& words) {
  return text && text->find(words) != std::string::npos;
}

TEST(UnnamedModels, AJudgeThatTestsNeedIsMissedUntilSomebodyNamesOne) {
  Settings settings;
  Suite suite;
  EXPECT_FALSE(unnamed_judge(settings, suite));
  suite.metrics = {MetricId::must_contain, MetricId::rubric};
  EXPECT_TRUE(has(unnamed_judge(settings, suite), "judge metrics (rubric)"));
  EXPECT_TRUE(has(unnamed_judge(settings, suite), "--judge PROVIDER and --judge-model MODEL"));
  suite.metrics = {MetricId::faithfulness, MetricId::must_contain, MetricId::rubric};
  EXPECT_TRUE(has(unnamed_judge(settings, suite), "judge metrics (faithfulness, rubric)")) << "each of them";
  settings.judge.origin = Origin::suite;
  EXPECT_FALSE(unnamed_judge(settings, suite)) << "even if it says that nobody judges";
}

TEST(UnnamedModels, WhoMakesEmbeddingsIsMissedUntilSomebodyNamesThem) {
  Settings settings;
  Suite suite;
  EXPECT_FALSE(unnamed_embedder(settings, suite));
  suite.examples = std::make_shared<const SuiteExamples>();
  EXPECT_TRUE(has(unnamed_embedder(settings, suite), "solved examples are found by embeddings"));
  suite.metrics = {MetricId::semantic_similarity_to};
  EXPECT_TRUE(has(unnamed_embedder(settings, suite), "text-embedding-3-small of openai is asked"));
  settings.embedding_model.origin = Origin::flag;
  EXPECT_FALSE(unnamed_embedder(settings, suite));
}

}  // namespace
}  // namespace sluice
