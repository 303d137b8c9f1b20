#include "common/model/cache_key.hpp"
#include "tests/unit/run/run_fixture.hpp"

namespace sluice {
namespace {

TEST_F(RunControllerTest, ARunFromHelloToGoodbye) {
  begin();
  const auto welcomed = hello("p", 1);
  ASSERT_EQ(sent<wire::Welcome>(welcomed, "p").size(), 1u);
  EXPECT_EQ(sent<wire::Welcome>(welcomed, "p")[0].settings, config.settings);
  EXPECT_EQ(welcomed.changed_peers, std::vector<WorkerId>{1});
  EXPECT_TRUE(leased(welcomed, "p").empty()) << "not before READY";
  const auto work = ready("p");
  EXPECT_EQ(leased(work, "p"), (std::vector<UnitId>{0, 1, 2}));
  const auto unit = sent<wire::Work>(work, "p")[0].units.back();
  EXPECT_EQ(unit.key, plan.key(unit.unit));

  now = 500ms;
  const auto reported = report("p", {answered(0), answered(2)}, {0, 1, 2});
  EXPECT_TRUE(acked(reported, "p").empty()) << "acknowledged only after the commit";
  ASSERT_EQ(reported.to_record.size(), 2u);
  EXPECT_EQ(reported.to_record[1].item.trials, (std::vector<TrialId>{2, 3}));
  EXPECT_EQ(reported.to_record[1].item.worker, "worker-1");
  EXPECT_EQ(reported.to_record[1].item.cache_id, "cache-1");
  const auto acks = acked(record(reported), "p");
  ASSERT_EQ(acks.size(), 2u);
  EXPECT_EQ(acks[0], (wire::Acknowledged{0, wire::AckCode::committed, plan.key(0), sha256("answer")}));
  EXPECT_FALSE(controller->over());
  EXPECT_EQ(controller->counts().passed, 3u) << "trials, not units";

  now = 2000ms;
  const auto end = record(report("p", {answered(1)}));
  EXPECT_EQ(sent<wire::Drain>(end, "p").size(), 1u);
  EXPECT_TRUE(controller->over());
  EXPECT_FALSE(controller->stopped());
  EXPECT_FALSE(controller->all_gone());
  EXPECT_EQ(send("p", wire::Goodbye{"drained"}).gone, (std::vector<GoneWorker>{{1, false}}));
  EXPECT_TRUE(controller->all_gone());
  const auto facts = controller->facts();
  EXPECT_EQ(facts.run_id, run_id);
  EXPECT_DOUBLE_EQ(facts.duration_seconds, 2.0);
  ASSERT_EQ(facts.workers.size(), 1u);
  EXPECT_EQ(facts.workers[0].units, 3u);
  EXPECT_FALSE(facts.workers[0].lost);
  EXPECT_FALSE(facts.cut_short);
}

TEST_F(RunControllerTest, ABaselinesAnswerThatWasStoredIsRecordedByItsKey) {
  ProviderSettings old;
  old.name = "old";
  config.settings.providers = {old};
  config.settings.grading = GradingSettings{GradeJudge::exact, "old", "old-model"};
  begin();
  join("p", 1);
  UnitResult graded = answered(0);
  graded.grade = GradingResult{{1.0, "", "exact"}, {}, {}};
  graded.stored_baseline = sha256("baseline");
  const auto reported = report("p", {graded, answered(1)});
  ASSERT_EQ(reported.to_record.size(), 2u);
  const auto& item = reported.to_record[0].item;
  EXPECT_TRUE(is_zero(item.result.stored_baseline)) << "the ledger keeps the pin alone";
  ASSERT_TRUE(item.baseline);
  ModelRequest request = plan.render(0)->request;
  request.provider = "old";
  request.model = "old-model";
  EXPECT_EQ(item.baseline->key, cache_key(old, request, 0));
  EXPECT_EQ(item.baseline->answer, sha256("baseline"));
  EXPECT_FALSE(reported.to_record[1].item.baseline);
}

TEST_F(RunControllerTest, AWorkerThatIsNotKnownMustSendHello) {
  begin();
  expect_rejected(send("stranger", wire::Heartbeat{run_id, 0, 5, {}}), "stranger");
  const auto effects = report("stranger", {answered(0)});
  expect_rejected(effects, "stranger");
  EXPECT_TRUE(effects.to_record.empty());
  EXPECT_TRUE(acked(effects, "stranger").empty())
      << "it keeps its results and sends them again after its HELLO";
  EXPECT_TRUE(ready("stranger").to_workers.empty());
  EXPECT_TRUE(send("stranger", wire::Goodbye{"x"}).to_workers.empty());
}

TEST_F(RunControllerTest, AHeartbeatOfAnotherRunIsRefused) {
  begin();
  join("p", 1);
  const auto effects = send("p", wire::Heartbeat{"run-0", 0, 5, {}});
  expect_rejected(effects, "p");
  EXPECT_TRUE(effects.demands.empty());
  EXPECT_EQ(send("p", wire::Heartbeat{run_id, 42, 5, {}}).demands.at(0).second.sent_at_us, 42u);
}

TEST_F(RunControllerTest, ResultsOfAnotherRunAreGone) {
  begin();
  join("p", 1);
  const auto effects = send("p", wire::Report{"run-0", 5, {}, {answered(0)}});
  const auto acks = sent<wire::Ack>(effects, "p");
  ASSERT_EQ(acks.size(), 1u);
  EXPECT_EQ(acks[0].run_id, "run-0");
  EXPECT_EQ(acks[0].items.at(0).code, wire::AckCode::gone);
  EXPECT_TRUE(effects.to_record.empty());
}

TEST_F(RunControllerTest, AReadyOfAnotherRunGetsNoWork) {
  begin();
  hello("p", 1);
  EXPECT_TRUE(leased(send("p", wire::Ready{"run-0", {}, 10, {}}), "p").empty());
  EXPECT_EQ(controller->worker_count(), 0u);
}

TEST_F(RunControllerTest, AResultThatDoesNotFitThePlanIsGone) {
  begin();
  join("p", 1);
  auto beyond = answered(0);
  beyond.unit = 3;
  auto wrong_key = answered(0);
  wrong_key.key = plan.key(1);
  auto no_score = answered(0);
  no_score.scores.clear();
  auto foreign_trial = answered(0);
  foreign_trial.scores[0].trial = 1;
  auto one_of_two = answered(2);
  one_of_two.scores.pop_back();
  auto swapped = answered(2);
  std::swap(swapped.scores[0], swapped.scores[1]);
  auto scored_error = answered(0);
  scored_error.error = Error{Reason::truncated, "cut off"};
  for (const auto& result : {beyond, wrong_key, no_score, foreign_trial, one_of_two, swapped, scored_error}) {
    const auto effects = report("p", {result});
    EXPECT_TRUE(effects.to_record.empty());
    const auto acks = acked(effects, "p");
    ASSERT_EQ(acks.size(), 1u);
    EXPECT_EQ(acks[0].code, wire::AckCode::gone);
  }
  EXPECT_EQ(controller->facts().requests, 0u);
}

TEST_F(RunControllerTest, AnAckNamesTheWinnerOfADuplicateWhichIsCounted) {
  begin();
  join("p", 1);
  join("q", 2);
  const auto first = report("p", {answered(0, "first")});
  const auto second = report("q", {answered(0, "second")});
  record(first);
  const auto acks = acked(record(second), "q");
  ASSERT_EQ(acks.size(), 1u);
  EXPECT_EQ(acks[0].code, wire::AckCode::duplicate);
  EXPECT_EQ(acks[0].winner, sha256("first"));
  EXPECT_EQ(controller->facts().duplicates_dropped, 1u);
  EXPECT_EQ(controller->counts().passed, 1u);
  EXPECT_EQ(controller->facts().workers[1].units, 0u);
}

TEST_F(RunControllerTest, SpendIsAddedUp) {
  begin();
  join("p", 1);
  auto paid = answered(0);
  paid.spend = {3, 2, 1, false, {100, 20, 30}, 5, 100, 20, 7};
  auto hit = answered(1);
  hit.spend.cache_hit = true;
  record(report("p", {paid, hit}));
  const auto facts = controller->facts();
  EXPECT_EQ(facts.requests, 3u);
  EXPECT_EQ(facts.retries, 2u);
  EXPECT_EQ(facts.rate_limited, 1u);
  EXPECT_EQ(facts.cache_hits, 1u);
  EXPECT_EQ(facts.paid.of(CallKind::answer).input_tokens, 100u);
  EXPECT_EQ(facts.paid.of(CallKind::answer).output_tokens, 20u);
  EXPECT_EQ(facts.paid.of(CallKind::embedding).input_tokens, 30u);
  EXPECT_EQ(facts.waited_permit, 100ms);
  EXPECT_EQ(facts.waited_pause, 20ms);
  EXPECT_EQ(facts.waited_retry, 7ms);
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

TEST_F(RunControllerTest, WorkNamesThePinnedAnswer) {
  config.settings.mode = Mode::cached;
  config.pinned_answers = {sha256("a"), Digest{}, sha256("c")};
  begin();
  for (const auto& work : sent<wire::Work>(join("p", 1), "p")) {
    for (const auto& unit : work.units) EXPECT_EQ(unit.pinned_answer, config.pinned_answers[unit.unit]);
  }
}

TEST_F(RunControllerTest, ASilentWorkerLosesItsLeases) {
  begin();
  join("p", 1);
  EXPECT_TRUE(leased(join("q", 2), "q").empty());
  Effects effects;
  for (auto time = 1000ms; time <= 4000ms; time += 1000ms) {
    send("q", wire::Heartbeat{run_id, 0, 10, {}});
    effects = tick(time);
    if (time < 4000ms) {
      EXPECT_TRUE(leased(effects, "q").empty());
    }
  }
  EXPECT_EQ(leased(effects, "q"), (std::vector<UnitId>{0, 1, 2}));
  EXPECT_EQ(controller->peers({1, 2}), (std::vector<GovernedPeer>{{"q", 2, 5}}));
  EXPECT_EQ(effects.gone, (std::vector<GoneWorker>{{1, true}}));
  ASSERT_EQ(effects.notes.size(), 1u);
  EXPECT_TRUE(effects.notes[0].text.ends_with(" is silent; its leases go to others"))
      << effects.notes[0].text;
  EXPECT_TRUE(controller->facts().workers[0].lost);
  expect_rejected(send("p", wire::Heartbeat{run_id, 0, 10, {}}), "p");
}

TEST_F(RunControllerTest, TheRunSaysHowLongItWaitsForItsLastWorker) {
  begin();
  join("p", 1);
  Effects effects;
  for (auto time = 1000ms; time <= 4000ms; time += 1000ms) effects = tick(time);
  ASSERT_EQ(effects.notes.size(), 1u);
  EXPECT_TRUE(
      effects.notes[0].text.ends_with(" is silent; the run waits 10 s for a worker (--worker-timeout)"))
      << effects.notes[0].text;
}

TEST_F(RunControllerTest, AWorkerThatComesBackIsWelcomeUnderItsNewAddress) {
  begin();
  join("p", 1);
  const auto back = hello("p2", 1);
  EXPECT_EQ(sent<wire::Welcome>(back, "p2").size(), 1u);
  const auto again = ready("p2", 10, {0, 2});
  EXPECT_EQ(leased(again, "p2"), std::vector<UnitId>{1}) << "what it still holds is not sent again";
  EXPECT_EQ(controller->peers({1}), (std::vector<GovernedPeer>{{"p2", 1, 5}}));
  EXPECT_EQ(back.gone, (std::vector<GoneWorker>{{1, true, true}})) << "it begins without permits";
  expect_rejected(send("p", wire::Heartbeat{run_id, 0, 10, {}}), "p");
  EXPECT_EQ(controller->facts().workers.size(), 1u);
  EXPECT_FALSE(controller->facts().workers[0].lost);
}

TEST_F(RunControllerTest, ATickThatComesLateLosesNobody) {
  begin();
  join("p", 1);
  tick(1000ms);
  const auto late = tick(60s);
  EXPECT_EQ(controller->worker_count(), 1u);
  EXPECT_EQ(late.notes.size(), 1u);
  EXPECT_FALSE(controller->over());
  tick(61s);
  EXPECT_EQ(controller->worker_count(), 1u);
  EXPECT_EQ(controller->facts().leases_lost, 0u);
}

TEST_F(RunControllerTest, AFirstTickThatComesLateLosesNobody) {
  begin();
  join("p", 1);
  const auto late = tick(4s);
  EXPECT_EQ(controller->worker_count(), 1u) << "what came meanwhile has yet to be read";
  EXPECT_EQ(late.notes.size(), 1u);
}

TEST_F(RunControllerTest, ATickAfterASleepWithoutWorkersDoesNotEndTheRun) {
  begin();
  tick(1000ms);
  tick(60s);
  EXPECT_FALSE(controller->over()) << "the time in which nobody could come does not count";
}

TEST_F(RunControllerTest, ManyUnitsAreSentInBoundedMessages) {
  suite = make_suite(0);
  for (int i = 0; i < 600; ++i) {
    Case one;
    one.content = std::string(10'000, 'x') + std::to_string(i);
    suite.cases.push_back(one);
  }
  const auto large = make_plan(suite);
  config.affinities.assign(large.unit_count(), {});
  controller.emplace(large, config, at(0ms));
  hello("p", 1);
  const auto effects = ready("p", 500);
  EXPECT_EQ(leased(effects, "p").size(), 500u);
  for (const auto& work : sent<wire::Work>(effects, "p")) {
    EXPECT_LE(work.units.size(), 256u);
    EXPECT_LE(work.units.size() * 10'000u, (1u << 20) + 20'000u);
  }
}

TEST_F(RunControllerTest, WhatATextBringsAlongCountsForTheBoundOfMessages) {
  suite = make_suite(0);
  for (int i = 0; i < 20; ++i) {
    Case one;
    one.kind = CaseKind::text;
    one.content = "content";
    one.system = std::string(300'000, 's') + std::to_string(i);
    one.expectations = {{{MetricId::must_contain, {std::string(300'000, 'x')}}, {}, {}, {}}};
    suite.cases.push_back(one);
  }
  const auto large = make_plan(suite);
  config.affinities.assign(large.unit_count(), {});
  controller.emplace(large, config, at(0ms));
  hello("p", 1);
  const auto effects = ready("p", 500);
  EXPECT_EQ(leased(effects, "p").size(), 20u);
  for (const auto& work : sent<wire::Work>(effects, "p")) EXPECT_LE(work.units.size(), 2u);
}

// 1,030 cached answers of 400 KB waited for their commands at a time: gigabytes, and lost leases.
TEST_F(RunControllerTest, WithoutCallsAWorkerIsLeasedWhatCommandsCanCheck) {
  suite = make_suite(201);
  const auto many = make_plan(suite);
  config.affinities.assign(many.unit_count(), {});
  config.settings.mode = Mode::cached;
  config.most_to_check = 16;
  controller.emplace(many, config, at(0ms));
  const auto first = leased(join("p", 1, 1030), "p");
  ASSERT_EQ(first.size(), 16u);
  plan = make_plan(suite);
  const auto reported = send("p", wire::Report{run_id, 1030, {}, {answered(first[0])}});
  EXPECT_TRUE(leased(reported, "p").empty()) << "it is not checked yet";
  EXPECT_EQ(leased(record(reported), "p").size(), 1u);
}

TEST_F(RunControllerTest, CallsGoOnUntilMoreResultsWaitForCommandsThanForTheirAnswers) {
  suite = make_suite(201);
  plan = make_plan(suite);
  config.affinities.assign(plan.unit_count(), {});
  config.most_to_check = 16;
  begin();
  const auto first = leased(join("p", 1, 100), "p");
  ASSERT_EQ(first.size(), 100u) << "as many calls as the worker can make";
  std::vector<UnitResult> some;
  for (std::size_t i = 0; i < 70; ++i) some.push_back(answered(first[i]));
  const auto early = report("p", {some.begin(), some.begin() + 50});
  report("p", {some.begin() + 50, some.end()});
  EXPECT_TRUE(leased(join("q", 2), "q").empty()) << "70 wait for commands, 30 for answers";
  EXPECT_EQ(leased(record(early), "q").size(), 10u) << "20 for commands, 30 for answers";
}

// Only their number was bounded, and each may have an answer of 8 MiB.
TEST_F(RunControllerTest, NothingIsLeasedWhileLargeAnswersWaitForCommands) {
  config.most_to_check = 16;
  begin();
  const auto first = leased(join("p", 1, 2), "p");
  ASSERT_EQ(first.size(), 2u);
  UnitResult large = answered(first[0]);
  large.observed.emplace().text = std::string(defaults::max_bytes_to_check, 'a');
  const auto reported = report("p", {large});
  EXPECT_TRUE(leased(reported, "p").empty());
  EXPECT_TRUE(leased(join("q", 2), "q").empty());
  const auto recorded = record(reported);
  EXPECT_EQ(leased(recorded, "p").size() + leased(recorded, "q").size(), 1u);
}

TEST_F(RunControllerTest, RejectedFramesAreCounted) {
  begin();
  FromWorkers messages;
  messages.frames_rejected = 7;
  Effects effects;
  controller->on_messages(messages, at(0ms), effects);
  EXPECT_EQ(controller->facts().frames_rejected, 7u);
}

// Whoever had started workers with a wrong key was told to start one.
TEST_F(RunControllerTest, WhoHasNoWorkerIsToldThatConnectionsWereRefused) {
  begin();
  FromWorkers messages;
  messages.connections_refused = 12;
  Effects effects;
  controller->on_messages(messages, at(0ms), effects);
  for (auto time = 1000ms; time <= 12000ms; time += 1000ms) tick(time);
  ASSERT_TRUE(controller->stopped());
  EXPECT_TRUE(controller->stopped()->message.starts_with(
      "no worker was connected for 10 s; 12 connections were refused, as the log says; "))
      << controller->stopped()->message;
}

// Each of a fleet left for the same reason, and the run said that it had no worker.
TEST_F(RunControllerTest, WhoHasNoWorkerAnyMoreIsToldWhyTheLastOneLeft) {
  begin();
  join("p", 1);
  send("p", wire::Goodbye{"its disk is full"});
  for (auto time = 1000ms; time <= 12000ms; time += 1000ms) tick(time);
  ASSERT_TRUE(controller->stopped());
  EXPECT_NE(controller->stopped()->message.find(" left last: its disk is full; "), std::string::npos)
      << controller->stopped()->message;
}

}  // namespace
}  // namespace sluice
