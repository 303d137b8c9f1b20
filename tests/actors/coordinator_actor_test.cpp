#include "coordinator/actors/coordinator_actor.hpp"

#include "common/transport/local_workers.hpp"
#include "coordinator/actors/await_run.hpp"
#include "coordinator/actors/messages.hpp"
#include "tests/actors/router_probe.hpp"

#include <sstream>

#include <spdlog/sinks/ostream_sink.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

class CoordinatorActorTest : public ActorTest {
 protected:
  using Recorder = Probe<RecordResults, NoteProgress>;

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
    coordinator = start(config(), router, recorder);
  }

  CoordinatorConfig config() {
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
    config.observing.observer = observer.handle();
    return config;
  }
  caf::actor start(CoordinatorConfig config, Router& its_router, Recorder& its_recorder) {
    auto started = owned(spawn_coordinator(
        system(), std::move(config), [&](const caf::actor&) { return its_router.handle(); },
        [&](const caf::actor&) { return its_recorder.handle(); }));
    settle();
    return started;
  }

  void send(const Peer& peer, wire::ToCoordinator message) {
    FromWorkers messages;
    messages.items.push_back({peer, std::move(message)});
    caf::anon_send(coordinator, std::move(messages));
    settle();
  }
  void join(const Peer& peer, std::uint64_t instance) {
    instances[peer] = instance;
    send(peer, wire::Hello{instance, "w", "cache", "0", 5});
    send(peer, wire::Ready{"run-1", {}, 10, {}});
  }
  void report(const Peer& peer, UnitId unit) {
    UnitResult result;
    result.unit = unit;
    result.key = plan->key(unit);
    result.answer = sha256("a");
    result.lease = LeaseNumbers({}, "run-1").number(instances.at(peer), unit);
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
  std::map<Peer, WorkerId> instances;
  Router router{system()};
  Recorder recorder{system()};
  Probe<ShowProgress> progress{system()};
  Probe<RunEnded> listener{system()};
  Probe<FinishObserving> observer{system()};
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

TEST_F(CoordinatorActorTest, ShowsHowManyAnswersCommandsCheck) {
  join("p", 1);
  caf::anon_send(coordinator, ChecksUnderWay{2});
  pass(100ms);
  ASSERT_FALSE(progress.got<ShowProgress>().empty());
  EXPECT_EQ(progress.got<ShowProgress>().back().state.in_check, 2u);
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
  RecordingFailed failed{{Reason::ledger_failed, "no space"}, {}};
  for (const RecordResults& results : recorder.got<RecordResults>()) {
    for (const RecordResult& one : results.results) failed.dropped.add(one);
  }
  ASSERT_EQ(failed.dropped.items.size(), 2u);
  caf::anon_send(coordinator, failed);
  settle();
  EXPECT_EQ(sent_to<wire::Drain>(router, "p").size(), 1u);
  EXPECT_FALSE(sent_to<wire::Ack>(router, "p").empty()) << "the worker waits for nothing more";
  EXPECT_EQ(ended(), 0u);
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

// A pause of 4 s, between two lines that came every 5 s, was no pause: "about 0:45 left", a second before the
// end.
TEST_F(CoordinatorActorTest, AStopBetweenTwoLinesOfProgressCountsForNothingInTheRate) {
  Probe<ShowProgress> lines(system());
  auto rare = config();
  rare.progress = lines.handle();
  rare.progress_interval = 20s;
  coordinator = start(std::move(rare), router, recorder);
  const auto beat = [&] {
    caf::anon_send(coordinator, SocketDrained{});
    pass(1000ms);
  };
  join("p", 1);
  beat();
  report("p", 0);
  commit();
  beat();
  send("p", wire::Goodbye{"SIGTERM"});
  for (int second = 2; second < 14; ++second) beat();
  join("q", 2);
  for (int second = 14; second < 20; ++second) beat();
  pass(1ms);
  ASSERT_EQ(lines.got<ShowProgress>().size(), 1u);
  const auto& state = lines.got<ShowProgress>()[0].state;
  ASSERT_TRUE(state.per_second);
  EXPECT_NEAR(*state.per_second, 1.0 / 8, 0.03) << "12 of the 20 s were none";
}

// It said "0:05 elapsed" above "Run: 1.6 s".
TEST_F(CoordinatorActorTest, TheLastLineOfProgressIsWhatTheReportSays) {
  join("p", 1);
  pass(1600ms);
  report("p", 0);
  commit();
  pass(4000ms);
  stop();
  send("p", wire::Goodbye{"drained"});
  ASSERT_EQ(ended(), 1u);
  EXPECT_DOUBLE_EQ(listener.got<RunEnded>()[0].facts.duration_seconds, 1.6);
  const auto& last = progress.got<ShowProgress>().back().state;
  EXPECT_EQ(last.elapsed, 2s);
  EXPECT_TRUE(last.is_over);
  EXPECT_EQ(last.done, 1u);
  EXPECT_EQ(last.errors, 0u) << "nobody began with the other one";
}

// It ended up to a heartbeat after its deadline.
TEST_F(CoordinatorActorTest, ADeadlineCountsTheRunBeforeThisOne) {
  Router its_router{system()};
  Recorder its_recorder{system()};
  Probe<RunEnded> its_listener{system()};
  auto limited = config();
  limited.listener = its_listener.handle();
  limited.controller.deadline = 2500ms;
  limited.controller.elapsed_before = 2000ms;
  start(std::move(limited), its_router, its_recorder);
  pass(499ms);
  EXPECT_TRUE(its_listener.got<RunEnded>().empty());
  pass(1ms);
  ASSERT_EQ(its_listener.got<RunEnded>().size(), 1u);
  EXPECT_EQ(its_listener.got<RunEnded>()[0].facts.cut_short->reason, Reason::deadline_reached);
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
  report("p", 1);
  EXPECT_FALSE(sent_to<wire::Ack>(router, "p").empty()) << "nobody records it, and nobody waits for that";
  send("p", wire::Goodbye{"drained"});
  expect_internal_error("recorder");
}

TEST_F(CoordinatorActorTest, ADeadProgressDisplayEndsTheRun) {
  kill(progress.handle());
  expect_internal_error("progress");
}

// Nobody monitored it: its observations were lost without a word.
TEST_F(CoordinatorActorTest, ADeadObserverIsWarnedOfAndTheRunGoesOn) {
  std::ostringstream log;
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("log", std::make_shared<spdlog::sinks::ostream_sink_mt>(log)));
  join("p", 1);
  kill(observer.handle());
  spdlog::set_default_logger(before);
  EXPECT_NE(log.str().find("the observer has ended unexpectedly"), std::string::npos) << log.str();
  report("p", 0);
  report("p", 1);
  commit();
  send("p", wire::Goodbye{"drained"});
  ASSERT_EQ(ended(), 1u);
  EXPECT_FALSE(listener.got<RunEnded>()[0].facts.cut_short);
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
  EXPECT_EQ(running(), 3u) << "the listener, the progress display and the observer, which are not its own";
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
