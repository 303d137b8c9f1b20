// By hand: what k votes come to.
#include "common/model/votes.hpp"

#include "common/defaults.hpp"
#include "common/model/judge.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace sluice {
namespace votes_test {

JudgeScore counted(const std::vector<Vote>& votes, double min_score = 0.5) {
  return count_votes(MetricId::faithfulness, votes, min_score, JudgeSource::judge);
}

TEST(Votes, OneVoteIsItsOwnMajority) {
  const auto score = counted({{0.8, "well"}});
  EXPECT_DOUBLE_EQ(score.score(), 0.8);
  EXPECT_TRUE(score.passed());
  EXPECT_DOUBLE_EQ(score.agreement(), 1.0);
  EXPECT_TRUE(score.is_unanimous());
  EXPECT_EQ(score.rationale, "well");
  EXPECT_FALSE(counted({{0.49, "badly"}}).passed());
  EXPECT_TRUE(counted({{0.5, "just"}}).passed()) << "min_score itself passes";
}

// A sum of three 0.95 by three is 0.9499999999999998.
TEST(Votes, TheMeanOfEqualVotesIsTheirsToTheLastDigit) {
  for (int hundredths = 0; hundredths <= 100; ++hundredths) {
    const double score = hundredths / 100.0;
    for (const std::size_t samples : {1, 3, 5, 7, 99}) {
      EXPECT_EQ(counted(std::vector<Vote>(samples, {score, "so"})).score(), score) << samples << " votes";
    }
  }
}

// Reports and baselines had 0.6000000000000001 and 0.39999999999999997.
TEST(Votes, TheMeanOfDecimalFractionsIsOne) {
  for (int a = 0; a <= 10; ++a) {
    for (int b = 0; b <= 10; ++b) {
      for (int c = 0; c <= 10; ++c) {
        if ((a + b + c) % 3 != 0) continue;
        EXPECT_EQ(counted({{a / 10.0, ""}, {b / 10.0, ""}, {c / 10.0, ""}}).score(), (a + b + c) / 3 / 10.0)
            << a << ' ' << b << ' ' << c;
      }
    }
  }
  EXPECT_DOUBLE_EQ(counted({{1.0, ""}, {1.0, ""}, {0.0, ""}}).score(), 2.0 / 3) << "others keep their digits";
}

TEST(Votes, ATieOfTwoDoesNotPass) {
  const auto score = counted({{0.9, "for"}, {0.2, "against"}});
  EXPECT_DOUBLE_EQ(score.score(), 0.55);
  EXPECT_FALSE(score.passed()) << "half of the votes is not more than half";
  EXPECT_DOUBLE_EQ(score.agreement(), 0.5);
  EXPECT_FALSE(score.is_unanimous());
  EXPECT_EQ(score.rationale, "against (1 of 2 votes against it: for)");
}

TEST(Votes, TwoOfThreeDecide) {
  const auto score = counted({{1.0, "a"}, {0.6, "b"}, {0.0, "c"}});
  EXPECT_DOUBLE_EQ(score.score(), 1.6 / 3);
  EXPECT_TRUE(score.passed());
  EXPECT_DOUBLE_EQ(score.agreement(), 2.0 / 3);
  EXPECT_EQ(score.rationale, "b (1 of 3 votes against it: c)")
      << "on the winning side, 0.6 is closest to 0.533";
  EXPECT_EQ(score.votes, (std::vector<CountedVote>{{1.0, true}, {0.6, true}, {0.0, false}}));
}

TEST(Votes, ThreeOfFiveDecideAgainstAHighMean) {
  const auto score = counted({{1, "a"}, {1, "b"}, {0.7, "c"}, {0.7, "d"}, {0.6, "e"}}, 0.75);
  EXPECT_DOUBLE_EQ(score.score(), 0.8) << "the mean is above min_score";
  EXPECT_FALSE(score.passed()) << "but most votes are not";
  EXPECT_DOUBLE_EQ(score.agreement(), 0.6);
  EXPECT_EQ(score.rationale, "c (2 of 5 votes against it: a)")
      << "the first of the two that are equally close, on either side";
}

TEST(Votes, UnanimousEitherWay) {
  EXPECT_TRUE(counted({{0.1, ""}, {0.2, ""}, {0.3, ""}}).is_unanimous());
  EXPECT_TRUE(counted({{0.9, ""}, {0.9, ""}}).is_unanimous());
  EXPECT_FALSE(counted({{0.1, ""}, {0.2, ""}, {0.3, ""}}).passed());
}

TEST(Votes, ALongRationaleIsCut) {
  const auto score = counted({{1.0, std::string(5000, 'x')}});
  EXPECT_EQ(score.rationale.size(), defaults::max_rationale_bytes);
  const std::string x(5000, 'x');
  const std::string y(5000, 'y');
  const auto divided = counted({{1.0, x}, {1.0, x}, {0.0, y}});
  EXPECT_EQ(divided.rationale.size(), defaults::max_rationale_bytes);
  EXPECT_GT(std::ranges::count(divided.rationale, 'y'), 400);
  EXPECT_TRUE(divided.rationale.ends_with("y)"));
}

TEST(Rubrics, EachPlaceholderIsReplacedOnce) {
  const Rubric rubric{"r", "v1", "s", "Q: {{prompt}} A: {{answer}} C: {{context}} {{unknown}} {{open"};
  EXPECT_EQ(render_rubric(rubric, {"{{answer}}", "42", "{{prompt}}", "", ""}),
            "Q: {{answer}} A: 42 C: {{prompt}}  {{open");
  EXPECT_EQ(placeholders_of(rubric), (std::vector<std::string>{"prompt", "answer", "context", "unknown"}));
  EXPECT_EQ(placeholders_of({"r", "v1", "", "{{answer}}{{answer}}"}), std::vector<std::string>{"answer"});
}

TEST(Rubrics, TheHashIsOfAllThatItSays) {
  const Rubric rubric{"r", "v1", "s", "u"};
  for (const Rubric& other :
       {Rubric{"q", "v1", "s", "u"}, Rubric{"r", "v2", "s", "u"}, Rubric{"r", "v1", "t", "u"},
        Rubric{"r", "v1", "s", "v"}, Rubric{"r", "v1", "su", ""}}) {
    EXPECT_NE(rubric_hash(rubric), rubric_hash(other));
  }
}

}  // namespace votes_test
}  // namespace sluice
