// Errors that stop a run, and those that leave out a worker or are results.
#include "tests/unit/run/run_fixture.hpp"

namespace sluice {
namespace {

TEST_F(RunControllerTest, ErrorsOfOneTrialAreResults) {
  begin();
  join("p", 1);
  const auto effects = report("p", {failed(2, Reason::rate_limited)});
  ASSERT_EQ(effects.to_record.size(), 1u);
  record(effects);
  EXPECT_EQ(controller->counts().errors, 2u) << "both trials of the unit";
  EXPECT_FALSE(controller->over());
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
  EXPECT_EQ(controller->unfit_count(), 1u);
  report("q", {failed(1, Reason::key_refused)});
  expect_stopped(Reason::key_refused);
}

// The run's end did not say on which machine the key was to be mended.
TEST_F(RunControllerTest, TheLastWorkerWhoseKeyIsRefusedIsNamedUnlessItIsOfThisProcess) {
  for (const bool is_own : {false, true}) {
    begin();
    wire::Hello hello{1, "gpu-7", "cache", "0.1.0", 5};
    hello.from_this_process = is_own;
    send("p", hello);
    send("p", wire::Ready{run_id, {}, 5, {}});
    report("p", {failed(0, Reason::key_refused)});
    expect_stopped(Reason::key_refused);
    const bool is_named = controller->stopped()->message.ends_with(" (worker gpu-7)");
    EXPECT_EQ(is_named, !is_own) << controller->stopped()->message;
  }
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

}  // namespace
}  // namespace sluice
