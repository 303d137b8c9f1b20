#include "coordinator/run/run_budget.hpp"

#include "common/defaults.hpp"
#include "common/model/token_bound.hpp"
#include "config/embedded_config.hpp"

#include <array>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::optional<double> price(const PaidByArm& paid) {
  const Usage usage = paid.total().of(CallKind::answer);
  return (static_cast<double>(usage.input_tokens) * 1.0 + static_cast<double>(usage.output_tokens) * 10.0) /
         1e6;
}

TEST(RunBudget, WithoutLimitsEverythingFits) {
  RunBudget budget({}, {});
  EXPECT_FALSE(budget.limited());
  EXPECT_TRUE(budget.reserve(1, 0, {1'000'000'000, 1'000'000'000}));
}

TEST(RunBudget, WhatIsPaidAndReservedCountsToTheLastToken) {
  RunBudget budget({.tokens = 100, .cost = {}}, {});
  EXPECT_TRUE(budget.limited());
  EXPECT_TRUE(budget.reserve(1, 0, {30, 10}));
  EXPECT_FALSE(budget.reserve(1, 1, {31, 30}));
  EXPECT_TRUE(budget.reserve(1, 1, {30, 30})) << "exactly 100";
  EXPECT_FALSE(budget.reserve(2, 2, {0, 1}));
  budget.settle(1, 0, {20, 5});
  EXPECT_EQ(budget.paid(), (PaidTokens{20, 5}));
  EXPECT_FALSE(budget.reserve(2, 2, {16, 0}));
  EXPECT_FALSE(budget.reserve(2, 2, {0, 0, 16})) << "what is embedded counts as well";
  EXPECT_TRUE(budget.reserve(2, 2, {5, 0, 10}));
}

TEST(RunBudget, ARefusedReservationReservesNothing) {
  RunBudget budget({.tokens = 10, .cost = {}}, {});
  EXPECT_FALSE(budget.reserve(1, 0, {11, 0}));
  EXPECT_TRUE(budget.reserve(1, 1, {10, 0}));
}

TEST(RunBudget, MoreThanReservedMayBePaid) {
  RunBudget budget({.tokens = 10, .cost = {}}, {});
  EXPECT_TRUE(budget.reserve(1, 0, {5, 0}));
  budget.settle(1, 0, {25, 0});  // Retries that were charged.
  EXPECT_FALSE(budget.reserve(1, 1, {1, 0}));
  EXPECT_NE(budget.spent(0, {1, 0}).message.find("25 of 10 tokens are paid"), std::string::npos);
}

TEST(RunBudget, OfAKindThatIsPartlyKnownNoLessThanReservedIsPaid) {
  RunBudget budget({.tokens = 1000, .cost = {}}, {});
  PaidTokens most;
  most.of(CallKind::judge) = {300, 90};
  EXPECT_TRUE(budget.reserve(1, 0, most));
  EXPECT_TRUE(budget.reserve(1, 1, most));
  PaidTokens known;
  known.of(CallKind::judge) = {20, 100};
  const std::vector<CallKind> votes{CallKind::judge};
  budget.settle(1, 0, known, votes);
  EXPECT_EQ(budget.paid().of(CallKind::judge), (Usage{300, 100})) << "more is known of the output";
  budget.settle(1, 1, known);
  EXPECT_EQ(budget.paid().of(CallKind::judge), (Usage{320, 200}));
}

TEST(RunBudget, CostIsEstimatedByThePrice) {
  RunBudget budget({.tokens = {}, .cost = 0.001}, price);
  EXPECT_TRUE(budget.reserve(1, 0, {500, 0}));
  EXPECT_TRUE(budget.reserve(1, 1, {0, 50})) << "exactly a tenth of a cent";
  EXPECT_FALSE(budget.reserve(1, 2, {1, 0}));
  budget.settle(1, 1, {0, 0});
  EXPECT_TRUE(budget.reserve(1, 2, {1, 0}));
}

TEST(RunBudget, EachBudgetNamesItsOwnReason) {
  RunBudget both({.tokens = 1000, .cost = 0.001}, price);
  const auto tokens = both.spent(0, {1001, 0});
  EXPECT_EQ(tokens.reason, Reason::token_budget_spent);
  EXPECT_EQ(
      tokens.message,
      "the run's token budget (--max-tokens) is too small to begin with: of 1000 tokens nothing is paid yet, "
      "and the next case may take 1001 (0 for its answer, --max-output-tokens); `--max-tokens 1001` is "
      "enough for that case");
  both.reserve(1, 0, {100, 0});
  both.settle(2, 1, {200, 0});
  const auto cost = both.spent(0, {100, 90});
  EXPECT_EQ(cost.reason, Reason::cost_budget_spent);
  EXPECT_EQ(
      cost.message,
      "the run's cost budget (--max-cost) is spent: $0.0002 of $0.0010 are paid, $0.0001 more may be by "
      "workers that were lost, and the next case may cost $0.0010");
}

// "is spent: $0.0000 of $0.1000 are paid" was said of a budget that no case fitted.
TEST(RunBudget, ThatFitsNoCaseSaysWhatIsEnough) {
  RunBudget budget({.tokens = {}, .cost = 0.001}, price);
  const PaidTokens most{7, 3'175};
  EXPECT_EQ(budget.spent(0, most).message,
            "the run's cost budget (--max-cost) is too small to begin with: of $0.0010 nothing is paid yet, "
            "and the next case may cost $0.0318; `--max-cost 0.0318` is enough for that case");
  EXPECT_FALSE(budget.reserve(1, 0, most));
  EXPECT_TRUE(RunBudget({.tokens = {}, .cost = 0.0318}, price).reserve(1, 0, most));
  budget.pay(0, {300, 0});
  EXPECT_NE(budget.spent(0, most).message.find("is spent: $0.0003 of $0.0010 are paid"), std::string::npos);
}

TEST(RunBudget, GivenBackIsFreeAgainAndALostWorkersStays) {
  RunBudget budget({.tokens = 10, .cost = {}}, {});
  EXPECT_TRUE(budget.reserve(1, 0, {10, 0}));
  budget.give_back(1, 0);
  budget.give_back(1, 0);
  EXPECT_TRUE(budget.reserve(2, 0, {6, 0}));
  EXPECT_FALSE(budget.reserve(3, 0, {6, 0})) << "the same unit at another worker is paid twice";
  EXPECT_TRUE(budget.reserve(3, 0, {4, 0}));
  budget.settle(2, 0, {6, 0});
  budget.settle(3, 0, {4, 0});
  EXPECT_EQ(budget.paid(), (PaidTokens{10, 0}));
}

TEST(RunBudget, WhatAWorkerStillHoldsIsReservedOnce) {
  RunBudget budget({.tokens = 10, .cost = {}}, {});
  budget.reserve_held(1, 0, {20, 0});
  budget.reserve_held(1, 0, {20, 0});
  EXPECT_FALSE(budget.reserve(2, 1, {1, 0}));
  budget.settle(1, 0, {5, 0});
  EXPECT_TRUE(budget.reserve(2, 1, {5, 0}));
}

TEST(RunBudget, IsNeverExceededWhileNobodyPaysMoreThanIsReserved) {
  const auto seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int run = 0; run < 50; ++run) {
    const std::uint64_t limit = 1000 + random() % 5000;
    RunBudget budget({.tokens = limit, .cost = {}}, {});
    std::vector<std::pair<UnitId, PaidTokens>> leased;
    std::uint64_t paid = 0;
    for (UnitId unit = 0; unit < 500; ++unit) {
      const PaidTokens most{random() % 300, random() % 300};
      if (budget.reserve(1, unit, most)) leased.emplace_back(unit, most);
      if (leased.empty() || random() % 2 == 0) continue;
      const auto [done, bound] = leased.back();
      leased.pop_back();
      if (random() % 8 == 0) {
        budget.give_back(1, done);
        continue;
      }
      const auto& answer = bound.of(CallKind::answer);
      const PaidTokens used{random() % (answer.input_tokens + 1), random() % (answer.output_tokens + 1)};
      paid += used.total();
      budget.settle(1, done, used);
      ASSERT_LE(paid, limit);
    }
    for (const auto& [unit, bound] : leased) paid += bound.total();
    ASSERT_LE(paid, limit) << "even if all that is out is paid in full";
  }
}

TEST(RunBudget, WhatWasReservedForCallsOfUnknownUsageCountsAsPaid) {
  RunBudget budget({.tokens = 1000, .cost = {}}, {});
  const PaidTokens most{10, 20, 30, 0, 40, 50};
  constexpr std::array votes{CallKind::judge};
  constexpr std::array both{CallKind::answer, CallKind::judge};
  EXPECT_TRUE(budget.reserve(1, 0, most));
  budget.settle(1, 0, {1, 2, 3}, votes);
  EXPECT_EQ(budget.paid(), (PaidTokens{1, 2, 3, 0, 40, 50}));
  EXPECT_TRUE(budget.reserve(1, 1, most));
  budget.settle(1, 1, {0, 0, 3}, both);
  EXPECT_EQ(budget.paid(), (PaidTokens{11, 22, 6, 0, 80, 100}));
  budget.settle(1, 2, {1, 0}, both);
  EXPECT_EQ(budget.paid(), (PaidTokens{12, 22, 6, 0, 80, 100})) << "nothing was reserved for it";
}

TEST(RunBudget, NamesWhatTheVotesOfTheNextCaseMayTake) {
  RunBudget budget({.tokens = 100, .cost = {}}, {});
  EXPECT_EQ(budget.spent(0, {50, 60, 0, 0, 70, 80}).message,
            "the run's token budget (--max-tokens) is too small to begin with: of 100 tokens nothing is paid "
            "yet, and the next case may take 260 (60 for its answer, --max-output-tokens; 80 for votes, "
            "--judge-max-tokens); `--max-tokens 260` is enough for that case");
}

TEST(RunBudget, NamesWhatTheBaselinesAnswerOfTheNextCaseMayTake) {
  RunBudget budget({.tokens = 100, .cost = {}}, {});
  PaidTokens most{50, 60};
  most.of(CallKind::baseline) = {50, 60};
  EXPECT_EQ(budget.spent(0, most).message,
            "the run's token budget (--max-tokens) is too small to begin with: of 100 tokens nothing is paid "
            "yet, and the next case may take 220 (60 for its answer and 60 for the baseline's, "
            "--max-output-tokens); `--max-tokens 220` is enough for that case");
}

class MostOfVotes : public ::testing::Test {
 protected:
  MostOfVotes() {
    judge.judge = Judge::model;
    judge.max_tokens = 500;
    judge.rubrics = {{"relevancy", "v1", "Judge.", "{{prompt}} {{answer}}"},
                     {"correctness", "v1", "Be strict.", "{{answer}} {{reference}} {{context}} {{answer}}"}};
    unit.request.user = "What is the capital?";
    unit.request.max_tokens = 70;
    unit.tasks.resize(1);
    unit.tasks[0].question = {"What is the capital?", "France"};
  }
  Usage votes() const { return most_of(unit, judge).of(CallKind::judge); }
  static std::uint64_t of_call(const std::string& user, const Rubric& rubric, std::uint64_t answers) {
    return defaults::frame_tokens + token_bound(user) + token_bound(rubric.system) +
           token_bound(embedded::vote_schema) + answers * 70;
  }

  JudgeSettings judge;
  WorkUnit unit;
};

TEST_F(MostOfVotes, AreAllCallsThatAVoteMayTakeWithTheLongestAnswer) {
  const auto calls = std::uint64_t{defaults::max_unreadable_votes};
  unit.tasks[0].judged = {{MetricId::relevancy, 0, 2, 0.5, "", ""}};
  const auto relevancy = of_call("What is the capital? ", judge.rubrics[0], 1);
  EXPECT_EQ(votes(), (Usage{2 * calls * relevancy, 2 * calls * 500}));
  unit.tasks[0].judged.push_back({MetricId::correctness, 1, 1, 0.5, "Paris", ""});
  const auto correctness = of_call(" Paris France ", judge.rubrics[1], 2);
  EXPECT_EQ(votes(), (Usage{calls * (2 * relevancy + correctness), 3 * calls * 500}));
  unit.tasks.push_back(unit.tasks[0]);
  EXPECT_EQ(votes(), (Usage{2 * calls * (2 * relevancy + correctness), 6 * calls * 500})) << "of every task";
  const PaidTokens all = most_of(unit, judge);
  EXPECT_EQ(all.of(CallKind::answer), (Usage{input_token_bound(unit.request), 70}));
}

TEST_F(MostOfVotes, AreNoneWhereNobodyIsCalled) {
  unit.tasks[0].judged = {{MetricId::relevancy, 0, 3, 0.5, "", ""}};
  EXPECT_NE(votes(), Usage());
  for (const Judge nobody : {Judge::none, Judge::fake}) {
    judge.judge = nobody;
    EXPECT_EQ(votes(), Usage());
  }
}

TEST(MostOf, CountsWhatGradingTakes) {
  WorkUnit unit;
  unit.request.user = "What is the capital?";
  unit.request.system = share("Be short.");
  unit.request.max_tokens = 70;
  const auto plain = most_of(unit);
  const Usage answer{input_token_bound(unit.request), 70};
  EXPECT_EQ(plain.of(CallKind::baseline), Usage());
  GradingSettings grading{GradeJudge::exact, "openai", "old-model"};
  auto most = most_of(unit, {}, grading);
  EXPECT_EQ(most.of(CallKind::answer), answer);
  EXPECT_EQ(most.of(CallKind::baseline), answer) << "the same request of another model";
  EXPECT_EQ(most.total(), 2 * answer.total());
  grading.judge = GradeJudge::embedding;
  most = most_of(unit, {}, grading);
  EXPECT_EQ(most.of(CallKind::embedding), (Usage{2 * 70, 0})) << "both answers";
  grading.judge = GradeJudge::llm;
  grading.llm.judge = Judge::model;
  grading.llm.max_tokens = 500;
  most = most_of(unit, {}, grading);
  const auto calls = std::uint64_t{2} * defaults::max_unreadable_votes;
  EXPECT_EQ(most.of(CallKind::judge).output_tokens, calls * 500) << "both orders, each asked again twice";
  EXPECT_GT(most.of(CallKind::judge).input_tokens, calls * (2 * 70 + 100)) << "both answers and the rubric";
}

TEST(MostOf, CountsRequestAnswerAndEmbeddings) {
  WorkUnit unit;
  unit.request.user = std::string(1000, 'x');
  unit.request.max_tokens = 70;
  unit.tasks.resize(2);
  const auto plain = most_of(unit);
  EXPECT_EQ(plain, (PaidTokens{input_token_bound(unit.request), 70}));
  unit.tasks[1].texts = {{MetricId::must_contain, {std::string(500, 'y')}}};
  EXPECT_EQ(most_of(unit), plain) << "nothing is embedded";
  unit.tasks[1].texts.push_back({MetricId::semantic_similarity_to, {std::string(10, 'z')}});
  EXPECT_EQ(most_of(unit),
            (PaidTokens{plain.of(CallKind::answer).input_tokens, 70, token_bound(std::string(10, 'z')) + 70}))
      << "the answer is embedded, too";
}

TEST(RunBudget, EachArmPaysByItsOwnPrice) {
  // The second arm is ten times as dear.
  const auto by_arm = [](const PaidByArm& paid) -> std::optional<double> {
    double sum = 0.0;
    for (std::size_t arm = 0; arm < paid.by_arm().size(); ++arm)
      sum += *price(paid.by_arm()[arm]) * (arm == 0 ? 1.0 : 10.0);
    return sum;
  };
  RunBudget budget({.tokens = {}, .cost = 0.001}, by_arm, [](UnitId unit) { return unit % 2; });
  EXPECT_TRUE(budget.reserve(1, 0, {500, 0}));
  EXPECT_FALSE(budget.reserve(1, 1, {60, 0})) << "$0.0005 + $0.0006";
  EXPECT_TRUE(budget.reserve(1, 1, {50, 0}));
  EXPECT_NE(budget.spent(3, {10, 0}).message.find("may cost $0.0001"), std::string::npos)
      << budget.spent(3, {10, 0}).message;
  budget.settle(1, 1, {20, 0});
  EXPECT_TRUE(budget.reserve(1, 3, {30, 0})) << "what it did not take is free again";
  EXPECT_EQ(budget.paid(), (PaidTokens{20, 0})) << "of all arms";
}

}  // namespace
}  // namespace sluice
