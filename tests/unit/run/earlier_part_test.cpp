// A run that goes on where its earlier parts stopped.
#include "coordinator/run/earlier_part.hpp"

#include "tests/unit/run/run_fixture.hpp"

#include <memory>

namespace sluice {
namespace {

class EarlierPartTest : public RunControllerTest {
 protected:
  /// Unit 2 has two trials.
  void settle(UnitId unit, const std::string& worker, std::uint64_t tokens = 0) {
    for (const TrialId trial : plan.trials_of(unit)) {
      CommittedTrial committed_trial{trial, paid(answered(unit), tokens)};
      committed_trial.unit.spend.calls = 1;
      committed_trial.unit.scores = {{trial, {}, {}}};
      const auto added = earlier->add(committed_trial, worker);
      ASSERT_TRUE(added) << added.error().message;
    }
    committed.emplace(unit, sha256("answer"));
  }
  void go_on() {
    config.earlier = earlier;
    begin();
  }

  std::shared_ptr<EarlierPart> earlier = std::make_shared<EarlierPart>(plan, run_id);
};

TEST_F(EarlierPartTest, OnlyWhatHasNoResultIsLeased) {
  settle(0, "worker-7");
  settle(2, "worker-7");
  go_on();
  EXPECT_EQ(controller->counts().passed, 3u) << "a unit of two trials among them";
  EXPECT_EQ(leased(join("p", 1), "p"), std::vector<UnitId>{1});
  record(report("p", {answered(1)}));
  EXPECT_TRUE(controller->over());
  EXPECT_FALSE(controller->stopped());
  EXPECT_EQ(controller->counts().passed, 4u);
  EXPECT_EQ(controller->facts().requests, 2u) << "the earlier ones; this one's result has none";
}

// They counted as passed.
TEST_F(EarlierPartTest, TrialsWithUndecidedChecksAreErrors) {
  MetricOutcome undecided;
  undecided.detail = "no such program";
  CommittedTrial trial{0, answered(0)};
  trial.unit.scores = {{0, {undecided}, {}}};
  ASSERT_TRUE(earlier->add(trial, "worker-7"));
  EXPECT_EQ(earlier->tally().trials().errors, 1u);
  EXPECT_EQ(earlier->tally().trials().passed, 0u);
}

// What a repair left of it settled the unit, and the trial that was lost was never asked again.
TEST_F(EarlierPartTest, AUnitThatLostATrialIsTorn) {
  settle(0, "worker-7");
  settle(2, "worker-7", 30);
  EXPECT_TRUE(earlier->torn().empty());
  EarlierPart repaired(plan, run_id);
  CommittedTrial left{plan.trials_of(2)[1], paid(answered(2), 30)};
  ASSERT_TRUE(repaired.add(left, "worker-7"));
  const auto torn = repaired.torn();
  ASSERT_EQ(torn.size(), 1u);
  EXPECT_EQ(torn[0].unit, 2u);
  EXPECT_EQ(torn[0].spend.paid.total(), 30u);
}

TEST_F(EarlierPartTest, ARunWithAllItsResultsEndsWithoutAnyWorker) {
  for (UnitId unit = 0; unit < plan.unit_count(); ++unit) settle(unit, "worker-7");
  go_on();
  tick(1000ms);
  EXPECT_TRUE(controller->over());
  EXPECT_TRUE(controller->all_gone());
  EXPECT_FALSE(controller->stopped());
}

TEST_F(EarlierPartTest, BudgetsCountWhatEarlierPartsSpent) {
  const auto most = most_of(*plan.render(0)).total();
  config.budget.tokens = 3 * most;
  settle(0, "worker-7", most);
  UnitSpend failed_call;
  failed_call.unit = 1;
  failed_call.spend.paid.of(CallKind::answer).input_tokens = most + 1;
  earlier->add(failed_call);
  go_on();
  join("p", 1);
  expect_stopped(Reason::token_budget_spent);
  EXPECT_NE(controller->facts().cut_short->message.find(std::to_string(2 * most + 1) + " of "),
            std::string::npos)
      << controller->facts().cut_short->message;
}

// A budget of tokens was exceeded by a resumed run: of some calls of its first part nobody knew what they
// took.
TEST_F(EarlierPartTest, CallsOfUnknownUsageCountAsWhatWasReservedForThem) {
  const auto most = most_of(*plan.render(0)).total();
  config.budget.tokens = 2 * most + most / 2;
  settle(0, "worker-7", 1);
  UnitSpend cut_off{1, {}};
  cut_off.spend.add_answer(CallKind::answer, {});
  earlier->add(cut_off);
  UnitSpend partly{0, {}};
  partly.spend.add_answer(CallKind::answer, {3, 1});
  partly.spend.add_answer(CallKind::answer, {});
  earlier->add(partly);
  go_on();
  join("p", 1);
  expect_stopped(Reason::token_budget_spent);
  EXPECT_NE(controller->facts().cut_short->message.find(std::to_string(2 * most + 1) + " of "),
            std::string::npos)
      << controller->facts().cut_short->message;
  EXPECT_EQ(controller->facts().paid.total(), 5u) << "what is known is what the report shows";
}

// Its coordinator died between the commit and the ACK.
TEST_F(EarlierPartTest, AResultThatItsWorkerSendsAgainIsPaidOnce) {
  settle(0, "worker-1", 10);
  go_on();
  hello("p", 1);
  const auto withdrawn = sent<wire::Withdraw>(ready("p", 10, {0, 1}), "p");
  ASSERT_EQ(withdrawn.size(), 1u);
  EXPECT_EQ(withdrawn[0].units, std::vector<UnitId>{0});
  const auto recorded = record(report("p", {paid(answered(0), 10), paid(answered(1), 10)}));
  ASSERT_EQ(acked(recorded, "p").size(), 2u);
  EXPECT_EQ(acked(recorded, "p")[0].code, wire::AckCode::duplicate);
  EXPECT_EQ(acked(recorded, "p")[1].code, wire::AckCode::committed);
  EXPECT_EQ(controller->facts().paid.of(CallKind::answer).input_tokens, 20u);
  EXPECT_TRUE(recorded.spent.empty());
  // Another worker's second answer was paid for.
  join("q", 2);
  const auto second = record(report("q", {paid(answered(0), 7)}));
  EXPECT_EQ(controller->facts().paid.of(CallKind::answer).input_tokens, 27u);
  ASSERT_EQ(second.spent.size(), 1u) << "no result of the ledger has it";
  EXPECT_EQ(second.spent[0].spend.paid.of(CallKind::answer).input_tokens, 7u);
}

TEST_F(EarlierPartTest, WhatASurvivingWorkerHoldsWaitsForItAndIsItsLeaseAgain) {
  config.workers_may_join = true;
  config.holders = {"cache-1"};
  for (auto& affinity : config.affinities) affinity.holder = 1;  // As the noted leases say.
  go_on();
  EXPECT_TRUE(leased(join("q", 2), "q").empty()) << "nobody else gets what may be under way there";
  hello("p", 1);
  const auto back = ready("p", 10, {0, 1});
  EXPECT_EQ(leased(back, "p"), std::vector<UnitId>{2});
  EXPECT_TRUE(leased(back, "q").empty());
  record(report("p", {answered(0), answered(1)}));
  EXPECT_EQ(controller->counts().passed, 2u);
}

TEST_F(EarlierPartTest, LeasesAreNotedForWhoeverGoesOn) {
  config.notes_leases = true;
  begin();
  const auto effects = join("p", 1, 2);
  ASSERT_EQ(effects.leased.size(), 2u);
  EXPECT_EQ(effects.leased[0].cache, "cache-1");
  config.notes_leases = false;
  begin();
  EXPECT_TRUE(join("p", 1, 2).leased.empty());
}

TEST_F(EarlierPartTest, AResultOfAnotherPlanIsRefused) {
  CommittedTrial foreign{0, answered(0)};
  foreign.unit.key = sha256("something else");
  const auto added = earlier->add(foreign, "w");
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().reason, Reason::ledger_failed);
  foreign.trial = 99;
  EXPECT_FALSE(earlier->add(foreign, "w"));
}

}  // namespace
}  // namespace sluice
