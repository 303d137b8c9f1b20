#include "common/transport/local_workers.hpp"
#include "coordinator/actors/await_run.hpp"
#include "coordinator/actors/coordinator_actor.hpp"
#include "coordinator/actors/governor_actor.hpp"
#include "coordinator/actors/messages.hpp"
#include "coordinator/actors/recorder.hpp"
#include "tests/actors/actor_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

using Router = Probe<ToPeer, DrainSocket, CloseSocket>;

template <class Message>
std::vector<Message> sent_to(Router& router, const Peer& peer) {
  std::vector<Message> found;
  for (const auto& [to, message] : router.got<ToPeer>()) {
    if (const auto* wanted = std::get_if<Message>(&message); wanted && to == peer) found.push_back(*wanted);
  }
  return found;
}

// --- governor ---

class GovernorActorTest : public ActorTest {
 protected:
  static GovernorConfig config() {
    ProviderLimits limited;
    limited.requests_per_minute = 6000;
    limited.burst_seconds = 0.1;
    return {{{"openai", {}}, {"limited", limited}}, {10s, 1s, 600s}};
  }
  void join(const std::vector<GovernedPeer>& peers, const std::vector<GoneWorker>& gone = {}) {
    caf::anon_send(governor, PeersChanged{"run-1", peers, gone});
    settle();
  }
  void send(const Peer& peer, wire::Demand demand) {
    caf::anon_send(governor, HeartbeatReceived{peer, {"run-1", 77, 5, {std::move(demand)}, 0}});
    settle();
  }
  void pause(const Peer& peer, std::uint32_t pause_ms) {
    send(peer, {"openai", 0, 1, 0, false, pause_ms, {}, {}, {}, {}, {}});
  }
  /// Both clocks go on.
  void go(std::chrono::milliseconds time) {
    for (std::chrono::milliseconds gone{}; gone < time; gone += 1ms) {
      now += 1ms;
      pass(1ms);
    }
  }
  std::size_t permits_for(const Peer& peer) {
    std::size_t permits = 0;
    for (const auto& grants : sent_to<wire::Grants>(router, peer))
      permits += grants.grants.at(1).permits.size();
    return permits;
  }

  BootTime now = std::chrono::hours(5);
  Router router{system()};
  Probe<BudgetReport> coordinator{system()};
  caf::actor governor = owned(
      spawn_governor(system(), config(), router.handle(), coordinator.handle(), [this] { return now; }));
};

TEST_F(GovernorActorTest, AnswersAHeartbeatWithAGrantThatEchoesItsTime) {
  join({{"p", 1, 5}});
  router.take<ToPeer>();
  send("p", {"openai", 1, 0, 0, false, 0, {}, {}, {}, {}, {}});
  const auto grants = sent_to<wire::Grants>(router, "p");
  ASSERT_EQ(grants.size(), 1u);
  EXPECT_EQ(grants[0].run_id, "run-1");
  EXPECT_EQ(grants[0].echo_us, 77u);
  EXPECT_EQ(grants[0].now_us, 18'000'000'000u) << "of the coordinator's boot clock";
  ASSERT_EQ(grants[0].grants.size(), 2u) << "every provider, in the order of the settings";
  EXPECT_TRUE(grants[0].grants[0].unlimited);
  EXPECT_FALSE(grants[0].grants[1].unlimited);
}

TEST_F(GovernorActorTest, HeartbeatsThatWaitTogetherAreOneTurn) {
  join({{"p", 1, 5}});
  router.take<ToPeer>();
  for (int i = 0; i < 3; ++i) caf::anon_send(governor, HeartbeatReceived{"p", {"run-1", 77, 5, {}, 0}});
  settle();
  EXPECT_EQ(sent_to<wire::Grants>(router, "p").size(), 1u);
}

TEST_F(GovernorActorTest, SendsANewPauseToAllWorkersAtOnce) {
  join({{"p", 1, 5}, {"q", 2, 5}, {"r", 3, 5}});
  router.take<ToPeer>();
  pause("p", 5000);
  for (const Peer peer : {"p", "q", "r"}) {
    const auto grants = sent_to<wire::Grants>(router, peer);
    ASSERT_EQ(grants.size(), 1u) << peer;
    EXPECT_EQ(grants[0].grants.at(0).pause_ms, 5000u);
    EXPECT_EQ(grants[0].grants.at(0).hold, wire::HoldReason::named_delay);
    EXPECT_EQ(grants[0].echo_us, peer == "p" ? 77u : 0u);
  }
  go(1000ms);
  router.take<ToPeer>();
  pause("q", 0);
  EXPECT_EQ(sent_to<wire::Grants>(router, "q").at(0).grants.at(0).pause_ms, 4000u);
  EXPECT_TRUE(sent_to<wire::Grants>(router, "r").empty()) << "nothing new";
}

TEST_F(GovernorActorTest, WhoJoinsDuringAPauseGetsIt) {
  join({{"p", 1, 5}});
  pause("p", 5000);
  join({{"p", 1, 5}, {"q", 2, 5}});
  EXPECT_EQ(sent_to<wire::Grants>(router, "q").at(0).grants.at(0).pause_ms, 5000u);
}

TEST_F(GovernorActorTest, PermitsComeUnaskedWhenTheirTimeHasCome) {
  join({{"p", 1, 50}});
  send("p", {"limited", 50, 0, 0, false, 0, std::vector<wire::CallSize>(50), {}, {}, {}, {}});
  const auto at_once = permits_for("p");
  EXPECT_GE(at_once, 5u) << "those that open within the lookahead";
  EXPECT_LE(at_once, 8u);
  go(50ms);
  EXPECT_NEAR(static_cast<double>(permits_for("p")), static_cast<double>(at_once) + 5, 1) << "100 a second";
  go(200ms);
  EXPECT_LE(permits_for("p"), at_once + 7) << "those that have expired were not reported";
}

TEST_F(GovernorActorTest, AWorkerThatBeginsAnewIsAnsweredAtItsNewAddress) {
  join({{"p", 1, 5}});
  router.take<ToPeer>();
  join({{"p2", 1, 5}}, {{1, true}});
  EXPECT_EQ(sent_to<wire::Grants>(router, "p2").size(), 1u);
  send("p", {"openai", 1, 0, 0, false, 0, {}, {}, {}, {}, {}});
  EXPECT_TRUE(sent_to<wire::Grants>(router, "p").empty());
}

TEST_F(GovernorActorTest, ReportsTheUseOfBudgets) {
  join({{"p", 1, 5}});
  send("p", {"limited", 7, 2, 0, false, 0, std::vector<wire::CallSize>(7), {}, {}, {}, {}});
  caf::anon_send(governor, BudgetRequest{});
  settle();
  ASSERT_EQ(coordinator.got<BudgetReport>().size(), 1u);
  const auto& budgets = coordinator.got<BudgetReport>()[0].budgets;
  ASSERT_EQ(budgets.size(), 2u);
  EXPECT_EQ(budgets[1].provider, "limited");
  EXPECT_EQ(budgets[1].waiting_calls, 7u);
  EXPECT_EQ(budgets[1].in_flight, 2u);
  EXPECT_EQ(budgets[1].requests, (KnownLimit{6000, LimitSource::configured}));
}

// --- recorder ---

ResultToCommit result_of(UnitId unit, const std::string& text) {
  ResultToCommit item;
  item.result.unit = unit;
  item.result.answer = sha256(text);
  TrialScore score;
  score.trial = unit;
  score.metrics = {{MetricId::claims_required, std::nullopt, unit % 2 == 0, ""}};
  item.result.scores = {score};
  item.trials = {unit};
  return item;
}

class RecorderTest : public ActorTest {
 protected:
  RecorderTest() {
    auto ledger = Ledger::open(file());
    EXPECT_TRUE(ledger && ledger->begin_run({"run-1", "s", "live", "p", "m", "1", 1, 1}));
    recorder = owned(spawn_recorder(system(), std::move(*ledger), run_id, true, coordinator.handle(), false));
  }
  std::filesystem::path file() const { return folder.path() / "ledger.db"; }
  void record(WorkerId worker, UnitId unit, const std::string& text = "a") {
    caf::anon_send(recorder, RecordResults{{{worker, result_of(unit, text)}}});
  }

  std::string run_id = "run-1";
  support::TemporaryFolder folder;
  Probe<ResultsRecorded, RecordingFailed> coordinator{system()};
  caf::actor recorder;
};

TEST_F(RecorderTest, ResultsThatWaitTogetherAreCommittedTogether) {
  for (UnitId unit = 0; unit < 10; ++unit) record(unit + 100, unit);
  settle();
  const auto batches = coordinator.take<ResultsRecorded>();
  ASSERT_EQ(batches.size(), 1u);
  ASSERT_EQ(batches[0].items.size(), 10u);
  for (UnitId unit = 0; unit < 10; ++unit) {
    const auto& item = batches[0].items[unit];
    EXPECT_EQ(item.worker, unit + 100u);
    EXPECT_EQ(item.unit, unit);
    EXPECT_TRUE(item.outcome.first);
    EXPECT_EQ(item.failed.size(), unit % 2 == 0 ? 0u : 1u);
    EXPECT_FALSE(item.error);
    EXPECT_TRUE(item.answered);
  }
}

TEST_F(RecorderTest, AnAnswerThatNobodyCanUseIsAnAnswer) {
  auto cut_off = result_of(0, "half an ans");
  cut_off.result.error = Error{Reason::truncated, "cut off"};
  cut_off.result.scores.clear();
  auto none = result_of(1, "");
  none.result.error = Error{Reason::timed_out, "it hung"};
  none.result.answer = {};
  none.result.scores.clear();
  caf::anon_send(recorder, RecordResults{{{1, cut_off}, {1, none}}});
  settle();
  const auto batches = coordinator.take<ResultsRecorded>();
  ASSERT_EQ(batches.size(), 1u);
  ASSERT_EQ(batches[0].items.size(), 2u);
  EXPECT_TRUE(batches[0].items[0].answered);
  EXPECT_FALSE(batches[0].items[1].answered);
}

TEST_F(RecorderTest, WhatItReportsIsInTheLedger) {
  record(1, 3);
  settle();
  ASSERT_EQ(coordinator.got<ResultsRecorded>().size(), 1u);
  const auto reader = Ledger::open(file());
  std::size_t seen = 0;
  EXPECT_TRUE(reader->results_of("run-1")->visit([&](const CommittedTrial& trial) {
    EXPECT_EQ(trial.trial, 3u);
    ++seen;
  }));
  EXPECT_EQ(seen, 1u);
}

TEST_F(RecorderTest, AFloodIsCommittedInBoundedBatches) {
  for (UnitId unit = 0; unit < 1300; ++unit) record(1, unit);
  RecordResults together;
  for (UnitId unit = 1300; unit < 2600; ++unit) together.results.push_back({1, result_of(unit, "a")});
  caf::anon_send(recorder, std::move(together));
  settle();
  std::size_t recorded = 0;
  for (const auto& batch : coordinator.got<ResultsRecorded>()) {
    EXPECT_LE(batch.items.size(), 512u);
    for (const auto& item : batch.items) EXPECT_EQ(item.unit, recorded++) << "in the order of arrival";
  }
  EXPECT_EQ(recorded, 2600u);
}

TEST_F(RecorderTest, AnAckNamesTheWinnerOfADuplicate) {
  record(1, 0, "first");
  record(2, 0, "second");
  settle();
  const auto batches = coordinator.take<ResultsRecorded>();
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_TRUE(batches[0].items.at(0).outcome.first);
  EXPECT_FALSE(batches[0].items.at(1).outcome.first);
  EXPECT_EQ(batches[0].items.at(1).outcome.winner, sha256("first"));
}

TEST_F(RecorderTest, AFailureIsReportedAndLeavesItReadyForMore) {
  run_id = "not in the ledger";
  auto ledger = Ledger::open(file());
  const auto broken =
      owned(spawn_recorder(system(), std::move(*ledger), run_id, true, coordinator.handle(), false));
  for (int twice = 0; twice < 2; ++twice) {
    caf::anon_send(broken, RecordResults{{{1, result_of(0, "a")}}});
    settle();
    const auto failures = coordinator.take<RecordingFailed>();
    ASSERT_EQ(failures.size(), 1u);
    EXPECT_EQ(failures[0].why.reason, Reason::ledger_failed);
  }
}

// --- coordinator ---

class CoordinatorActorTest : public ActorTest {
 protected:
  using Recorder = Probe<RecordResults>;

  CoordinatorActorTest() {
    for (const auto* content : {"one", "two"}) {
      Case one;
      one.id = content;
      one.content = content;
      suite.cases.push_back(one);
    }
    PromptTemplate prompt;
    prompt.user = "{{content}}";
    plan = std::make_shared<const Plan>(*Plan::make(suite, prompt, Ontology(), RequestSettings()));
    CoordinatorConfig config;
    config.plan = plan;
    config.controller.settings.run_id = "run-1";
    ProviderSettings provider;
    provider.name = "openai";
    config.controller.settings.providers = {provider};
    config.controller.settings.heartbeat_interval = 1000ms;
    config.controller.dispatch = {1000ms, 3, 3, 60s};
    config.controller.worker_timeout = 60s;
    config.controller.affinities.resize(plan->unit_count());
    config.governor = {{{"openai", {}}}, {10s, 1s, 600s}};
    config.progress = progress.handle();
    config.progress_interval = 100ms;
    config.listener = listener.handle();
    coordinator = owned(spawn_coordinator(
        system(), std::move(config), [this](const caf::actor&) { return router.handle(); },
        [this](const caf::actor&) { return recorder.handle(); }));
    settle();
  }

  void send(const Peer& peer, wire::ToCoordinator message) {
    FromWorkers messages;
    messages.items.push_back({peer, std::move(message)});
    caf::anon_send(coordinator, std::move(messages));
    settle();
  }
  void join(const Peer& peer, std::uint64_t instance) {
    send(peer, wire::Hello{instance, "w", "cache", "0", 5});
    send(peer, wire::Ready{"run-1", {}, 10, {}});
  }
  void report(const Peer& peer, UnitId unit) {
    UnitResult result;
    result.unit = unit;
    result.key = plan->key(unit);
    result.answer = sha256("a");
    for (const auto trial : plan->trials_of(unit)) result.scores.push_back({trial, {}, {}});
    send(peer, wire::Report{"run-1", 10, {unit}, {std::move(result)}});
  }
  /// Plays the recorder: what it was given is committed.
  void commit() {
    ResultsRecorded done;
    for (const auto& message : recorder.take<RecordResults>()) {
      for (const auto& record : message.results) {
        done.items.push_back({record.worker,
                              record.item.result.unit,
                              record.item.result.key,
                              {true, record.item.result.answer},
                              false,
                              true,
                              {},
                              {}});
      }
    }
    caf::anon_send(coordinator, std::move(done));
    settle();
  }
  void stop() {
    caf::anon_send(coordinator, StopRun{{Reason::interrupted, "SIGINT"}});
    settle();
  }
  std::size_t ended() { return listener.got<RunEnded>().size(); }
  void kill(const caf::actor& actor) {
    caf::anon_send_exit(actor, caf::exit_reason::kill);
    settle();
  }
  void expect_internal_error(const std::string& who) {
    ASSERT_EQ(ended(), 1u);
    const auto& cut_short = listener.got<RunEnded>()[0].facts.cut_short;
    ASSERT_TRUE(cut_short);
    EXPECT_EQ(cut_short->reason, Reason::internal_error);
    EXPECT_NE(cut_short->message.find(who), std::string::npos) << cut_short->message;
  }

  Suite suite;
  std::shared_ptr<const Plan> plan;
  Router router{system()};
  Recorder recorder{system()};
  Probe<ShowProgress> progress{system()};
  Probe<RunEnded> listener{system()};
  caf::actor coordinator;
};

TEST_F(CoordinatorActorTest, ConductsARun) {
  join("p", 1);
  EXPECT_EQ(sent_to<wire::Welcome>(router, "p").size(), 1u);
  ASSERT_EQ(sent_to<wire::Work>(router, "p").size(), 1u);
  report("p", 0);
  report("p", 1);
  EXPECT_TRUE(sent_to<wire::Ack>(router, "p").empty()) << "not before the commit";
  commit();
  EXPECT_EQ(sent_to<wire::Ack>(router, "p").size(), 1u);
  EXPECT_EQ(sent_to<wire::Drain>(router, "p").size(), 1u);
  EXPECT_EQ(ended(), 0u) << "the worker's GOODBYE is awaited";
  send("p", wire::Goodbye{"drained"});
  ASSERT_EQ(ended(), 1u);
  EXPECT_FALSE(listener.got<RunEnded>()[0].facts.cut_short);
  EXPECT_EQ(router.got<CloseSocket>().size(), 1u);
  EXPECT_EQ(progress.got<ShowProgress>().back().state.done, 2u);
  send("q", wire::Hello{9, "late", "", "0", 1});
  EXPECT_EQ(ended(), 1u);
}

TEST_F(CoordinatorActorTest, AWorkerThatSendsNoGoodbyeIsNotAwaitedForLong) {
  join("p", 1);
  stop();
  pass(1999ms);
  EXPECT_EQ(ended(), 0u);
  pass(1ms);
  ASSERT_EQ(ended(), 1u);
  EXPECT_EQ(listener.got<RunEnded>()[0].facts.cut_short->reason, Reason::interrupted);
}

TEST_F(CoordinatorActorTest, ResultsOnTheirWayIntoTheLedgerAreWaitedFor) {
  join("p", 1);
  report("p", 0);
  stop();
  send("p", wire::Goodbye{"drained"});
  pass(10s);
  EXPECT_EQ(ended(), 0u) << "it was paid for";
  commit();
  EXPECT_EQ(ended(), 1u);
}

TEST_F(CoordinatorActorTest, ALedgerThatFailsEndsTheRun) {
  join("p", 1);
  report("p", 0);
  report("p", 1);
  caf::anon_send(coordinator, RecordingFailed{{Reason::ledger_failed, "no space"}});
  settle();
  EXPECT_EQ(sent_to<wire::Drain>(router, "p").size(), 1u);
  commit();  // A batch that came through after all must not keep the run from ending.
  send("p", wire::Goodbye{"drained"});
  ASSERT_EQ(ended(), 1u);
  EXPECT_EQ(listener.got<RunEnded>()[0].facts.cut_short->reason, Reason::ledger_failed);
}

TEST_F(CoordinatorActorTest, SilenceCountsOnlyOnceTheSocketIsDrained) {
  join("p", 1);
  for (int second = 0; second < 10; ++second) pass(1000ms);
  EXPECT_EQ(router.got<DrainSocket>().size(), 10u) << "one a heartbeat";
  EXPECT_EQ(progress.got<ShowProgress>().back().state.workers, 1u) << "the router has not answered";
  for (int beat = 0; beat < 5; ++beat) {
    pass(1000ms);
    caf::anon_send(coordinator, SocketDrained{});
    settle();
  }
  pass(100ms);
  EXPECT_EQ(progress.got<ShowProgress>().back().state.workers, 0u);
}

TEST_F(CoordinatorActorTest, ADeadRouterEndsTheRunWithWhatIsCommitted) {
  join("p", 1);
  report("p", 0);
  kill(router.handle());
  EXPECT_EQ(ended(), 0u) << "the recorder has yet to commit what it was given";
  commit();
  expect_internal_error("router");
}

TEST_F(CoordinatorActorTest, ADeadGovernorEndsTheRun) {
  join("p", 1);
  send("p", wire::Heartbeat{"run-1", 5, 10, {{"openai", 0, 0, 0, false, 0, {}, {}, {}, {}, {}}}, 0});
  kill(caf::actor_cast<caf::actor>(router.last_sender()));
  send("p", wire::Goodbye{"drained"});
  expect_internal_error("governor");
}

TEST_F(CoordinatorActorTest, ADeadRecorderEndsTheRun) {
  join("p", 1);
  report("p", 0);
  kill(recorder.handle());
  send("p", wire::Goodbye{"drained"});
  expect_internal_error("recorder");
}

TEST_F(CoordinatorActorTest, ADeadProgressDisplayEndsTheRun) {
  kill(progress.handle());
  expect_internal_error("progress");
}

TEST_F(CoordinatorActorTest, AHandlerThatThrowsEndsTheRunForWhoeverWaitsForIt) {
  join("p", 1);
  ResultsRecorded of_nobody;
  of_nobody.items.push_back({99, 0, {}, {true, {}}, false, true, {}, {}});  // No such worker ever came.
  caf::anon_send(coordinator, std::move(of_nobody));
  settle();
  EXPECT_EQ(ended(), 0u) << "it cannot send that itself";
  {
    caf::scoped_actor self(system());
    const auto run = await_run(self, coordinator, {}, "run-1");
    EXPECT_EQ(run.facts.run_id, "run-1");
    ASSERT_TRUE(run.facts.cut_short);
    EXPECT_EQ(run.facts.cut_short->reason, Reason::internal_error);
  }
  settle();
  EXPECT_EQ(running(), 2u) << "the listener and the progress display, which are not its own";
}

TEST_F(CoordinatorActorTest, AwaitRunReportsADeadWorkerToTheCoordinator) {
  Probe<StopWorker> worker(system());
  kill(worker.handle());
  caf::scoped_actor self(system());
  // In place of the coordinator, on a thread of its own: this one waits.
  const auto conductor = system().spawn<caf::detached>(
      [listener = caf::actor_cast<caf::actor>(self)](caf::event_based_actor* own) -> caf::behavior {
        return {[own, listener](const LocalWorkerFailed& failed) {
          RunEnded end;
          end.facts.cut_short = failed.error;
          own->send(listener, std::move(end));
          own->quit();
        }};
      });
  const auto run = await_run(self, conductor, {worker.handle()}, "run-1");
  ASSERT_TRUE(run.facts.cut_short);
  EXPECT_EQ(run.facts.cut_short->reason, Reason::internal_error);
}

TEST_F(CoordinatorActorTest, ADeadLocalWorkerEndsTheRun) {
  join("p", 1);
  caf::anon_send(coordinator, LocalWorkerFailed{{Reason::internal_error, "a worker has ended unexpectedly"}});
  settle();
  send("p", wire::Goodbye{"drained"});
  expect_internal_error("worker");
}

TEST_F(CoordinatorActorTest, HeartbeatsAreAnsweredByTheGovernor) {
  join("p", 1);
  join("q", 2);
  router.take<ToPeer>();
  send("p", wire::Heartbeat{"run-1", 5, 10, {{"openai", 0, 0, 0, false, 3000, {}, {}, {}, {}, {}}}, 0});
  EXPECT_EQ(sent_to<wire::Grants>(router, "p").at(0).echo_us, 5u);
  EXPECT_GT(sent_to<wire::Grants>(router, "q").at(0).grants.at(0).pause_ms, 2900u) << "it knows who is there";
}

}  // namespace
}  // namespace sluice
