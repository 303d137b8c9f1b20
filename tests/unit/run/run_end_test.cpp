#include "coordinator/run/run_errors.hpp"
#include "tests/unit/run/run_fixture.hpp"

namespace sluice {
namespace {

// What ends a run, and what does not.

TEST(RunErrors, MissingAnswersAreCountedAsPeopleCount) {
  const auto words = [](std::size_t cases, const std::vector<UnitId>& units, TrialDesign design = {}) {
    const Suite suite = make_suite(cases);
    const std::string message =
        missing_answers(make_plan(suite, std::move(design)), units, "the reason").message;
    return message.substr(0, message.find(';'));
  };
  EXPECT_EQ(words(1, {0}), "no cache holds the answer of the only case (case-0)");
  EXPECT_EQ(words(4, {0}), "no cache holds the answer of 1 of 4 cases (case-0)");
  EXPECT_EQ(words(4, {0, 1}), "no cache holds the answers of 2 of 4 cases (case-0, case-1)");
  TrialDesign repeated;
  repeated.repeats = 2;
  EXPECT_EQ(words(1, {1}, repeated), "no cache holds the answer of 1 of 2 trials (case-0 (repeat 2))");
}

TEST(RunErrors, AMissingVoteIsNotCalledAMissingAnswer) {
  Suite suite = make_suite(1);
  suite.cases.held(0).expectations = {{{MetricId::semantic_similarity_to, {"text"}}, {}, {}}};
  const auto message = missing_answers(make_plan(suite), {0}, "the cache does not hold a vote").message;
  EXPECT_TRUE(
      message.starts_with("no cache holds all that is needed for "
                          "the only case (case-0): the cache does not hold a vote; the same command with "))
      << message;
}

// The candidate's answers were called missing where the baseline's were.
TEST(RunErrors, ARunThatGradesSaysWhatItsCachesLack) {
  const Suite suite = make_suite(1);
  const auto message =
      missing_answers(make_plan(suite), {0}, "the baseline's answer did not come: none", true).message;
  EXPECT_EQ(
      message,
      "no cache holds all that is needed for the only case (case-0): the baseline's answer did not come: "
      "none; the same command with `--mode live` asks for it");
}

TEST_F(RunControllerTest, ErrorsOfOneTrialAreResults) {
  begin();
  join("p", 1);
  const auto effects = report("p", {failed(2, Reason::rate_limited)});
  ASSERT_EQ(effects.to_record.size(), 1u);
  record(effects);
  EXPECT_EQ(controller->counts().errors, 2u) << "both trials of the unit";
  EXPECT_FALSE(controller->over());
}

TEST_F(RunControllerTest, PerturbedTrialsPassAndFailNothing) {
  TrialDesign design;
  design.perturbations.push_back(
      {"loud", "1", [](std::string_view text, std::string_view) {
         return PerturbedText{PerturbedText::Kind::changed, std::string(text) + "!", ""};
       }});
  plan = make_plan(suite, std::move(design));
  ASSERT_EQ(plan.trial_count(), 8u) << "each case, and its other form";
  begin();
  join("p", 1);
  record(report("p", {answered(plan.unit_of(0))}), {0});
  record(report("p", {failed(plan.unit_of(1), Reason::refusal)}));
  record(report("p", {answered(plan.unit_of(2))}));
  record(report("p", {answered(plan.unit_of(3))}), {3});
  record(report("p", {answered(plan.unit_of(4)), answered(plan.unit_of(5))}));  // Of the last two cases.
  EXPECT_EQ(controller->counts().passed, 3u);
  EXPECT_EQ(controller->counts().failed, 1u);
  EXPECT_EQ(controller->counts().perturbed, 3u) << "that its answer failed decides nothing";
  EXPECT_EQ(controller->counts().errors, 1u);
  EXPECT_EQ(controller->counts().done(), 8u);
}

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

TEST_F(RunControllerTest, ErrorsThatEveryCaseWouldMeetStopTheRun) {
  for (const auto reason :
       {Reason::key_missing, Reason::key_withheld, Reason::key_refused, Reason::quota_exhausted,
        Reason::model_unknown, Reason::provider_unreachable, Reason::cache_failed}) {
    begin();
    join("p", 1);
    const auto effects = report("p", {failed(0, reason)});
    expect_stopped(reason);
    EXPECT_EQ(acked(effects, "p").at(0).code, wire::AckCode::retry);
    EXPECT_TRUE(effects.to_record.empty()) << "no result: a later run asks again";
    EXPECT_EQ(sent<wire::Drain>(effects, "p").size(), 1u);
    EXPECT_EQ(controller->facts().cut_short->reason, reason);
  }
}

// Tests that each had a temperature which the model refuses were refused ten thousand times.
TEST_F(RunControllerTest, OwnParametersThatAreRefusedOfSoManyInARowStopTheRun) {
  suite = Suite();
  for (int i = 0; i < 210; ++i) {
    Case one;
    one.id = "case-" + std::to_string(i);
    one.content = "content " + std::to_string(i);
    one.extras.params = {{"temperature", "1"}};
    suite.cases.push_back(one);
  }
  plan = make_plan(suite);
  config.affinities.clear();
  for (UnitId unit = 0; unit < plan.unit_count(); ++unit) config.affinities.push_back({unit, 0});
  begin();
  join("p", 1, 210);
  const auto refuse = [&](UnitId unit) {
    auto result = failed(unit, Reason::parameter_refused);
    result.error->message = "this model takes no temperature";
    report("p", {result});
  };
  for (UnitId unit = 0; unit < 100; ++unit) refuse(unit);
  report("p", {answered(100)});
  for (UnitId unit = 101; unit < 201; ++unit) refuse(unit);
  refuse(200);
  EXPECT_FALSE(controller->over()) << "that was said again";
  refuse(201);
  expect_stopped(Reason::parameter_refused);
}

TEST_F(RunControllerTest, AWorkerWithoutNetworkDoesNotStopTheOthers) {
  begin();
  join("p", 1, 1);
  join("q", 2, 1);
  const auto effects = report("p", {failed(0, Reason::provider_unreachable)});
  EXPECT_FALSE(controller->over());
  EXPECT_TRUE(leased(effects, "p").empty());
  EXPECT_EQ(controller->worker_count(), 1u);
  EXPECT_EQ(effects.gone, (std::vector<GoneWorker>{{1, true}})) << "calls of p may be under way yet";
  report("q", {failed(1, Reason::provider_unreachable)});
  expect_stopped(Reason::provider_unreachable);
}

// One that came with a wrong key ended the run of all the others.
TEST_F(RunControllerTest, AWorkerWhoseKeyIsRefusedDoesNotStopTheOthers) {
  begin();
  join("p", 1, 1);
  join("q", 2, 1);
  const auto effects = report("p", {failed(0, Reason::key_refused)});
  EXPECT_FALSE(controller->over());
  EXPECT_TRUE(leased(effects, "p").empty());
  EXPECT_EQ(controller->worker_count(), 1u);
  report("q", {failed(1, Reason::key_refused)});
  expect_stopped(Reason::key_refused);
}

TEST_F(RunControllerTest, AWorkerWhoseKeyIsRefusedIsNamedOnce) {
  begin();
  join("p", 1, 2);
  join("q", 2, 1);
  const auto effects = report("p", {failed(0, Reason::key_refused), failed(1, Reason::key_refused)});
  ASSERT_EQ(effects.warnings.size(), 1u) << "whatever it held";
  EXPECT_TRUE(report("p", {failed(2, Reason::key_refused)}).warnings.empty()) << "that came later";
  EXPECT_FALSE(controller->over());
}

TEST_F(RunControllerTest, ASpentQuotaStopsTheRunWhoeverElseIsThere) {
  begin();
  join("p", 1, 1);
  join("q", 2, 1);
  report("p", {failed(0, Reason::quota_exhausted)});
  expect_stopped(Reason::quota_exhausted);
  EXPECT_NE(controller->facts().cut_short->message.find("(worker worker-1)"), std::string::npos);
}

// It named flags that nobody had given.
TEST_F(RunControllerTest, AModelThatIsNotKnownIsNamedWithItsPlace) {
  config.models = {R"("gpt-nope" (suite.yaml:4, arm "mini"))"};
  const auto message_after = [&](const std::string& words, const Digest& answer) {
    begin();
    join("p", 1);
    UnitResult result = failed(0, Reason::model_unknown);
    result.error->message = words;
    result.answer = answer;
    report("p", {result});
    expect_stopped(Reason::model_unknown);
    return controller->facts().cut_short->message;
  };
  EXPECT_EQ(message_after("provider \"openai\" answered 404; check the model", {}),
            "provider \"openai\" answered 404; check the model; the model is \"gpt-nope\" (suite.yaml:4, arm "
            "\"mini\")");
  const std::string of_vote = "the judge's vote did not come: provider \"openai\" answered 404";
  EXPECT_EQ(message_after(of_vote, sha256("the answer")), of_vote) << "it is another model";
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

TEST_F(RunControllerTest, ALocalWorkersErrorDoesNotStopTheOthers) {
  begin();
  join("p", 1);
  join("q", 2);
  Effects effects;
  controller->on_local_worker_failed({Reason::coordinator_too_far, "too far"}, at(now), effects);
  EXPECT_FALSE(controller->over());
  send("p", wire::Goodbye{"too far"});
  EXPECT_FALSE(controller->over()) << "q goes on";
  send("q", wire::Goodbye{"x"});
  expect_stopped(Reason::coordinator_too_far);
}

// A remote worker that left to be replaced ended the run.
TEST_F(RunControllerTest, ARunThatOthersCanJoinOutlivesItsLocalWorkers) {
  config.workers_may_join = true;
  begin();
  join("p", 1);
  Effects effects;
  controller->on_local_worker_failed({Reason::cache_failed, "its disk is full"}, at(now), effects);
  send("p", wire::Goodbye{"SIGTERM"});
  for (now = 1s; now <= 10s; now += 1s) tick(now);
  EXPECT_FALSE(controller->over()) << "another one may come within worker_timeout";
  tick(11s);
  expect_stopped(Reason::cache_failed);
}

TEST_F(RunControllerTest, ADefectInALocalWorkerStopsTheRun) {
  begin();
  join("p", 1);
  join("q", 2);
  Effects effects;
  controller->on_local_worker_failed({Reason::internal_error, "it died"}, at(now), effects);
  expect_stopped(Reason::internal_error);
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

TEST_F(RunControllerTest, ACacheMissIsOfferedToTheOthersAndThenFinal) {
  config.settings.mode = Mode::cached;
  begin();
  join("p", 1, 10);
  EXPECT_TRUE(leased(join("q", 2, 10), "q").empty()) << "p holds all of them";
  const auto missed = report(
      "p", {failed(0, Reason::cache_miss), failed(1, Reason::cache_miss), failed(2, Reason::cache_miss)});
  EXPECT_EQ(acked(missed, "p").at(0).code, wire::AckCode::retry);
  EXPECT_TRUE(missed.to_record.empty());
  EXPECT_EQ(leased(missed, "q"), (std::vector<UnitId>{0, 1, 2}));
  EXPECT_TRUE(leased(missed, "p").empty());
  record(report("q", {answered(1)}));
  report("q", {failed(2, Reason::cache_miss)});
  EXPECT_FALSE(controller->over());
  report("q", {failed(0, Reason::cache_miss)});
  expect_stopped(Reason::cache_miss);
  const auto message = controller->stopped()->message;
  EXPECT_NE(message.find("3 of 4 cases (case-0, case-2, case-3)"), std::string::npos) << message;
  EXPECT_NE(message.find("--mode live"), std::string::npos);
}

TEST_F(RunControllerTest, AMissIsNotFinalWhileSomebodyIsAboutToJoin) {
  config.settings.mode = Mode::cached;
  begin();
  join("p", 1, 10);
  hello("q", 2);
  report("p", {failed(0, Reason::cache_miss), failed(1, Reason::cache_miss), failed(2, Reason::cache_miss)});
  EXPECT_FALSE(controller->over()) << "q may hold what p lacks";
  EXPECT_EQ(leased(ready("q", 10), "q"), (std::vector<UnitId>{0, 1, 2}));
  report("q", {failed(0, Reason::cache_miss), failed(1, Reason::cache_miss), failed(2, Reason::cache_miss)});
  expect_stopped(Reason::cache_miss);
}

TEST_F(RunControllerTest, AMissThatComesAfterItsLeaseWasLostIsFinalToo) {
  config.settings.mode = Mode::cached;
  config.dispatch.lease_time = 1500ms;
  begin();
  join("p", 1, 10);
  for (const auto time : {1000ms, 2000ms}) {
    send("p", wire::Heartbeat{run_id, 0, 0, {}});  // No window: what expires is not leased again.
    tick(time);
  }
  EXPECT_EQ(controller->waiting_count() + controller->started_count(), 0u) << "the leases have expired";
  for (UnitId unit = 0; unit < 3; ++unit) {
    send("p", wire::Report{run_id, 0, {}, {failed(unit, Reason::cache_miss)}});
  }
  expect_stopped(Reason::cache_miss);
}

TEST_F(RunControllerTest, TheOnlyWorkersProblemStopsTheRun) {
  begin();
  hello("p", 1);
  const auto effects =
      send("p", wire::Ready{run_id, {{Reason::key_missing, "OPENAI_API_KEY is not set"}}, 5, {}});
  expect_stopped(Reason::key_missing);
  EXPECT_TRUE(effects.warnings.empty()) << "the run's end says it";
  EXPECT_NE(controller->stopped()->message.find("worker-1"), std::string::npos);
  EXPECT_NE(controller->stopped()->message.find("OPENAI_API_KEY"), std::string::npos);
}

TEST_F(RunControllerTest, AProblemOfOneAmongOthersOnlyLeavesItOut) {
  begin();
  join("p", 1, 1);
  hello("q", 2);
  const auto effects = send("q", wire::Ready{run_id, {{Reason::key_withheld, "not trusted"}}, 5, {}});
  EXPECT_FALSE(controller->over());
  EXPECT_TRUE(leased(effects, "q").empty());
  ASSERT_EQ(effects.warnings.size(), 1u);
  EXPECT_EQ(effects.warnings.front().text, "worker worker-2 gets no work: not trusted");
  EXPECT_EQ(effects.warnings.front().about.worker, "worker-2");
  Effects end;
  controller->stop({Reason::interrupted, "SIGINT"}, at(now), end);
  EXPECT_EQ(sent<wire::Drain>(end, "q").size(), 1u) << "it gets the end all the same";
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
