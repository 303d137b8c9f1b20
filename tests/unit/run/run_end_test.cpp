// How a run ends, and what becomes of its workers and of what is under way.
#include "tests/unit/run/run_fixture.hpp"

namespace sluice {
namespace {

TEST_F(RunControllerTest, WorkersWaitForTheRunThatFollowsUnlessThisOneIsStopped) {
  config.another_follows = true;
  begin();
  join("p", 1);
  auto effects = record(report("p", {answered(0), answered(1), answered(2)}));
  ASSERT_EQ(sent<wire::Drain>(effects, "p").size(), 1u);
  EXPECT_TRUE(sent<wire::Drain>(effects, "p")[0].another_follows);
  begin();
  join("p", 1);
  effects = report("p", {failed(0, Reason::key_refused)});
  ASSERT_EQ(sent<wire::Drain>(effects, "p").size(), 1u);
  EXPECT_FALSE(sent<wire::Drain>(effects, "p")[0].another_follows);
}

TEST_F(RunControllerTest, TheFirstReasonToStopStays) {
  begin();
  join("p", 1);
  Effects effects;
  controller->stop({Reason::interrupted, "SIGINT"}, at(now), effects);
  EXPECT_EQ(sent<wire::Drain>(effects, "p").size(), 1u);
  Effects again;
  controller->stop({Reason::ledger_failed, "x"}, at(now), again);
  EXPECT_TRUE(again.to_workers.empty());
  report("p", {failed(0, Reason::key_refused)});
  expect_stopped(Reason::interrupted);
}

// The report of a run that was interrupted while calls hung counted the requests of all others, and said
// nothing of these.
TEST_F(RunControllerTest, CallsThatTheEndCutOffAreKnown) {
  for (const bool are_waited_for : {true, false}) {
    committed.clear();
    begin();
    join("p", 1);
    record(report("p", {answered(0)}, {0, 1}));
    EXPECT_FALSE(controller->facts().cut_off_calls) << "the run goes on";
    Effects effects;
    controller->stop({Reason::interrupted, "SIGINT"}, at(now), effects);
    if (are_waited_for) record(report("p", {answered(1)}));
    send("p", wire::Goodbye{"drained"});
    EXPECT_EQ(controller->facts().cut_off_calls, !are_waited_for);
  }
}

TEST_F(RunControllerTest, ResultsThatComeAfterTheEndAreStillRecorded) {
  begin();
  join("p", 1);
  Effects effects;
  controller->stop({Reason::interrupted, "SIGINT"}, at(now), effects);
  const auto late = report("p", {answered(0)});
  ASSERT_EQ(late.to_record.size(), 1u) << "it was paid for";
  const auto acks = record(late);
  EXPECT_EQ(acked(acks, "p").at(0).code, wire::AckCode::committed);
  EXPECT_TRUE(leased(acks, "p").empty());
}

// Commands, or a locked ledger, had taken a while: the last line of progress had gone beyond the duration.
TEST_F(RunControllerTest, TheDurationOfAStoppedRunReachesToTheLastResultInTheLedger) {
  begin();
  join("p", 1);
  now = 1000ms;
  const auto first = report("p", {answered(0)});
  Effects effects;
  controller->stop({Reason::interrupted, "SIGINT"}, at(now), effects);
  now = 4000ms;
  record(first);
  EXPECT_DOUBLE_EQ(controller->facts().duration_seconds, 4.0);
  now = 6000ms;
  record(first);
  EXPECT_DOUBLE_EQ(controller->facts().duration_seconds, 4.0) << "it was there before";
}

TEST_F(RunControllerTest, AWorkerThatMustConnectAnewWhileItsCallsEndBringsThem) {
  config.drain_timeout = 20s;
  begin();
  join("p", 1);
  join("q", 2);
  Effects effects;
  controller->stop({Reason::interrupted, "SIGINT"}, at(now), effects);
  now = 5s;
  EXPECT_EQ(sent<wire::Welcome>(hello("p-again", 1), "p-again").size(), 1u);
  const auto drained = ready("p-again", 0, {0, 1});
  ASSERT_EQ(sent<wire::Drain>(drained, "p-again").size(), 1u);
  EXPECT_EQ(sent<wire::Drain>(drained, "p-again")[0].finish_ms, 15'000u);
  EXPECT_TRUE(sent<wire::Withdraw>(drained, "p-again").empty());
  const auto late = report("p-again", {answered(0)});
  ASSERT_EQ(late.to_record.size(), 1u) << "it was paid for";
  EXPECT_EQ(acked(record(late), "p-again").at(0).code, wire::AckCode::committed);
  send("q", wire::Goodbye{"drained"});
  EXPECT_FALSE(controller->all_gone());
  send("p-again", wire::Goodbye{"drained"});
  EXPECT_TRUE(controller->all_gone());
}

TEST_F(RunControllerTest, NobodyIsAdmittedToTheEndWhoHasNothingToBringOrComesTooLate) {
  config.drain_timeout = 20s;
  begin();
  join("p", 1);
  Effects effects;
  controller->stop({Reason::interrupted, "SIGINT"}, at(now), effects);
  EXPECT_EQ(sent<wire::Drain>(hello("new", 2), "new").size(), 1u) << "it was never here";
  now = 20s;
  const auto late = hello("p", 1);
  EXPECT_TRUE(sent<wire::Welcome>(late, "p").empty());
  ASSERT_EQ(sent<wire::Drain>(late, "p").size(), 1u);
  EXPECT_EQ(sent<wire::Drain>(late, "p")[0].finish_ms, 0u);
}

TEST_F(RunControllerTest, AStoppedRunGivesCallsUnderWayTheirTime) {
  config.drain_timeout = 25s;
  for (const auto& [reason, finish_ms] :
       std::vector<std::pair<Reason, std::uint32_t>>{{Reason::interrupted, 25'000},
                                                     {Reason::key_refused, 25'000},
                                                     {Reason::deadline_reached, 0},
                                                     {Reason::ledger_failed, 25'000},
                                                     {Reason::internal_error, 0}}) {
    begin();
    join("p", 1);
    Effects effects;
    controller->stop({reason, "why"}, at(now), effects);
    const auto drains = sent<wire::Drain>(effects, "p");
    ASSERT_EQ(drains.size(), 1u);
    EXPECT_EQ(drains[0].finish_ms, finish_ms) << to_string(reason);
    EXPECT_EQ(controller->time_to_finish(at(now)), std::chrono::milliseconds(finish_ms));
  }
}

TEST_F(RunControllerTest, ACompleteRunWaitsForNoCalls) {
  config.drain_timeout = 25s;
  begin();
  join("p", 1);
  const auto end = record(report("p", {answered(0), answered(1), answered(2)}));
  ASSERT_EQ(sent<wire::Drain>(end, "p").size(), 1u);
  EXPECT_EQ(sent<wire::Drain>(end, "p")[0].finish_ms, 0u);
}

// It was said to be waited for.
TEST_F(RunControllerTest, AWorkerThatFallsSilentAfterTheEndIsSaidToBeSilentAlone) {
  begin();
  join("p", 1);
  Effects effects;
  controller->stop({Reason::interrupted, "SIGINT"}, at(now), effects);
  for (auto time = 1000ms; time <= 4000ms; time += 1000ms) effects = tick(time);
  ASSERT_EQ(effects.notes.size(), 1u);
  EXPECT_TRUE(effects.notes[0].text.ends_with(" is silent")) << effects.notes[0].text;
}

TEST_F(RunControllerTest, ALateHelloIsSentHome) {
  begin();
  Effects effects;
  controller->stop({Reason::interrupted, "SIGINT"}, at(now), effects);
  const auto late = hello("p", 1);
  EXPECT_TRUE(sent<wire::Welcome>(late, "p").empty());
  ASSERT_EQ(sent<wire::Drain>(late, "p").size(), 1u);
  EXPECT_EQ(sent<wire::Drain>(late, "p")[0].run_id, run_id);
  EXPECT_TRUE(controller->all_gone()) << "nobody waits for its GOODBYE";
}

TEST_F(RunControllerTest, ARunWithoutWorkersEnds) {
  begin();
  for (auto time = 1000ms; time <= 10s; time += 1000ms) tick(time);
  EXPECT_FALSE(controller->over());
  tick(11s);
  expect_stopped(Reason::no_workers);
  EXPECT_NE(controller->stopped()->message.find("10 s; start one"), std::string::npos);
}

TEST_F(RunControllerTest, TheWaitForWorkersBeginsWhenTheLastIsGone) {
  begin();
  join("p", 1);
  for (auto time = 1000ms; time <= 20s; time += 1000ms) {
    send("p", wire::Heartbeat{run_id, 0, 10, {}});
    tick(time);
  }
  send("p", wire::Goodbye{"stopped"});
  for (auto time = 21s; time <= 30s; time += 1s) tick(time);
  EXPECT_FALSE(controller->over());
  tick(31s);
  expect_stopped(Reason::no_workers);
}

TEST_F(RunControllerTest, AUnitThatKillsItsWorkersIsLostAndTheRestGoesOn) {
  begin();
  std::uint64_t instance = 1;
  for (; instance <= 3; ++instance) {
    const Peer peer = "p" + std::to_string(instance);
    join(peer, instance, 1);
    report(peer, {}, {0, 1, 2});
    for (int i = 0; i < 5; ++i) tick(now + 1000ms);
    EXPECT_EQ(controller->worker_count(), 0u);
  }
  ASSERT_EQ(controller->lost_units().size(), 1u);
  EXPECT_FALSE(controller->over());
  const auto lost = controller->lost_units()[0];
  join("q", 9);
  for (UnitId unit = 0; unit < 3; ++unit) {
    if (unit != lost) record(report("q", {answered(unit)}));
  }
  EXPECT_TRUE(controller->over());
  EXPECT_FALSE(controller->stopped());
  EXPECT_EQ(controller->lost_units(), std::vector<UnitId>{lost});
}

}  // namespace
}  // namespace sluice
