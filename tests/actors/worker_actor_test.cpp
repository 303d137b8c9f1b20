// What a worker takes, does and says in a run.
#include "common/defaults.hpp"
#include "tests/actors/worker_actor_fixture.hpp"
#include "worker/defaults.hpp"

namespace sluice {
namespace {

TEST_F(WorkerActorTest, SaysHelloUntilItIsWelcome) {
  start();
  const auto hellos = said<wire::Hello>();
  ASSERT_EQ(hellos.size(), 1u);
  EXPECT_EQ(hellos[0].instance, 42u);
  EXPECT_EQ(hellos[0].name, "w");
  EXPECT_EQ(hellos[0].cache_id, store->id());
  EXPECT_EQ(hellos[0].max_concurrent, 2u);
  pass(3000ms);
  EXPECT_EQ(said<wire::Hello>().size(), 3u);
  hear(wire::Welcome{settings});
  const auto ready = said<wire::Ready>();
  ASSERT_EQ(ready.size(), 1u);
  EXPECT_EQ(ready[0], (wire::Ready{"run-1", {}, 4, {}}));
  pass(2000ms);
  EXPECT_TRUE(said<wire::Hello>().empty());
  EXPECT_EQ(said<wire::Heartbeat>().size(), 2u);
}

TEST_F(WorkerActorTest, RunsNoMoreThanItsSlotsAndReportsUntilAcknowledged) {
  begin();
  lease({0, 1, 2});
  auto made = calls();
  ASSERT_EQ(made.size(), 2u);
  const auto started = said<wire::Report>();
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].started, (std::vector<UnitId>{0, 1}));
  EXPECT_TRUE(started[0].results.empty());
  answer(made[0]);
  EXPECT_EQ(calls().size(), 1u) << "the third has its slot";
  const auto reports = said<wire::Report>();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].started, std::vector<UnitId>{2});
  ASSERT_EQ(reports[0].results.size(), 1u);
  EXPECT_EQ(reports[0].results[0].unit, 0u);
  EXPECT_EQ(reports[0].results[0].scores.at(0).trial, 0u);
}

TEST_F(WorkerActorTest, AnswersThatComeTogetherAreReportedAndFollowedTogether) {
  begin();
  lease({0, 1, 2, 3});
  const auto made = calls();
  ASSERT_EQ(made.size(), 2u);
  pass(defaults::report_delay);
  EXPECT_EQ(said<wire::Report>().at(0).started, (std::vector<UnitId>{0, 1}));
  answer(made);
  EXPECT_EQ(http.got<HttpCalls>().size(), 1u);
  EXPECT_EQ(calls().size(), 2u);
  pass(defaults::report_delay);
  const auto reports = said<wire::Report>();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].results.size(), 2u);
  EXPECT_EQ(reports[0].started, (std::vector<UnitId>{2, 3}));
}

TEST_F(WorkerActorTest, WhileAReportIsNotAnsweredResultsWaitForOthers) {
  begin();
  lease({0, 1, 2, 3});
  answer(calls());
  auto made = calls();
  ASSERT_EQ(made.size(), 2u);
  ASSERT_EQ(said<wire::Report>().back().results.size(), 2u) << "nothing else waited";
  lease({4, 5});
  answer(made[0]);
  EXPECT_TRUE(said<wire::Report>().empty()) << "the answer to the last REPORT brings more to do";
  hear(wire::Ack{
      "run-1",
      {{0, wire::AckCode::committed, unit(0).key, {}}, {1, wire::AckCode::committed, unit(1).key, {}}}});
  const auto reports = said<wire::Report>();
  ASSERT_EQ(reports.size(), 1u) << "it brought nothing";
  ASSERT_EQ(reports[0].results.size(), 1u);
  EXPECT_EQ(reports[0].results[0].unit, 2u);
}

// Its coordinator may be far away: to wait for each answer would be to stand still for the way there and
// back.
TEST_F(WorkerActorTest, TheAnswerToAReportIsNotWaitedForLong) {
  begin();
  lease({0, 1, 2, 3});
  answer(calls());
  auto made = calls();
  ASSERT_EQ(said<wire::Report>().back().results.size(), 2u);
  lease({4, 5});
  answer(made[0]);
  pass(19ms);
  EXPECT_TRUE(said<wire::Report>().empty());
  pass(1ms);
  const auto reports = said<wire::Report>();
  ASSERT_EQ(reports.size(), 1u);
  ASSERT_EQ(reports[0].results.size(), 1u);
  EXPECT_EQ(reports[0].results[0].unit, 2u);
}

TEST_F(WorkerActorTest, WithMoreToDoSinceResultsWaitForTheirWholeTime) {
  begin();
  lease({0, 1, 2, 3});
  answer(calls());
  auto made = calls();
  said<wire::Report>();
  lease({4, 5});
  answer(made[0]);
  lease({6, 7, 8});
  pass(defaults::report_delay - 1ms);
  EXPECT_TRUE(said<wire::Report>().empty());
  pass(1ms);
  EXPECT_EQ(said<wire::Report>().size(), 1u);
}

TEST_F(WorkerActorTest, ResultsWaitForOthersFromTheFirstOfThemOn) {
  begin();
  lease({0, 1, 2, 3, 4});
  auto made = calls();
  said<wire::Report>();
  answer(made[0]);
  made = calls();
  EXPECT_TRUE(said<wire::Report>().empty()) << "two units wait";
  pass(60ms);
  answer(made[0]);
  made = calls();
  EXPECT_EQ(said<wire::Report>().size(), 1u) << "one waits: early";
  lease({5, 6, 7});
  answer(made[0]);
  pass(40ms);
  EXPECT_TRUE(said<wire::Report>().empty()) << "the timer was that of what went early";
  pass(60ms);
  EXPECT_EQ(said<wire::Report>().size(), 1u);
}

TEST_F(WorkerActorTest, WhatARunThatIsGoneCompletesIsNotReported) {
  begin();
  lease({0});
  UnitResult result;
  result.unit = 0;
  const UnitsScored late{"run-0", {}, {result}};
  said<wire::Report>();
  caf::anon_send(worker, late);
  pass(defaults::report_delay);
  EXPECT_TRUE(said<wire::Report>().empty());
}

TEST_F(WorkerActorTest, AfterABreakItSaysWhatItHoldsAndRepeatsWhatWasNotAcknowledged) {
  begin();
  lease({0, 1, 2, 3});
  answer(calls()[0]);
  said<wire::Report>();
  hear(wire::Reject{wire::RejectCode::unknown_worker, "say HELLO first"});
  ASSERT_EQ(said<wire::Hello>().size(), 1u);
  hear(wire::Welcome{settings});
  const auto ready = said<wire::Ready>();
  ASSERT_EQ(ready.size(), 1u);
  EXPECT_EQ(ready[0].held, (std::vector<wire::HeldUnit>{{0, 0}, {1, 0}, {2, 0}, {3, 0}}));
  const auto reports = said<wire::Report>();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].started, (std::vector<UnitId>{1, 2}))
      << "only what was reported as started counts a loss";
  ASSERT_EQ(reports[0].results.size(), 1u);
  EXPECT_EQ(reports[0].results[0].unit, 0u);
}

// What it said before the coordinator heard its HELLO is refused as well; a HELLO may get lost all the same.
TEST_F(WorkerActorTest, ManyRefusalsAtOnceAreAnsweredWithOneHello) {
  begin();
  const wire::Reject refusal{wire::RejectCode::unknown_worker, ""};
  hear(refusal, refusal, refusal);
  hear(refusal);
  EXPECT_EQ(said<wire::Hello>().size(), 1u);
  pass(defaults::heartbeat_interval);
  hear(refusal, refusal);
  EXPECT_EQ(said<wire::Hello>().size(), 1u) << "the first is not answered";
}

// A coordinator of the version before answers the first HELLO within milliseconds.
TEST_F(WorkerActorTest, InAnotherVersionItSaysHelloAtOnce) {
  start();
  EXPECT_EQ(said<wire::Hello>().size(), 1u);
  FromCoordinator other_version;
  other_version.says_hello_again = true;
  caf::anon_send(worker, std::move(other_version));
  settle();
  EXPECT_EQ(said<wire::Hello>().size(), 1u);
}

TEST_F(WorkerActorTest, ASecondWelcomeOfTheSameRunIsNotAnswered) {
  begin();
  hear(wire::Reject{wire::RejectCode::unknown_worker, ""});
  pass(defaults::heartbeat_interval);
  hear(wire::Reject{wire::RejectCode::unknown_worker, ""});
  EXPECT_EQ(said<wire::Hello>().size(), 2u);
  hear(wire::Welcome{settings});
  EXPECT_EQ(said<wire::Ready>().size(), 1u);
  hear(wire::Welcome{settings});
  EXPECT_TRUE(said<wire::Ready>().empty()) << "it would give back what was leased in between";
}

TEST_F(WorkerActorTest, AMissingKeyIsSaidInEveryReady) {
  settings.providers[0].api_key_env = "OPENAI_API_KEY";
  begin();
  hear(wire::Reject{wire::RejectCode::unknown_worker, ""});
  hear(wire::Welcome{settings});
  const auto ready = said<wire::Ready>();
  ASSERT_EQ(ready.size(), 1u);
  ASSERT_EQ(ready[0].problems.size(), 1u);
  EXPECT_EQ(ready[0].problems[0].reason, Reason::key_missing);
}

TEST_F(WorkerActorTest, AnotherRunTakesThePlaceOfTheOld) {
  begin();
  lease({0});
  ASSERT_EQ(calls().size(), 1u);
  settings.run_id = "run-2";
  hear(wire::Welcome{settings});
  const auto ready = said<wire::Ready>();
  ASSERT_EQ(ready.size(), 1u);
  EXPECT_EQ(ready[0].run_id, "run-2");
  EXPECT_TRUE(ready[0].held.empty());
  lease({5});
  EXPECT_TRUE(calls().empty()) << "work of the old run";
}

// Its coordinator had died, and the next one came with another run: the call was cancelled, and paid again.
TEST_F(WorkerActorTest, ACallOfTheRunBeforeIsFinishedAndItsAnswerKept) {
  begin();
  lease({0});
  const auto made = calls();
  ASSERT_EQ(made.size(), 1u);
  said<wire::Report>();
  settings.run_id = "run-2";
  hear(wire::Welcome{settings});
  EXPECT_TRUE(http.take<HttpCancel>().empty()) << "it is paid for";
  answer(made);
  const auto stored = store->find_answer(unit(0).key);
  EXPECT_TRUE(stored && *stored);
  EXPECT_TRUE(said<wire::Report>().empty()) << "the new coordinator did not ask for it";
  EXPECT_FALSE(has_ended());
}

TEST_F(WorkerActorTest, OfSeveralRunsBeforeTheLatestIsWaitedFor) {
  begin();
  lease({0});
  ASSERT_EQ(calls().size(), 1u);
  for (const char* run : {"run-2", "run-3"}) {
    settings.run_id = run;
    hear(wire::Welcome{settings});
  }
  EXPECT_EQ(http.take<HttpCancel>().size(), 1u);
}

TEST_F(WorkerActorTest, WhoLosesToAnotherAnswerForgetsItsOwn) {
  const auto stored_after = [this](UnitId id, wire::AckCode code, std::optional<Digest> winner) {
    lease({id});
    answer(calls().at(0));
    const auto stored = store->find_answer(unit(id).key);
    EXPECT_TRUE(stored && *stored);
    const auto own = answer_digest(**stored);
    hear(wire::Ack{"run-1", {{id, code, unit(id).key, winner.value_or(own)}}});
    return store->find_answer(unit(id).key)->has_value();
  };
  begin();
  EXPECT_TRUE(stored_after(0, wire::AckCode::committed, std::nullopt));
  EXPECT_TRUE(stored_after(1, wire::AckCode::duplicate, std::nullopt)) << "the same answer";
  EXPECT_FALSE(stored_after(2, wire::AckCode::duplicate, sha256("another")));
  EXPECT_TRUE(stored_after(3, wire::AckCode::duplicate, Digest{}))
      << "an error was committed: no other answer is";
  EXPECT_TRUE(stored_after(4, wire::AckCode::gone, Digest{}));
}

TEST_F(WorkerActorTest, APauseIsToldAtOnceAndRepeatedUntilItIsOver) {
  begin();
  lease({0});
  said<wire::Heartbeat>();
  answer(calls().at(0), 429, {{"retry-after", "3"}});
  auto heartbeats = said<wire::Heartbeat>();
  ASSERT_EQ(heartbeats.size(), 1u);
  EXPECT_EQ(heartbeats[0].demands.at(0).pause_ms, 3000u);
  pass(3500ms);
  heartbeats = said<wire::Heartbeat>();
  ASSERT_EQ(heartbeats.size(), 3u);
  EXPECT_EQ(heartbeats[0].demands.at(0).pause_ms, 2000u);
  EXPECT_EQ(heartbeats[1].demands.at(0).pause_ms, 1000u);
  EXPECT_EQ(heartbeats[2].demands.at(0).pause_ms, 0u);
}

TEST_F(WorkerActorTest, ADemandThatChangesIsSaidAtOnce) {
  start();
  hear(wire::Welcome{settings});
  said<wire::Ready>();
  lease({0, 1, 2});
  const auto heartbeats = said<wire::Heartbeat>();
  ASSERT_EQ(heartbeats.size(), 1u);
  EXPECT_EQ(heartbeats[0].sent_at_us, boot_us());
  EXPECT_EQ(heartbeats[0].received_us, 0u);
  EXPECT_EQ(heartbeats[0].demands.at(0).ready_calls, 2u) << "its slots";
  EXPECT_TRUE(calls().empty());
  auto limited = unlimited();
  limited.unlimited = false;
  limited.permits = {{1, boot_us() - 1000, boot_us() + 50'000, {}, false}};
  const auto sent = boot_us();
  hear(grants(limited));
  const auto made = calls();
  ASSERT_EQ(made.size(), 1u);
  EXPECT_TRUE(made[0].window);
  EXPECT_TRUE(said<wire::Heartbeat>().empty()) << "that a permit is used is gathered";
  pass(100ms);
  const auto after = said<wire::Heartbeat>();
  ASSERT_EQ(after.size(), 1u);
  EXPECT_EQ(after[0].received_us, sent);
  EXPECT_EQ(after[0].demands.at(0).spent, (std::vector<wire::SpentPermit>{{1, true}}));
}

TEST_F(WorkerActorTest, ItsCreditFollowsTheSearchForPlaces) {
  begin();
  auto more = unlimited();
  more.places = 20;
  more.searched = true;
  hear(grants(more));
  const auto heartbeats = said<wire::Heartbeat>();
  ASSERT_EQ(heartbeats.size(), 1u) << "the coordinator should lease more now";
  EXPECT_EQ(heartbeats[0].window, 40u);
  std::vector<UnitId> units;
  for (UnitId id = 0; id < 30; ++id) units.push_back(id);
  lease(units);
  EXPECT_EQ(calls().size(), 20u);
}

TEST_F(WorkerActorTest, AUnitThatIsLeasedAgainIsReportedAgain) {
  begin();
  lease({0, 1});
  const auto first = calls();
  ASSERT_EQ(first.size(), 2u);
  answer(first[0]);
  said<wire::Report>();
  lease({0, 1});
  std::vector<UnitId> started;
  std::size_t results = 0;
  for (const auto& report : said<wire::Report>()) {
    started.insert(started.end(), report.started.begin(), report.started.end());
    results += report.results.size();
  }
  EXPECT_EQ(started, std::vector<UnitId>{1}) << "it runs";
  EXPECT_EQ(results, 1u) << "it is done";
  EXPECT_TRUE(calls().empty()) << "neither is paid for again";
}

// A fake coordinator had workers keep forged answers under the keys of real questions.
TEST_F(WorkerActorTest, AKeyThatIsNotThatOfItsRequestEndsTheWorker) {
  begin();
  WorkUnit forged = unit(0);
  forged.key = unit(1).key;
  hear(wire::Work{"run-1", {forged}});
  EXPECT_TRUE(calls().empty());
  ASSERT_TRUE(has_ended());
  EXPECT_EQ(listener.got<WorkerEnded>()[0].error->reason, Reason::protocol_mismatch);
}

// A coordinator made the metrics grow without end, by a made-up name in each GRANTS.
TEST_F(WorkerActorTest, MetricsCountTheProvidersOfTheRunAlone) {
  metrics = std::make_shared<WorkerMetrics>();
  begin();
  wire::Grant made_up = unlimited();
  made_up.provider = "made-up";
  hear(grants(made_up));
  for (const auto& family : metrics->read()) {
    if (family.name != "sluice_worker_paused") continue;
    ASSERT_EQ(family.samples.size(), 1u);
    EXPECT_EQ(family.samples[0].labels[0].second, "openai");
  }
}

struct WrongTime {
  std::chrono::milliseconds RunSettings::*setting;
  std::chrono::milliseconds time;
};
class WorkerTimesTest : public WorkerActorTest, public ::testing::WithParamInterface<WrongTime> {};

// With an interval of 0 it beat without a pause, and a time-out of 0 is none.
TEST_P(WorkerTimesTest, ThatNoCoordinatorNamesEndTheWorker) {
  settings.*GetParam().setting = GetParam().time;
  start();
  hear(wire::Welcome{settings});
  ASSERT_TRUE(has_ended());
  EXPECT_EQ(listener.got<WorkerEnded>()[0].error->reason, Reason::protocol_mismatch);
}
INSTANTIATE_TEST_SUITE_P(Each, WorkerTimesTest,
                         ::testing::Values(WrongTime{&RunSettings::heartbeat_interval, 0ms},
                                           WrongTime{&RunSettings::heartbeat_interval, 61s},
                                           WrongTime{&RunSettings::request_timeout, 0ms},
                                           WrongTime{&RunSettings::request_timeout, 8 * 24h},
                                           WrongTime{&RunSettings::connect_timeout, 0ms},
                                           WrongTime{&RunSettings::case_timeout, 0ms},
                                           WrongTime{&RunSettings::case_timeout, 8 * 24h},
                                           WrongTime{&RunSettings::backoff_initial, 0ms}));

}  // namespace
}  // namespace sluice
