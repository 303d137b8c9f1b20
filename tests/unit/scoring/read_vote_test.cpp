#include "worker/scoring/score.hpp"
#include "worker/scoring/votes.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace read_vote_test {

TEST(ReadVote, TakesAScoreAndARationale) {
  EXPECT_EQ(read_vote(R"({"rationale": "It says so.", "score": 0.85})"), (Vote{0.85, "It says so."}));
  EXPECT_EQ(read_vote("```json\n{\"score\": 1}\n```"), (Vote{1.0, ""}));
  EXPECT_EQ(read_vote(R"({"score": 0, "rationale": null, "notes": {"score": 7}})"), (Vote{0.0, ""}));
}

TEST(ReadVote, NeverTakesAnythingElseForAScore) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "it is empty"},
      {"0.9", "it is no JSON object"},
      {"I would say 0.9", "it is no JSON object"},
      {R"([{"score": 0.9}])", "it is no JSON object"},
      {R"({"score": 0.9)", "it is no JSON object"},
      {R"({"rationale": "good"})", "it has no \"score\""},
      {R"({"notes": {"score": 0.9}})", "it has no \"score\""},
      {R"({"score": 0.9, "score": 0.1})", "it has more than one \"score\""},
      {R"({"score": "0.9"})", "its \"score\" is no number"},
      {R"({"score": null})", "its \"score\" is no number"},
      {R"({"score": 1.01})", "its \"score\" is not from 0 to 1"},
      {R"({"score": -0.5})", "its \"score\" is not from 0 to 1"},
      {R"({"score": 85})", "its \"score\" is not from 0 to 1"},
      {R"({"score": 1e999})", "it is no JSON object"},
      {R"({"score": 0.9, "rationale": 7})", "its \"rationale\" is no text"},
      {R"({"score": 0.9, "rationale": {"a": "good"}})", "its \"rationale\" is no text"},
      {R"({"score": [0.9]})", "its \"score\" is no number"},
      {"{\"score\": 0.9, \"rationale\": \"\xff\"}", "it is not valid UTF-8"},
  };
  for (const auto& [text, problem] : cases) {
    const auto vote = read_vote(text);
    ASSERT_FALSE(vote) << text;
    EXPECT_EQ(vote.error(),
              (Error{Reason::judge_unparsable, std::string("the judge's answer is no vote: ") + problem}))
        << text;
  }
  EXPECT_FALSE(read_vote(std::string(100'000, '['))) << "no recursion";
}

// A tree of the whole took minutes: each value that was not kept was dropped from among all.
TEST(ReadVote, TakesNoLongerForMembersThatNobodyAskedFor) {
  std::string text = R"({"rationale": "first", "score": 0.5)";
  for (int i = 0; i < 200'000; ++i)
    text += ",\"k" + std::to_string(i) + R"(":{"score":1,"rationale":"of k"})";
  EXPECT_EQ(read_vote(text + "}"), (Vote{0.5, "first"}));
  EXPECT_EQ(read_vote(text + R"(,"rationale":"last"})"), (Vote{0.5, "last"}));
}

TEST(FakeVote, IsTheShareOfSharedWords) {
  const JudgedQuestion question{"What is open?", "The shop is open on Monday."};
  JudgeExpectation faithful;
  EXPECT_DOUBLE_EQ(fake_vote(faithful, question, "OPEN on Monday").score, 1.0);
  EXPECT_DOUBLE_EQ(fake_vote(faithful, question, "closed on Monday, always").score, 0.5);
  EXPECT_DOUBLE_EQ(fake_vote(faithful, question, "").score, 0.0);
  faithful.context = "Closed for ever.";
  EXPECT_DOUBLE_EQ(fake_vote(faithful, question, "closed on Monday, always").score, 0.25);
  JudgeExpectation correct;
  correct.metric = MetricId::correctness;
  correct.reference = "closed";
  EXPECT_DOUBLE_EQ(fake_vote(correct, question, "closed").score, 1.0);
  EXPECT_EQ(fake_vote(faithful, question, "open"), fake_vote(faithful, question, "open"));
}

TEST(FakeVote, OfTheContextDoesNotLookAtTheAnswer) {
  const JudgedQuestion question{"What is open?", "The shop is open on Monday."};
  JudgeExpectation recall;
  recall.metric = MetricId::context_recall;
  recall.reference = "Open on Sunday, Monday.";
  EXPECT_DOUBLE_EQ(fake_vote(recall, question, "").score, 0.75);
  EXPECT_EQ(fake_vote(recall, question, "open").rationale,
            "The fake judge found 3 of the reference's 4 words in what it is compared with.");
  JudgeExpectation relevance;
  relevance.metric = MetricId::context_relevance;
  EXPECT_DOUBLE_EQ(fake_vote(relevance, question, "anything").score, 2.0 / 6);
}

ScoringTask judged_task() {
  ScoringTask task;
  task.assesses_claims = false;
  task.judged = {{MetricId::faithfulness, 0, 3, 0.5, "", ""}};
  return task;
}

TEST(ScoreTrial, VotesBecomeAScoreAndAnOutcome) {
  const std::vector<GivenVotes> votes = {{{{0.9, "a"}, {0.2, "b\nc"}, {0.4, "d"}}, JudgeSource::cache}};
  const auto score = score_trial({"answer", {}, {}, votes}, judged_task(), TextChecker());
  ASSERT_TRUE(score);
  ASSERT_EQ(score->metrics.size(), 1u);
  EXPECT_EQ(score->metrics[0].id, MetricId::faithfulness);
  EXPECT_DOUBLE_EQ(*score->metrics[0].score, 0.5);
  EXPECT_EQ(score->metrics[0].passed, false);
  EXPECT_EQ(score->metrics[0].detail, "d (1 of 3 votes against it: a)");
  ASSERT_EQ(score->judged.size(), 1u);
  EXPECT_EQ(score->judged[0].source, JudgeSource::cache);
  EXPECT_DOUBLE_EQ(score->judged[0].agreement(), 2.0 / 3);
}

TEST(ScoreTrial, AJudgeMetricWithoutVotesIsAnErrorAndNoScore) {
  const auto missing = score_trial({"answer", {}, {}, {}}, judged_task(), TextChecker());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().reason, Reason::internal_error);
  const std::vector<GivenVotes> none(1);
  EXPECT_FALSE(score_trial({"answer", {}, {}, none}, judged_task(), TextChecker()));
}

}  // namespace read_vote_test
}  // namespace sluice
