// When a worker waits, and when it ends.
#include "common/defaults.hpp"
#include "common/text/stderr_line.hpp"
#include "tests/actors/worker_actor_fixture.hpp"

namespace sluice {
namespace {

TEST_F(WorkerActorTest, WhoIsCutOffStopsCallingUntilTheCoordinatorIsBack) {
  begin();
  for (int second = 0; second < 4; ++second) pass(1000ms);
  lease({0});  // Any message is a sign of life,
  EXPECT_TRUE(calls().empty()) << "but only a grant allows calls after a silence";
  hear(grants(unlimited()));
  EXPECT_EQ(calls().size(), 1u);
  pass(5000ms);
  auto client_of_run = client();
  caf::send_as(listener.handle(), client_of_run, CompleteUnits{{std::make_shared<const WorkUnit>(unit(7))}});
  settle();
  EXPECT_TRUE(calls().empty());
  EXPECT_GE(dealer.got<ReopenSocket>().size(), 1u) << "a fresh connection is tried";
  hear(grants(unlimited()));
  EXPECT_EQ(calls().size(), 1u);
}

// A coordinator that was started anew knows nothing of it, and may not answer each of its messages.
TEST_F(WorkerActorTest, WhoReconnectsSaysHelloWithoutBeingAsked) {
  begin();
  lease({0});
  for (int second = 0; second < 5; ++second) pass(1000ms);
  EXPECT_EQ(dealer.got<ReopenSocket>().size(), 1u);
  ASSERT_EQ(said<wire::Hello>().size(), 1u);
  hear(wire::Welcome{settings});
  const auto ready = said<wire::Ready>();
  ASSERT_EQ(ready.size(), 1u);
  EXPECT_EQ(ready[0].held, (std::vector<wire::HeldUnit>{{0, 0}}));
}

TEST_F(WorkerActorTest, DrainEndsIt) {
  begin();
  lease({0});
  hear(wire::Drain{"run-0", "another run"});
  EXPECT_FALSE(has_ended());
  hear(wire::Drain{"run-1", "complete"});
  ASSERT_TRUE(has_ended());
  EXPECT_FALSE(listener.got<WorkerEnded>()[0].error);
  EXPECT_EQ(said<wire::Goodbye>().size(), 1u);
  EXPECT_EQ(dealer.got<CloseSocket>().size(), 1u);
  EXPECT_EQ(running(), 2u)
      << "the fake dealer and the listener: everything else has ended, the HTTP actor with it";
}

TEST_F(WorkerActorTest, WaitsForTheRunThatFollowsAsLongAsForACoordinator) {
  begin();
  hear(wire::Drain{"run-1", "complete", 0, true});
  EXPECT_FALSE(has_ended());
  EXPECT_EQ(said<wire::Goodbye>().size(), 1u);
  said<wire::Hello>();
  pass(2s);
  EXPECT_EQ(said<wire::Hello>().size(), 2u);
  settings.run_id = "run-2";
  hear(wire::Welcome{settings});
  EXPECT_EQ(said<wire::Ready>().size(), 1u);
  hear(wire::Drain{"run-2", "complete"});
  EXPECT_TRUE(has_ended());
}

TEST_F(WorkerActorTest, AWorkerThatStaysWaitsForTheNextRun) {
  start(true);
  hear(wire::Welcome{settings});
  hear(wire::Drain{"run-1", "complete"});
  EXPECT_FALSE(has_ended());
  said<wire::Hello>();
  pass(120s);
  EXPECT_FALSE(has_ended());
  EXPECT_EQ(said<wire::Hello>().size(), 120u);
}

TEST_F(WorkerActorTest, WithoutACoordinatorItEnds) {
  start();
  pass(60s);
  EXPECT_FALSE(has_ended());
  pass(1s);
  ASSERT_TRUE(has_ended());
  EXPECT_EQ(listener.got<WorkerEnded>()[0].error->reason, Reason::coordinator_unreachable);
}

// Both sides used to give up after 60 s: a link that was down for 75 s ended the run.
TEST_F(WorkerActorTest, ByDefaultACoordinatorThatWasCutOffFor75SecondsFindsItsWorker) {
  coordinator_timeout = defaults::peer_timeout;
  begin();
  pass(75s);
  ASSERT_FALSE(has_ended());
  said<wire::Hello>();
  hear(wire::Welcome{settings});
  EXPECT_EQ(said<wire::Ready>().size(), 1u);
}

TEST_F(WorkerActorTest, WhoWasStoppedItselfWaitsForTheCoordinatorAnew) {
  begin();
  jump(90s);  // SIGSTOP: one late tick, not ninety.
  EXPECT_FALSE(has_ended()) << "what the coordinator said meanwhile has yet to be read";
  pass(61s);
  EXPECT_TRUE(has_ended());
}

TEST_F(WorkerActorTest, AnotherVersionOfTheProtocolEndsIt) {
  start();
  hear(wire::Reject{wire::RejectCode::protocol_mismatch, "9"});
  ASSERT_TRUE(has_ended());
  EXPECT_EQ(listener.got<WorkerEnded>()[0].error->reason, Reason::protocol_mismatch);
}

TEST_F(WorkerActorTest, AnOntologyThatCannotBeReadEndsIt) {
  settings.ontology = "not = [toml";
  start();
  hear(wire::Welcome{settings});
  ASSERT_TRUE(has_ended());
  EXPECT_TRUE(listener.got<WorkerEnded>()[0].error);
}

TEST_F(WorkerActorTest, OneThatCannotWorkHereSaysWhyAndLeaves) {
  begin();
  caf::anon_send(worker, WorkerUnfit{"an earlier run", Error{Reason::coordinator_too_far, "was too far"}});
  settle();
  EXPECT_FALSE(has_ended());
  caf::anon_send(worker, WorkerUnfit{settings.run_id, Error{Reason::coordinator_too_far, "too far away"}});
  settle();
  ASSERT_TRUE(has_ended());
  EXPECT_EQ(said<wire::Goodbye>().at(0).reason, "too far away");
  const auto error = listener.got<WorkerEnded>()[0].error;
  ASSERT_TRUE(error);
  EXPECT_EQ(error->reason, Reason::coordinator_too_far);
}

// --- leaving ---

class LeavingWorkerTest : public WorkerActorTest {
 protected:
  void begin_with(std::vector<UnitId> units) {
    drain_timeout = 25s;
    begin();
    lease(std::move(units));
    made = calls();
    said<wire::Report>();
  }
  void stop(bool at_once = false) {
    caf::anon_send(worker, StopWorker{"SIGTERM", at_once});
    settle();
  }
  void acknowledge(std::vector<UnitId> units) {
    wire::Ack ack{"run-1", {}};
    for (const auto id : units) ack.items.push_back({id, wire::AckCode::committed, unit(id).key, {}});
    hear(std::move(ack));
  }
  std::vector<UnitId> returned() {
    std::vector<UnitId> units;
    for (const auto& report : said<wire::Report>())
      units.insert(units.end(), report.returned.begin(), report.returned.end());
    return units;
  }

  bool stored(UnitId id) const {
    const auto found = store->find_answer(unit(id).key);
    return found && found->has_value();
  }

  std::vector<HttpCall> made;
};

TEST_F(LeavingWorkerTest, CallsUnderWayAreFinishedReportedAndAcknowledgedBeforeTheGoodbye) {
  begin_with({0, 1, 2});
  ASSERT_EQ(made.size(), 2u);
  stop();
  EXPECT_FALSE(has_ended());
  auto reports = said<wire::Report>();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].returned, std::vector<UnitId>{2}) << "others may have it at once";
  EXPECT_EQ(reports[0].window, 0u);
  answer(made);
  EXPECT_TRUE(calls().empty());
  reports = said<wire::Report>();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].results.size(), 2u);
  EXPECT_FALSE(has_ended()) << "nothing is acknowledged";
  EXPECT_TRUE(said<wire::Goodbye>().empty());
  acknowledge({0});
  EXPECT_FALSE(has_ended());
  acknowledge({1});
  ASSERT_TRUE(has_ended());
  EXPECT_EQ(said<wire::Goodbye>().at(0).reason, "SIGTERM");
  EXPECT_FALSE(listener.got<WorkerEnded>()[0].error);
}

TEST_F(LeavingWorkerTest, ACallThatFailsIsGivenBackAndNotTriedAgain) {
  settings.max_retries = 5;
  begin_with({0, 1});
  stop();
  answer(made[0], 503);
  EXPECT_EQ(returned(), std::vector<UnitId>{0});
  pass(2000ms);
  EXPECT_TRUE(calls().empty());
  answer(made[1]);
  acknowledge({1});
  EXPECT_TRUE(has_ended());
}

TEST_F(LeavingWorkerTest, ItWaitsNoLongerThanItsTime) {
  begin_with({0, 1});
  stop();
  answer(made[0]);
  pass(24s);
  EXPECT_FALSE(has_ended());
  hear(grants(unlimited()));
  pass(2s);
  ASSERT_TRUE(has_ended());
  EXPECT_EQ(said<wire::Goodbye>().size(), 1u);
}

TEST_F(LeavingWorkerTest, WhoIsToldTwiceLeavesAtOnce) {
  begin_with({0, 1});
  stop();
  EXPECT_FALSE(has_ended());
  stop();
  EXPECT_TRUE(has_ended());
}

// Whoever stops a fleet stops its coordinator, too, whose DRAIN may come first: the calls were cut off.
TEST_F(LeavingWorkerTest, WhoIsToldToStopWhileItsRunEndsFinishesItsCalls) {
  begin_with({0, 1});
  hear(wire::Drain{"run-1", "interrupted", 5000});
  stop();
  EXPECT_FALSE(has_ended());
  answer(made);
  EXPECT_EQ(said<wire::Report>().back().results.size(), 2u);
  acknowledge({0, 1});
  EXPECT_TRUE(has_ended());
}

TEST_F(LeavingWorkerTest, WhoWatchesIsToldWhatItDoes) {
  std::vector<WorkerStatus> told;
  watch = [&](const WorkerStatus& status) { told.push_back(status); };
  begin_with({0});
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.front(), (WorkerStatus{false, false, "waiting for a coordinator"}));
  EXPECT_EQ(told.back(), (WorkerStatus{true, false, "working on run run-1"}));
  pass(4000ms);
  EXPECT_EQ(told.back(), (WorkerStatus{false, false, "the coordinator of run run-1 is silent"}));
  stop();
  EXPECT_TRUE(told.back().is_leaving) << "at once";
}

TEST_F(LeavingWorkerTest, AProcessThatEndsWaitsForNothing) {
  begin_with({0, 1});
  stop(true);
  EXPECT_TRUE(has_ended());
}

TEST_F(LeavingWorkerTest, WithoutACoordinatorTheAckIsNotWaitedFor) {
  begin_with({0});
  pass(4000ms);  // Silence.
  stop();
  EXPECT_FALSE(has_ended()) << "the answer is a moment away, and goes into the cache";
  answer(made[0]);
  EXPECT_TRUE(has_ended());
  EXPECT_TRUE(stored(0));
}

TEST_F(LeavingWorkerTest, WorkThatWasOnItsWayIsGivenBack) {
  begin_with({0});
  stop();
  said<wire::Report>();
  lease({5});
  EXPECT_EQ(returned(), std::vector<UnitId>{5});
  EXPECT_TRUE(calls().empty());
}

TEST_F(LeavingWorkerTest, DrainGivesCallsUnderWayTheTimeThatItNames) {
  begin_with({0, 1});
  hear(wire::Drain{"run-1", "interrupted", 5000});
  EXPECT_FALSE(has_ended());
  answer(made);
  EXPECT_EQ(said<wire::Report>().back().results.size(), 2u);
  acknowledge({0, 1});
  ASSERT_TRUE(has_ended());
  EXPECT_EQ(said<wire::Goodbye>().at(0).reason, "drained");
}

// Its answer is paid for; it used to be a final error, which a run that goes on did not ask again.
TEST_F(LeavingWorkerTest, WhatWaitsForItsEmbeddingAtTheEndOfARunIsGivenBackBeforeTheGoodbye) {
  settings.embedding = {"openai", "e-1"};
  begin_with({});
  WorkUnit work = unit(0);
  work.tasks[0].assesses_claims = false;
  work.tasks[0].texts = {{MetricId::semantic_similarity_to, {"reference"}}};
  hear(wire::Work{"run-1", {work}});
  answer(calls().at(0));
  wire::Found nobody_has{"run-1", {}};
  for (const auto& seek : said<wire::Seek>()) {
    for (const auto& key : seek.keys) nobody_has.entries.push_back({key, ""});
  }
  hear(nobody_has);
  ASSERT_TRUE(calls().at(0).request.url.ends_with("/embeddings"));
  said<wire::Report>();
  hear(wire::Drain{"run-1", "interrupted", 5000});
  for (int second = 0; second < 4; ++second) {
    pass(1000ms);
    hear(grants(unlimited()));
  }
  EXPECT_TRUE(said<wire::Report>().empty());
  pass(500ms);
  const auto reports = said<wire::Report>();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_TRUE(reports[0].results.empty());
  EXPECT_EQ(reports[0].returned, std::vector<UnitId>{0});
  ASSERT_EQ(reports[0].spent.size(), 1u);
  EXPECT_EQ(reports[0].spent[0].spend.calls, 1u);
  EXPECT_TRUE(has_ended());
}

TEST_F(LeavingWorkerTest, WhoLeftARunForTheNextOneWorksOnThat) {
  start(true);
  hear(wire::Welcome{settings}, grants(unlimited()));
  lease({0});
  ASSERT_EQ(calls().size(), 1u);
  hear(wire::Drain{"run-1", "interrupted", 20'000});
  said<wire::Ready>();
  settings.run_id = "run-2";  // Another coordinator's, in the place of the first.
  hear(wire::Welcome{settings});
  const auto ready = said<wire::Ready>();
  ASSERT_EQ(ready.size(), 1u);
  EXPECT_GT(ready[0].window, 0u);
  pass(1000ms);
  EXPECT_TRUE(said<wire::Goodbye>().empty()) << "it left the first one";
}

TEST_F(LeavingWorkerTest, AnAnswerThatIsNotScoredYetIsNotLost) {
  begin_with({0});
  HttpCallsDone ended;
  auto& done = ended.done.emplace_back();
  done.id = made[0].id;
  done.response = {
      200, {}, R"({"choices":[{"message":{"content":"{\"claims\":[]}"},"finish_reason":"stop"}]})"};
  // All in one go: the scorer has its turn after the worker has been told to leave.
  caf::anon_send(client(), std::move(ended));
  caf::anon_send(worker, StopWorker{"SIGTERM"});
  settle();
  std::size_t results = 0;
  for (const auto& report : said<wire::Report>()) results += report.results.size();
  EXPECT_EQ(results, 1u);
}

// --- what others have answered ---

TEST_F(LeavingWorkerTest, WhatIsWithdrawnIsDroppedUnlessItIsCalledFor) {
  begin_with({0, 1, 2, 3});
  ASSERT_EQ(made.size(), 2u);
  hear(wire::Withdraw{"run-0", {2}});
  EXPECT_TRUE(returned().empty());
  hear(wire::Withdraw{"run-1", {0, 2}});
  EXPECT_EQ(returned(), std::vector<UnitId>{2});
  answer(made);
  made = calls();
  ASSERT_EQ(made.size(), 1u);
}

// An ACK that names another key must not make a worker erase what it never spoke of.
TEST_F(LeavingWorkerTest, TheKeyOfAResultDecidesWhatIsErased) {
  begin_with({0, 1});
  answer(made[0]);
  answer(made[1]);
  ASSERT_TRUE(stored(1));
  hear(wire::Ack{"run-1", {{0, wire::AckCode::duplicate, unit(1).key, sha256("another answer")}}});
  EXPECT_TRUE(stored(1)) << "of the other unit";
  EXPECT_TRUE(stored(0));
  hear(wire::Ack{"run-1", {{0, wire::AckCode::duplicate, unit(0).key, sha256("another answer")}}});
  EXPECT_FALSE(stored(0));
}

// --- defects ---

class DefectTest : public LeavingWorkerTest {
 protected:
  void expect_internal_error() {
    ASSERT_TRUE(has_ended());
    const auto& error = listener.got<WorkerEnded>()[0].error;
    ASSERT_TRUE(error);
    EXPECT_EQ(error->reason, Reason::internal_error) << error->message;
  }
};

TEST_F(DefectTest, ADeadModelClientEndsTheWorker) {
  begin_with({0});
  caf::anon_send_exit(client(), caf::exit_reason::kill);
  settle();
  expect_internal_error();
  EXPECT_EQ(said<wire::Goodbye>().size(), 1u) << "its units are free at once";
}

TEST_F(DefectTest, ADeadScorerEndsTheWorker) {
  begin_with({0});
  caf::anon_send_exit(caf::actor_cast<caf::actor>(scorer), caf::exit_reason::kill);
  settle();
  expect_internal_error();
  const auto& message = listener.got<WorkerEnded>()[0].error->message;
  EXPECT_NE(message.find("the worker's scorer"), std::string::npos) << message;
  EXPECT_EQ(said<wire::Goodbye>().size(), 1u) << "its units are free at once";
}

TEST_F(DefectTest, ADeadHttpActorEndsTheWorker) {
  begin_with({0});
  caf::anon_send_exit(http.handle(), caf::exit_reason::kill);
  settle();
  expect_internal_error();
}

TEST_F(DefectTest, ADeadDealerEndsTheWorker) {
  begin_with({0});
  caf::anon_send_exit(dealer.handle(), caf::exit_reason::kill);
  settle();
  expect_internal_error();
}

TEST_F(DefectTest, WhatDiesAfterItsRunEndsNothing) {
  start(true);
  hear(wire::Welcome{settings}, grants(unlimited()));
  lease({0});
  const auto of_the_run = client();
  hear(wire::Drain{"run-1", "complete"});
  caf::anon_send_exit(of_the_run, caf::exit_reason::kill);
  settle();
  EXPECT_FALSE(has_ended());
}

TEST_F(WorkerActorTest, OfARunThatIsOverNoLineOfItsLogIs) {
  const auto about = [] { return json_log_line("info", "m"); };
  start(true);
  hear(wire::Welcome{settings});
  EXPECT_NE(about().find("\"run\":\"run-1\""), std::string::npos) << about();
  hear(wire::Drain{"run-1", "complete"});
  ASSERT_FALSE(has_ended());
  EXPECT_EQ(about().find("\"run\""), std::string::npos) << about();
  EXPECT_NE(about().find("\"worker\":\"w\""), std::string::npos) << about();
  set_log_context({});
}

TEST_F(WorkerActorTest, StopSaysGoodbye) {
  begin();
  caf::anon_send(worker, StopWorker{"SIGTERM"});
  settle();
  ASSERT_TRUE(has_ended());
  EXPECT_EQ(said<wire::Goodbye>().at(0).reason, "SIGTERM");
}

}  // namespace
}  // namespace sluice
