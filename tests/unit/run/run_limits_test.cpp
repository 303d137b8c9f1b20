#include "coordinator/run/run_budget.hpp"
#include "tests/unit/run/run_fixture.hpp"

namespace sluice {
namespace {

// A run's own budgets: deadline, tokens and cost.

class RunLimitsTest : public RunControllerTest {
 protected:
  /// Allows so many units of this plan, all of which are of one size.
  void begin_with_room_for(double units) {
    const auto most = most_of(*plan.render(0));
    config.budget.tokens = static_cast<std::uint64_t>(static_cast<double>(most.total()) * units);
    begin();
  }
};

TEST_F(RunLimitsTest, TheDeadlineEndsTheRunAndDrainsAtOnce) {
  config.deadline = 2500ms;
  begin();
  join("p", 1);
  record(report("p", {answered(0)}));
  tick(1000ms);
  tick(2000ms);
  Effects early;
  controller->check_deadline(at(2499ms), early);
  EXPECT_FALSE(controller->over());
  Effects effects;
  controller->check_deadline(at(2500ms), effects);
  expect_stopped(Reason::deadline_reached);
  EXPECT_EQ(sent<wire::Drain>(effects, "p").size(), 1u);
  EXPECT_EQ(controller->facts().cut_short->message, "the run's deadline (--deadline) of 2.5 s was reached");
  EXPECT_EQ(controller->counts().passed, 1u);
}

TEST_F(RunLimitsTest, WhatARunBeforeTookCountsInDeadlineAndBudgets) {
  config.deadline = 2500ms;
  config.elapsed_before = 2000ms;
  begin();
  Effects effects;
  controller->check_deadline(at(500ms), effects);
  expect_stopped(Reason::deadline_reached);
  EXPECT_EQ(controller->facts().cut_short->message, "the run's deadline (--deadline) of 2.5 s was reached");

  config.deadline.reset();
  PaidTokens embedded;
  embedded.of(CallKind::embedding).input_tokens = 9'999;
  config.paid_before = embedded;
  config.budget.tokens = 10'000;
  begin();
  join("p", 1);
  expect_stopped(Reason::token_budget_spent);
  EXPECT_NE(controller->facts().cut_short->message.find("9999 of 10000"), std::string::npos)
      << controller->facts().cut_short->message;
}

// 30 answers with a usage of 2^63 were "paid 0", and --max-tokens did not stop the run.
TEST_F(RunLimitsTest, AnAnswerOfUnknownUsageCountsAsWhatWasReservedForIt) {
  begin_with_room_for(2.5);
  join("p", 1);
  auto unknown = answered(0);
  unknown.spend.calls = 1;
  unknown.spend.add_answer(CallKind::answer, {});
  record(report("p", {unknown}));
  unknown = answered(1);
  unknown.spend.calls = 1;
  unknown.spend.add_answer(CallKind::answer, {});
  record(report("p", {unknown}));
  expect_stopped(Reason::token_budget_spent);
}

TEST_F(RunLimitsTest, AnAnswerOfUnknownUsageCountsAlsoWhereItsEmbeddingHasOne) {
  begin_with_room_for(1.5);
  join("p", 1, 1);
  auto unknown = answered(0);
  unknown.spend.calls = 2;
  unknown.spend.add_answer(CallKind::answer, {});
  unknown.spend.paid.of(CallKind::embedding).input_tokens = 1;
  record(report("p", {unknown}));
  expect_stopped(Reason::token_budget_spent);
}

TEST_F(RunLimitsTest, AnAnswerOfUnknownUsageCountsAlsoWhereNobodyCanUseIt) {
  begin_with_room_for(1.5);
  join("p", 1, 1);
  auto cut_off = failed(0, Reason::truncated);
  cut_off.answer = sha256("half an ans");
  cut_off.spend.calls = 1;
  cut_off.spend.add_answer(CallKind::answer, {});
  record(report("p", {cut_off}));
  expect_stopped(Reason::token_budget_spent);
}

// What a worker had paid for a unit that it gave back was in no report, and free for others.
TEST_F(RunLimitsTest, WhatAUnitTookThatIsGivenBackIsPaid) {
  begin_with_room_for(2.5);
  const auto of_p = leased(join("p", 1, 1), "p");
  ASSERT_EQ(of_p.size(), 1u);
  UnitSpend spent{of_p[0], {}};
  spent.spend.calls = 2;
  spent.spend.add_answer(CallKind::answer, {30, 12});
  spent.spend.add_answer(CallKind::judge, {20, 5});
  send("p", wire::Report{run_id, 0, of_p, {}, of_p, {spent}});
  const auto facts = controller->facts();
  EXPECT_EQ(facts.paid.of(CallKind::answer), (Usage{30, 12}));
  EXPECT_EQ(facts.paid.of(CallKind::judge), (Usage{20, 5}));
  EXPECT_EQ(facts.requests, 2u);
  EXPECT_EQ(controller->begun_units(), of_p) << "no report says that it was not started";
}

// A worker whose key was refused, and that came back with its unit, kept the rest of the budget: the run
// waited for it until its deadline.
TEST_F(RunLimitsTest, NothingStaysReservedForAUnitThatFailsTwiceAtOneWorker) {
  suite = make_suite(1);
  plan = make_plan(suite);
  config.affinities = {{0, 0}};
  begin_with_room_for(1.5);
  join("p", 1, 1);
  join("q", 2, 0);
  report("p", {failed(0, Reason::key_refused)});
  ASSERT_EQ(leased(join("p", 1, 1), "p"), std::vector<UnitId>{0}) << "p has connected anew";
  report("p", {failed(0, Reason::key_refused)});
  EXPECT_EQ(leased(report("q", {}), "q"), std::vector<UnitId>{0});
}

TEST_F(RunLimitsTest, WhatIsNoUnitOfTheRunIsNotCharged) {
  begin_with_room_for(2.5);
  join("p", 1, 1);
  UnitSpend spent{9999, {}};
  spent.spend.add_answer(CallKind::judge, {20, 5});
  send("p", wire::Report{run_id, 1, {}, {}, {}, {spent}});
  EXPECT_EQ(controller->facts().paid.of(CallKind::judge), Usage{});
}

TEST_F(RunLimitsTest, ACallWithoutAnAnswerCountsNothing) {
  begin_with_room_for(1.5);
  join("p", 1, 1);
  auto refused = failed(0, Reason::rate_limited);
  refused.spend.calls = 3;
  const auto next = record(report("p", {refused}));
  EXPECT_EQ(leased(next, "p"), std::vector<UnitId>{1});
}

TEST_F(RunLimitsTest, TheBudgetIsNotSpentWhileAResultIsOnItsWayIntoTheLedger) {
  begin_with_room_for(1.5);
  join("p", 1, 1);
  join("q", 2, 1);
  auto done = paid(answered(0), 1);
  done.spend.calls = 1;
  FromWorkers last_words;
  last_words.items.push_back({"p", wire::Report{run_id, 0, {0}, {done}}});
  last_words.items.push_back({"p", wire::Goodbye{"SIGTERM"}});
  const auto effects = send(std::move(last_words));
  ASSERT_FALSE(controller->over()) << controller->stopped()->message;
  EXPECT_TRUE(controller->waits_for_budget());
  EXPECT_EQ(leased(record(effects), "q"), std::vector<UnitId>{1});
}

TEST_F(RunLimitsTest, TheBudgetIsNotSpentWhileAWorkerThatGetsNoMoreWorkHasCallsUnderWay) {
  begin_with_room_for(2.5);
  const auto of_p = leased(join("p", 1, 2), "p");
  ASSERT_EQ(of_p.size(), 2u);
  join("q", 2, 1);
  const auto unreachable =
      send("p", wire::Report{run_id, 2, of_p, {failed(of_p[0], Reason::provider_unreachable)}});
  const auto of_q = leased(unreachable, "q");
  ASSERT_EQ(of_q.size(), 1u);
  const auto dear = paid(answered(of_q[0]), most_of(*plan.render(0)).total());
  record(send("q", wire::Report{run_id, 1, {}, {dear}}));
  ASSERT_FALSE(controller->over()) << controller->stopped()->message;
  EXPECT_TRUE(controller->waits_for_budget());
  const auto next = record(report("p", {paid(answered(of_p[1]), 1)}));
  EXPECT_EQ(leased(next, "q").size(), 1u);
}

TEST_F(RunLimitsTest, WhatAWorkerThatComesBackNeverGotIsFreeAgain) {
  begin_with_room_for(1.5);
  join("p", 1, 1);
  for (int i = 0; i < 5; ++i) tick(now + 1000ms);
  ASSERT_EQ(controller->worker_count(), 0u);
  hello("p", 1);
  EXPECT_EQ(leased(ready("p", 1, {}), "p").size(), 1u);
  EXPECT_FALSE(controller->over());
}

// --deadline 3s and a signal at 1.5 s: calls under way had 20 s more.
TEST_F(RunLimitsTest, TheDeadlineBoundsTheTimeOfCallsUnderWay) {
  config.deadline = 3000ms;
  config.drain_timeout = 20s;
  begin();
  join("p", 1);
  now = 1500ms;
  Effects effects;
  controller->stop({Reason::interrupted, "SIGINT"}, at(now), effects);
  ASSERT_EQ(sent<wire::Drain>(effects, "p").size(), 1u);
  EXPECT_EQ(sent<wire::Drain>(effects, "p")[0].finish_ms, 1500u);
}

// Only the log said so, at a level that is not shown by default, and a run that waited for other reasons did
// not answer a signal at all.
TEST_F(RunLimitsTest, EachSignalIsAcknowledgedAtOnce) {
  config.drain_timeout = 20s;
  begin();
  const auto of_p = leased(join("p", 1), "p");
  report("p", {}, of_p);
  const auto announced = [&](Reason reason) {
    Effects effects;
    controller->stop({reason, "stopped by a test"}, at(now), effects);
    return effects.announced;
  };
  ASSERT_EQ(of_p.size(), 3u);
  EXPECT_EQ(
      announced(Reason::key_refused),
      std::vector<std::string>{"the run ends early (key_refused): waiting up to 20 s for 3 calls under way"});
  now += 5s;
  controller->set_held_up(1);  // The progress line did not count it among the calls in flight.
  const auto acknowledged = announced(Reason::interrupted);
  ASSERT_EQ(acknowledged.size(), 1u);
  EXPECT_EQ(
      acknowledged[0].rfind("stopped by a test: waiting up to 15 s for 2 calls under way; press Ctrl-C", 0),
      0u)
      << acknowledged[0];
  EXPECT_TRUE(announced(Reason::key_refused).empty()) << "it is over already";
}

TEST_F(RunLimitsTest, WhatWasBegunIsToldFromWhatHadNoTurn) {
  begin();
  join("p", 1);
  record(report("p", {answered(0)}, {0, 1}));
  Effects effects;
  controller->stop({Reason::interrupted, "SIGINT"}, at(now), effects);
  send("p", wire::Goodbye{"drained"});
  ASSERT_TRUE(controller->all_gone());
  EXPECT_EQ(controller->begun_units(), std::vector<UnitId>{1}) << "unit 2 was leased alone";
}

// Two workers of one name were taken for one that missed its ACK.
TEST_F(RunLimitsTest, WhatTwoWorkersPaidForOneUnitCountsTwiceAndWhatOneSendsAgainOnce) {
  begin();
  for (const auto& [peer, instance] : {std::pair{"p", 1}, std::pair{"q", 2}}) {
    const auto id = static_cast<std::uint64_t>(instance);
    send(peer, wire::Hello{id, "worker", "cache-" + std::to_string(id), "0", 5});
    ready(peer, 1);
  }
  record(report("p", {paid(answered(0), 30)}));
  record(report("p", {paid(answered(0), 30)}));
  EXPECT_EQ(controller->facts().paid.total(), 30u);
  record(report("q", {paid(answered(0), 20)}));
  EXPECT_EQ(controller->facts().paid.total(), 50u);
  record(report("q", {paid(answered(0), 20)}));
  EXPECT_EQ(controller->facts().paid.total(), 50u) << "its ACK was lost";
}

TEST_F(RunLimitsTest, ReportedTokensAreNeverSummedToLess) {
  config.budget.tokens = 1'000'000'000;
  begin();
  join("p", 1, 1);
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  record(send("p", wire::Report{run_id, 1, {}, {paid(answered(0), half)}}));
  expect_stopped(Reason::token_budget_spent);
  record(report("p", {paid(answered(1), half)}));
  EXPECT_EQ(controller->facts().paid.total(), std::numeric_limits<std::uint64_t>::max());
}

/// A plan of three cases that a model judges, each with more to reserve for its votes than for its answer.
TEST_F(RunLimitsTest, TheDeadlineCountsWhileNoWorkerIsThere) {
  config.deadline = 3000ms;
  begin();
  for (auto time = 1000ms; time <= 3000ms; time += 1000ms) tick(time);
  expect_stopped(Reason::deadline_reached);
}

TEST_F(RunLimitsTest, ARunThatIsCompleteMeetsNoDeadline) {
  config.deadline = 2000ms;
  begin();
  join("p", 1);
  record(report("p", {answered(0), answered(1), answered(2)}));
  tick(2000ms);
  EXPECT_TRUE(controller->over());
  EXPECT_FALSE(controller->stopped());
}

TEST_F(RunLimitsTest, ARunWhoseLastResultsWereOnTheirWayIsNotCutShort) {
  config.deadline = 2000ms;
  begin();
  join("p", 1);
  const auto reported = report("p", {answered(0), answered(1), answered(2)});
  tick(2000ms);
  ASSERT_TRUE(controller->facts().cut_short);
  record(reported);
  EXPECT_FALSE(controller->facts().cut_short);
}

TEST_F(RunLimitsTest, UnitsAreLeasedAsFarAsTheBudgetGoes) {
  begin_with_room_for(2.5);
  EXPECT_EQ(leased(join("p", 1), "p"), (std::vector<UnitId>{0, 1}));
  EXPECT_TRUE(leased(join("q", 2), "q").empty());
  EXPECT_FALSE(controller->over()) << "what is under way may take less";
  EXPECT_TRUE(controller->waits_for_budget());
  const auto next = record(report("p", {paid(answered(0), 10)}));
  EXPECT_EQ(leased(next, "p").size() + leased(next, "q").size(), 1u);
  EXPECT_FALSE(controller->waits_for_budget());
  record(report("p", {paid(answered(1), 10)}));
  record(report("p", {paid(answered(2), 10)}));
  EXPECT_TRUE(controller->over());
  EXPECT_FALSE(controller->stopped()) << "all fitted in the end";
}

TEST_F(RunLimitsTest, ASpentBudgetEndsTheRunOnceNobodyIsAtWork) {
  begin_with_room_for(2.0);
  join("p", 1);
  const auto each = *config.budget.tokens / 2;
  record(report("p", {paid(answered(0), each)}));
  EXPECT_FALSE(controller->over()) << "the second one is still at work";
  const auto end = record(report("p", {paid(failed(1, Reason::timed_out), each)}));
  expect_stopped(Reason::token_budget_spent);
  EXPECT_EQ(sent<wire::Drain>(end, "p").size(), 1u);
  EXPECT_EQ(controller->facts().paid.of(CallKind::answer).input_tokens, 2 * each)
      << "failed calls were paid as well";
}

TEST_F(RunLimitsTest, ABudgetThatNoCallFitsEndsTheRunAtOnce) {
  begin_with_room_for(0.5);
  EXPECT_TRUE(leased(join("p", 1), "p").empty());
  expect_stopped(Reason::token_budget_spent);
  EXPECT_NE(controller->stopped()->message.find("too small to begin with"), std::string::npos);
}

TEST_F(RunLimitsTest, ACostBudgetNeedsNoTokenBudget) {
  config.budget.cost = 1.0;
  config.price = [](const PaidByArm& paid) {
    return static_cast<double>(paid.total().of(CallKind::answer).input_tokens);
  };
  begin();
  join("p", 1);
  expect_stopped(Reason::cost_budget_spent);
}

TEST_F(RunLimitsTest, WhatALostWorkerWasGivenStaysReserved) {
  begin_with_room_for(3.0);
  join("p", 1, 2);
  send("p", wire::Report{run_id, 2, {0}, {}});
  for (int i = 0; i < 5; ++i) tick(now + 1000ms);
  ASSERT_EQ(controller->worker_count(), 0u);
  EXPECT_EQ(leased(join("q", 2), "q").size(), 1u) << "p may have begun with the other unit as well";
  EXPECT_FALSE(controller->over());
}

TEST_F(RunLimitsTest, WhatAWorkerGivesBackIsFreeAgain) {
  begin_with_room_for(2.0);
  join("p", 1);
  report("p", {}, {0});
  send("p", wire::Goodbye{"drained"});
  EXPECT_EQ(leased(join("q", 2), "q").size(), 1u) << "the unit that p never began with";
  EXPECT_FALSE(controller->over());
}

TEST_F(RunLimitsTest, WhatAWorkerBringsBackFromALossIsSettled) {
  begin_with_room_for(2.0);
  join("p", 1);
  report("p", {}, {0, 1});
  for (int i = 0; i < 5; ++i) tick(now + 1000ms);
  join("p", 1, 0);  // It takes no more.
  record(send("p", wire::Report{run_id, 0, {}, {paid(answered(0), 1), paid(answered(1), 1)}}));
  EXPECT_EQ(leased(join("q", 2), "q"), std::vector<UnitId>{2});
}

TEST_F(RunLimitsTest, WhatAWorkerStillHoldsAfterAReconnectIsReserved) {
  begin_with_room_for(2.5);
  join("p", 1);
  hello("p2", 1);
  EXPECT_TRUE(leased(ready("p2", 10, {0, 1}), "p2").empty());
  EXPECT_TRUE(leased(join("q", 2), "q").empty());
  record(report("p2", {paid(answered(0), 1)}));
  EXPECT_EQ(controller->waiting_count() + controller->started_count(), 2u) << "units 1 and 2";
}

TEST_F(RunLimitsTest, AMissFreesWhatWasReserved) {
  config.settings.mode = Mode::cached;
  begin_with_room_for(1.0);
  EXPECT_EQ(leased(join("p", 1), "p").size(), 1u);
  EXPECT_TRUE(leased(join("q", 2), "q").empty());
  const auto missed = report("p", {failed(0, Reason::cache_miss)});
  EXPECT_EQ(leased(missed, "q").size() + leased(missed, "p").size(), 1u);
}

TEST_F(RunLimitsTest, AWorkerThatWaitsForTheCoordinatorKeepsItsLeases) {
  config.dispatch.lease_time = 2500ms;
  config.settings.providers.emplace_back().name = "openai";
  begin();
  join("p", 1);
  report("p", {}, {0, 1, 2});
  const auto beat = [&](std::uint32_t ready_calls) {
    wire::Demand demand;
    demand.provider = "openai";
    demand.ready_calls = ready_calls;
    send("p", wire::Heartbeat{run_id, 0, 10, {demand}});
    tick(now + 1000ms);
  };
  for (int i = 0; i < 10; ++i) beat(3);
  EXPECT_EQ(controller->facts().leases_lost, 0u);
  for (int i = 0; i < 3; ++i) beat(0);
  EXPECT_EQ(controller->facts().leases_lost, 3u) << "nothing keeps it from its work any more";
}

}  // namespace
}  // namespace sluice
