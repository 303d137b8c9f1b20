// Budgets of a run whose answers are judged: votes are reserved and paid with their answers.
#include "coordinator/run/run_budget.hpp"
#include "tests/unit/run/run_fixture.hpp"

namespace sluice {
namespace {

class JudgedLimitsTest : public RunControllerTest {
 protected:
  JudgedLimitsTest() {
    suite.cases = {};
    suite.rubrics = {{"relevancy", "v1", "Judge.", "{{prompt}} {{answer}}"}};
    for (const char* id : {"a", "b", "c"}) {
      Case one;
      one.id = id;
      one.kind = CaseKind::text;
      one.content = std::string("prompt ") + id;
      one.expectations.emplace_back().what.metric = MetricId::relevancy;
      one.expectations[0].judge.emplace();
      suite.cases.push_back(one);
    }
    plan = make_plan(suite);
    config.settings.judge.judge = Judge::model;
    config.settings.judge.max_tokens = 1000;
    config.settings.judge.rubrics = plan.rubrics();
    config.affinities.resize(plan.unit_count());
  }
  void begin_with_room_for(double units) {
    most = most_of(*plan.render(0), config.settings.judge);
    config.budget.tokens = static_cast<std::uint64_t>(static_cast<double>(most.total()) * units);
    begin();
  }
  UnitResult judged(UnitId unit, std::uint32_t calls, const Usage& votes) const {
    auto result = paid(answered(unit), 1);
    result.spend.calls = calls;
    if (calls > 1) result.spend.add_answer(CallKind::judge, votes);
    return result;
  }

  PaidTokens most;
};

TEST_F(JudgedLimitsTest, VotesAreReservedWithTheirAnswer) {
  begin_with_room_for(1.5);
  EXPECT_GT(most.of(CallKind::judge).total(), most.of(CallKind::answer).total());
  EXPECT_EQ(leased(join("p", 1, 3), "p"), std::vector<UnitId>{0});
  EXPECT_TRUE(controller->waits_for_budget());
  const auto next = record(report("p", {judged(0, 4, {10, 10})}));
  EXPECT_EQ(leased(next, "p"), std::vector<UnitId>{1}) << "what the votes did not take is free again";
}

TEST_F(JudgedLimitsTest, VotesOfUnknownUsageCountAsWhatWasReserved) {
  begin_with_room_for(1.5);
  join("p", 1, 1);
  record(report("p", {judged(0, 4, {})}));
  expect_stopped(Reason::token_budget_spent);
}

// A vote without usage counted as nothing where another one of its unit had some.
TEST_F(JudgedLimitsTest, AVoteOfUnknownUsageCountsAlsoWhereOthersHaveOne) {
  begin_with_room_for(1.5);
  join("p", 1, 1);
  auto partly_known = judged(0, 4, {10, 10});
  partly_known.spend.add_answer(CallKind::judge, {});
  record(report("p", {partly_known}));
  expect_stopped(Reason::token_budget_spent);
}

TEST_F(JudgedLimitsTest, VotesThatNobodyCalledForCountNothing) {
  begin_with_room_for(1.5);
  join("p", 1, 1);
  const auto next = record(report("p", {judged(0, 1, {})}));
  EXPECT_EQ(leased(next, "p"), std::vector<UnitId>{1}) << "they came from the cache";
  auto from_cache = answered(1);
  from_cache.spend.cache_hit = true;
  EXPECT_EQ(leased(record(report("p", {from_cache})), "p"), std::vector<UnitId>{2});
}

}  // namespace
}  // namespace sluice
