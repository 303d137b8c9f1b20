// When a judge is said to be of the family of what it judges.
#include "coordinator/gate/judge_family.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::judge_family_test {

using enum ProviderKind;

std::string said(const JudgeIdentity& judge, const std::vector<AnsweringModel>& models) {
  const auto notice = judge_family_notice(judge, models);
  if (!notice) return "";
  EXPECT_EQ(notice->code, "judge_family");
  EXPECT_EQ(notice->severity, GateNotice::Severity::info);
  return notice->message;
}

TEST(JudgeFamily, IsThatOfTheModelsName) {
  EXPECT_EQ(model_family("openai", "gpt-4o-mini"), "gpt");
  EXPECT_EQ(model_family("openai", "GPT4"), "gpt");
  EXPECT_EQ(model_family("openai", "o3-mini"), "gpt");
  EXPECT_EQ(model_family("openai", "chatgpt-4o-latest"), "gpt");
  EXPECT_EQ(model_family("openai", "meta-llama/Llama-3.1-8B"), "llama");
  EXPECT_EQ(model_family("openai", "anthropic/claude-haiku-4-5"), "claude");
  EXPECT_EQ(model_family("anthropic", "claude-haiku-4-5"), "claude");
  EXPECT_EQ(model_family("gemini", "learnlm-2.0"), "gemini");
  EXPECT_EQ(model_family("openai", "7b"), "7b");
}

TEST(JudgeFamily, IsSaidOfTheModelThatIsJudged) {
  EXPECT_EQ(said({"openai", "gpt-4o"}, {{"", openai, "gpt-4o-mini"}}),
            "the judge gpt-4o (openai) is of one family (gpt) with the model that it judges, gpt-4o-mini: "
            "judges tend to favour what their own kind writes, so have a model of another family judge.");
  EXPECT_EQ(said({"openai", "gpt-4o"}, {{"", anthropic, "claude-haiku-4-5"}}), "");
  EXPECT_EQ(said({"openai", "gpt-4o"}, {{"", openai, "llama-3.1"}}), "")
      << "servers of all makes have OpenAI's format";
  EXPECT_EQ(said({"fake", ""}, {{"", openai, "gpt-4o-mini"}}), "");
  EXPECT_EQ(said({}, {{"", openai, "gpt-4o-mini"}}), "");
}

TEST(JudgeFamily, OfArmsItIsSaidWhereOthersAreOfAnother) {
  const AnsweringModel mini{"mini", openai, "gpt-5-mini"};
  const AnsweringModel full{"full", openai, "gpt-5"};
  const AnsweringModel haiku{"haiku", anthropic, "claude-haiku-4-5"};
  EXPECT_EQ(
      said({"openai", "gpt-4o"}, {mini, haiku}),
      "the judge gpt-4o (openai) is of one family (gpt) with the arm `mini` and not with `haiku`: judges "
      "tend to favour what their own kind writes, so compare these arms with a judge of another family.");
  EXPECT_NE(said({"openai", "gpt-4o"}, {mini, full, haiku}).find("the arms `mini`, `full` and not"),
            std::string::npos);
  EXPECT_EQ(said({"openai", "gpt-4o"}, {mini, full}), "");
  EXPECT_EQ(said({"gemini", "gemini-3-flash"}, {mini, haiku}), "");
}

}  // namespace sluice::judge_family_test
