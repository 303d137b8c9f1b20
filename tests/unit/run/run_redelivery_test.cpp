#include "tests/unit/run/run_fixture.hpp"

namespace sluice {
namespace {

// Who works on a unit when its worker leaves, is lost or comes back, or its result is on its way.

TEST_F(RunControllerTest, WhatIsBeingRecordedIsNotLeasedAnewWhenItsWorkerLeaves) {
  begin();
  join("p", 1);
  join("q", 2);
  FromWorkers last_words;
  last_words.items.push_back({"p", wire::Report{run_id, 0, {0, 1, 2}, {answered(0), answered(2)}}});
  last_words.items.push_back({"p", wire::Goodbye{"SIGTERM"}});
  const auto effects = send(std::move(last_words));
  EXPECT_EQ(leased(effects, "q"), std::vector<UnitId>{1}) << "the only one without an answer";
  record(effects);
  EXPECT_EQ(controller->counts().passed, 3u);
  EXPECT_FALSE(controller->over());
  record(report("q", {answered(1)}));
  EXPECT_TRUE(controller->over());
  EXPECT_FALSE(controller->stopped());
}

TEST_F(RunControllerTest, WhatIsBeingRecordedIsNotLeasedAnewWhenItsWorkerIsLost) {
  begin();
  join("p", 1);
  const auto reported = report("p", {answered(0)}, {0});
  join("q", 2);
  tick(1000ms);
  tick(2000ms);
  send("q", wire::Heartbeat{run_id, 0, 10, {}});
  tick(3000ms);
  const auto lost = tick(3500ms);
  EXPECT_EQ(leased(lost, "q"), (std::vector<UnitId>{1, 2}));
  record(reported);
  EXPECT_EQ(controller->counts().passed, 1u);
}

TEST_F(RunControllerTest, WhatAWorkerReturnsGoesToOthersWithoutALoss) {
  begin();
  join("p", 1);
  join("q", 2);
  const auto effects = send("p", wire::Report{run_id, 0, {0}, {}, {0, 2}});
  EXPECT_EQ(leased(effects, "q"), (std::vector<UnitId>{0, 2}));
  EXPECT_TRUE(leased(effects, "p").empty());
  EXPECT_EQ(controller->facts().leases_lost, 0u);
}

TEST_F(RunControllerTest, AUnitThatALateResultSettlesIsWithdrawnFromWhoWaitsToBeginIt) {
  begin();
  join("p", 1);
  tick(1000ms);
  tick(2000ms);
  tick(3000ms);
  join("q", 2);
  tick(3500ms);  // p is lost, and q has its units.
  EXPECT_EQ(controller->worker_count(), 1u);
  hello("p", 1);
  ready("p", 0, {});
  const auto reported = report("p", {answered(0)});
  EXPECT_TRUE(sent<wire::Withdraw>(reported, "q").empty()) << "it is not in the ledger yet";
  const auto recorded = record(reported);
  const auto withdrawn = sent<wire::Withdraw>(recorded, "q");
  ASSERT_EQ(withdrawn.size(), 1u);
  EXPECT_EQ(withdrawn[0], (wire::Withdraw{run_id, {0}}));
  EXPECT_TRUE(sent<wire::Withdraw>(recorded, "p").empty());
  EXPECT_TRUE(leased(send("q", wire::Report{run_id, 10, {}, {}, {0}}), "q").empty());
}

// It called for units that others had answered meanwhile: they were paid twice.
TEST_F(RunControllerTest, AWorkerThatComesBackDropsWhatOthersHaveByNow) {
  begin();
  join("p", 1);
  tick(1000ms);
  tick(2000ms);
  tick(3000ms);
  join("q", 2, 2);
  const auto of_q = leased(tick(3500ms), "q");
  ASSERT_EQ(of_q.size(), 2u) << "p is lost";
  record(send("q", wire::Report{run_id, 1, {}, {answered(of_q[0])}}));
  hello("p", 1);
  const auto withdrawn = sent<wire::Withdraw>(ready("p", 10, {0, 1, 2}), "p");
  ASSERT_EQ(withdrawn.size(), 1u);
  EXPECT_EQ(withdrawn[0].units, of_q) << "one is settled, one q's, and one its own again";
}

TEST_F(RunControllerTest, WhatAWorkerThatComesBackDropsIsFreeForOthers) {
  config.budget.tokens = most_of(*plan.render(0)).total() * 5 / 2;
  begin();
  const auto of_p = leased(join("p", 1, 1), "p");
  tick(1000ms);
  tick(2000ms);
  tick(3000ms);
  const auto of_q = leased(join("q", 2, 1), "q");
  tick(3500ms);
  ASSERT_EQ(of_q.size(), 1u);
  auto done = answered(of_q[0]);
  done.spend.paid.of(CallKind::answer).input_tokens = 1;
  EXPECT_EQ(leased(record(report("q", {done})), "q"), of_p) << "p is lost";
  EXPECT_TRUE(controller->waits_for_budget()) << "p may have paid for its unit";
  hello("p", 1);
  EXPECT_EQ(sent<wire::Withdraw>(ready("p", 0, of_p), "p").size(), 1u);
  const auto returned = send("p", wire::Report{run_id, 0, {}, {}, of_p});
  EXPECT_EQ(leased(returned, "q").size(), 1u) << "the third one";
}

/// Plays the checker that drops what it was given.
ResultsDropped dropped(const Effects& from) {
  ResultsDropped all;
  for (const auto& [worker, item, is_late] : from.to_record)
    all.items.push_back({worker, item.result.unit, item.result.key, item.result.spend});
  return all;
}

// Their cost was in no report and no ledger, and their workers waited for an ACK that never came.
TEST_F(RunControllerTest, ResultsThatAreDroppedArePaidForAndAcknowledged) {
  begin();
  join("p", 1);
  const auto reported = report("p", {paid(answered(0), 100)}, {0});
  Effects effects;
  controller->stop({Reason::interrupted, "SIGINT"}, at(now), effects);
  const auto late = report("p", {paid(answered(1), 20)}, {1});
  Effects counted;
  controller->on_dropped(dropped(reported), counted);
  controller->on_dropped(dropped(late), counted);
  EXPECT_EQ(controller->facts().paid.of(CallKind::answer).input_tokens, 120u);
  ASSERT_EQ(counted.spent.size(), 2u);
  EXPECT_EQ(counted.spent[0].unit, 0u);
  EXPECT_EQ(counted.spent[0].spend.paid.of(CallKind::answer).input_tokens, 100u);
  const auto acks = acked(counted, "p");
  ASSERT_EQ(acks.size(), 2u);
  EXPECT_EQ(acks[0].code, wire::AckCode::retry);
  EXPECT_EQ(acks[0].key, plan.key(0));
  EXPECT_EQ(controller->begun_units(), (std::vector<UnitId>{0, 1})) << "they have no result";
  // The ACK was lost: it is sent again, and costs nothing more.
  Effects again;
  controller->on_dropped(dropped(report("p", {paid(answered(0), 100)})), again);
  EXPECT_EQ(controller->facts().paid.of(CallKind::answer).input_tokens, 120u);
  EXPECT_TRUE(again.spent.empty());
  EXPECT_EQ(acked(again, "p").size(), 1u);
}

// Commands checked it once more, for nothing.
TEST_F(RunControllerTest, AResultBehindAnotherOfItsUnitIsSaidToBeLate) {
  begin();
  join("p", 1);
  const auto first = report("p", {answered(0)});
  ASSERT_EQ(first.to_record.size(), 1u);
  EXPECT_FALSE(first.to_record[0].is_late);
  join("q", 2);
  const auto meanwhile = report("q", {answered(0)});
  ASSERT_EQ(meanwhile.to_record.size(), 1u);
  EXPECT_TRUE(meanwhile.to_record[0].is_late);
  record(first);
  const auto again = report("p", {answered(0)});
  ASSERT_EQ(again.to_record.size(), 1u);
  EXPECT_TRUE(again.to_record[0].is_late);
}

// A run that another reason had ended waited for all its commands.
TEST_F(RunControllerTest, ASignalOrTheDeadlineDropsChecksWhoeverEndedTheRunBefore) {
  config.deadline = 2000ms;
  begin();
  join("p", 1);
  Effects outage;
  controller->stop({Reason::key_refused, "the key is refused"}, at(now), outage);
  EXPECT_FALSE(outage.drop_checks) << "what was paid for is checked";
  EXPECT_FALSE(tick(1000ms).drop_checks);
  Effects signal;
  controller->stop({Reason::interrupted, "SIGINT"}, at(now), signal);
  EXPECT_TRUE(signal.drop_checks);
  EXPECT_TRUE(tick(2000ms).drop_checks);
  EXPECT_EQ(controller->stopped()->reason, Reason::key_refused);
}

// With --refresh the run that went on paid for their answers again.
TEST_F(RunControllerTest, ChecksOfAnswersThatNoCacheServesHaveTheTimeOfCallsUnderWay) {
  config.settings.read_cache = false;
  config.drain_timeout = 25s;
  begin();
  join("p", 1);
  EXPECT_FALSE(tick(1000ms).drop_checks);
  controller->set_in_check(2);
  Effects signal;
  controller->stop({Reason::interrupted, "SIGINT"}, at(now), signal);
  EXPECT_FALSE(signal.drop_checks);
  ASSERT_EQ(signal.announced.size(), 1u);
  EXPECT_NE(signal.announced[0].find("commands that check 2 answers"), std::string::npos)
      << signal.announced[0];
  EXPECT_FALSE(tick(25'000ms).drop_checks);
  EXPECT_TRUE(tick(26'000ms).drop_checks);
}

// The run ended with "no worker is connected" though it had every answer.
TEST_F(RunControllerTest, ARunWhoseAnswersAreAllThereNeedsNoWorker) {
  begin();
  join("p", 1);
  const auto reported = report("p", {answered(0), answered(1), answered(2)});
  send("p", wire::Goodbye{"SIGTERM"});
  Effects effects;
  controller->on_local_worker_failed({Reason::cache_failed, "its cache is full"}, at(now), effects);
  for (auto time = 1000ms; time <= 30'000ms; time += 1000ms) tick(time);
  EXPECT_FALSE(controller->over());
  record(reported);
  EXPECT_TRUE(controller->over());
  EXPECT_FALSE(controller->stopped());
}

}  // namespace
}  // namespace sluice
