#include "coordinator/cli/past_runs/past_details.hpp"

#include "tests/support/nested_json.hpp"

#include <gtest/gtest.h>

namespace sluice::past_details_test {

RunRecord graded_by(const std::string& grading, const std::string& more = "") {
  RunRecord run;
  run.settings =
      R"({"command": "grade", "providers": [{"name": "new", "kind": "openai"}, {"name": "old", "kind": "gemini"}],)"
      R"( "arms": [{"name": "after", "provider": "new", "model": "m-2"}],)" +
      more + R"( "grading": {"baseline": "before", "baseline_provider": "old", "baseline_model": "m-1")" +
      grading + "}}";
  return run;
}

TEST(PastDetails, WhomAGradePaidStandsInItsRecord) {
  const Graders by_llm = graders_of(graded_by(R"(, "judge": "llm", "provider": "new", "model": "j")"));
  ASSERT_TRUE(by_llm.baseline);
  EXPECT_EQ(by_llm.baseline->provider.kind, ProviderKind::gemini);
  EXPECT_EQ(by_llm.baseline->model, "m-1");
  ASSERT_TRUE(by_llm.judge);
  EXPECT_EQ(by_llm.judge->provider.kind, ProviderKind::openai);
  EXPECT_EQ(by_llm.judge->model, "j");
  EXPECT_FALSE(by_llm.embedder);
  const Graders by_embedding = graders_of(
      graded_by(R"(, "judge": "embedding")", R"( "embedding_provider": "new", "embedding_model": "e",)"));
  EXPECT_FALSE(by_embedding.judge);
  ASSERT_TRUE(by_embedding.embedder);
  EXPECT_EQ(by_embedding.embedder->model, "e");
}

TEST(PastDetails, ARunThatDidNotGradePaidNobodyBesideItsAnswers) {
  RunRecord run;
  run.settings = R"({"mode": "live", "providers": [{"name": "new", "kind": "openai"}]})";
  EXPECT_FALSE(graders_of(run).baseline);
}

TEST(PastDetails, ARecordThatNestsDeeplySaysNothing) {
  const RunRecord run = graded_by(R"(, "judge": )" + support::nested_json);
  EXPECT_FALSE(graded_arms(run));
  EXPECT_FALSE(graders_of(run).baseline);
  EXPECT_TRUE(arm_names(run).empty());
}

}  // namespace sluice::past_details_test
