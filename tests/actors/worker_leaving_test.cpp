// How a worker leaves: what becomes of its calls, its results, and the units that it gives back.
#include "tests/actors/leaving_worker_fixture.hpp"

namespace sluice {
namespace {

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

TEST_F(LeavingWorkerTest, WhoCannotReadAUnitFinishesTheOthersThatItHasBegunFirst) {
  begin_with({0, 1, 2});
  hear_unreadable_work();
  EXPECT_EQ(returned(), std::vector<UnitId>{2}) << "what is left to suspect is what was not read";
  EXPECT_TRUE(said<wire::Goodbye>().empty());
  answer(made);
  EXPECT_EQ(said<wire::Report>().back().results.size(), 2u);
  acknowledge({0, 1});
  EXPECT_EQ(said<wire::Goodbye>().size(), 1u);
  EXPECT_EQ(said<wire::Hello>().size(), 1u);
  EXPECT_FALSE(has_ended());
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

// Whoever ran into a deadline read that cases had ended in an error which nobody had asked.
TEST_F(LeavingWorkerTest, AlsoWhereNobodyWaitsForCallsIsGivenBackWhatWasNeverCalledFor) {
  begin();
  wire::Grant one_place = unlimited();
  one_place.places = 1;
  hear(grants(one_place));
  lease({0, 1});
  ASSERT_EQ(calls().size(), 1u);
  const auto reports = said<wire::Report>();
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports[0].started, (std::vector<UnitId>{0, 1}));
  hear(wire::Drain{"run-1", "the deadline was reached", 0});
  EXPECT_EQ(returned(), std::vector<UnitId>{1});
  EXPECT_TRUE(has_ended()) << "the call under way is not waited for";
  EXPECT_EQ(said<wire::Goodbye>().size(), 1u);
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

// It said GOODBYE before its result was scored: what the call took was in no total.
TEST_F(LeavingWorkerTest, AtADeadlineAnAnswerThatIsNotScoredYetIsReportedBeforeTheGoodbye) {
  begin_with({0, 1});
  ASSERT_EQ(made.size(), 2u);
  HttpCallsDone ended;
  auto& done = ended.done.emplace_back();
  done.id = made[0].id;
  done.response = {
      200, {}, R"({"choices":[{"message":{"content":"{\"claims\":[]}"},"finish_reason":"stop"}]})"};
  FromCoordinator drain;
  drain.messages.emplace_back(wire::Drain{"run-1", "the deadline was reached", 0});
  // The worker's turn is first: the model client finds the answer, and that nobody waits for more.
  caf::anon_send(worker, std::move(drain));
  caf::anon_send(client(), std::move(ended));
  settle();
  ASSERT_TRUE(has_ended());
  std::vector<UnitId> reported;
  bool is_before = true;
  for (const auto& outgoing : dealer.got<ToCoordinatorNow>()) {
    if (std::holds_alternative<wire::Goodbye>(outgoing.message)) is_before = false;
    const auto* report = std::get_if<wire::Report>(&outgoing.message);
    if (report == nullptr || !is_before) continue;
    for (const auto& result : report->results) reported.push_back(result.unit);
  }
  EXPECT_FALSE(is_before) << "there is a GOODBYE";
  EXPECT_EQ(reported, std::vector<UnitId>{0});
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

}  // namespace
}  // namespace sluice
