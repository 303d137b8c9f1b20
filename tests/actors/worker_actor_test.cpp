#include "worker/worker_actor.hpp"

#include "common/defaults.hpp"
#include "common/transport/messages.hpp"
#include "tests/actors/actor_fixture.hpp"
#include "tests/support/temporary_folder.hpp"
#include "worker/http/http_messages.hpp"
#include "worker/messages.hpp"

#include <algorithm>
#include <iterator>

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr const char* ontology =
    "version = \"1\"\n[[subject]]\npath = \"a/b\"\ndescription = \"d\"\n"
    "[[subject.predicate]]\nname = \"p\"\ntype = \"text\"\ndescription = \"d\"\n";

/// A worker between a fake dealer, for which the test speaks as the coordinator, and a fake HTTP actor.
class WorkerActorTest : public ActorTest {
 protected:
  WorkerActorTest() {
    settings.run_id = "run-1";
    settings.mode = Mode::live;
    settings.ontology = ontology;
    settings.heartbeat_interval = 1000ms;
    settings.request_timeout = 120s;
    settings.case_timeout = 15min;
    settings.backoff_initial = 500ms;
    ProviderSettings provider;
    provider.name = "openai";
    provider.base_url = "http://127.0.0.1:1/v1";
    settings.providers = {provider};
  }

  void start(bool stay = false) {
    auto cache = AnswerCache::open(folder.path() / "cache");
    ASSERT_TRUE(cache) << cache.error().message;
    store = std::make_shared<AnswerStore>(std::move(*cache), std::vector<AnswerCache>());
    WorkerConfig config;
    config.name = "w";
    config.instance = 42;
    config.max_concurrent = 2;
    config.store = store;
    const auto nothing = [](std::string_view) { return std::optional<std::string>(); };
    SettingSources none;
    none.environment = nothing;
    config.keys = std::make_shared<const KeyRing>(nothing, *merge_settings(none));
    config.stay = stay;
    config.coordinator_timeout = 60s;
    config.boot_clock = [this] { return boot(); };
    config.listener = listener.handle();
    worker = owned(spawn_worker(
        system(), std::move(config), [this](const caf::actor&) { return dealer.handle(); }, http.handle()));
    settle();
  }

  template <class... Messages>
  void hear(Messages... messages) {
    FromCoordinator batch;
    (batch.messages.emplace_back(std::move(messages)), ...);
    caf::anon_send(worker, std::move(batch));
    settle();
  }

  /// What the worker said since the last call, of one kind.
  template <class Message>
  std::vector<Message> said() {
    std::vector<Message> found;
    std::erase_if(dealer.got<ToCoordinatorNow>(), [&](ToCoordinatorNow& outgoing) {
      auto* wanted = std::get_if<Message>(&outgoing.message);
      if (wanted) found.push_back(std::move(*wanted));
      return wanted != nullptr;
    });
    return found;
  }

  static WorkUnit unit(UnitId id) {
    WorkUnit work;
    work.unit = id;
    work.key = sha256("unit " + std::to_string(id));
    work.request.provider = "openai";
    work.request.user = std::to_string(id);
    work.tasks = {{id, {}, {}, 0.0, true, {}}};
    return work;
  }
  void lease(std::vector<UnitId> ids) {
    wire::Work work{"run-1", {}};
    for (const auto id : ids) work.units.push_back(unit(id));
    hear(std::move(work));
  }
  std::vector<HttpCall> calls() {
    std::vector<HttpCall> made;
    for (auto& message : http.take<HttpCalls>()) std::ranges::move(message.calls, std::back_inserter(made));
    return made;
  }
  void answer(const std::vector<HttpCall>& answered, int status = 200, const HttpHeaders& headers = {}) {
    HttpCallsDone ended;
    for (const auto& call : answered) {
      auto& done = ended.done.emplace_back();
      done.id = call.id;
      done.response = {status, headers,
                       R"({"choices":[{"message":{"content":"{\"claims\":[]}"},"finish_reason":"stop"}]})"};
    }
    // The caller of every call is the run's model client, which the fake remembers for the test.
    caf::anon_send(client(), std::move(ended));
    settle();
  }
  void answer(const HttpCall& call, int status = 200, const HttpHeaders& headers = {}) {
    answer(std::vector{call}, status, headers);
  }
  caf::actor client() { return caf::actor_cast<caf::actor>(http.last_sender()); }

  BootTime boot() {
    auto& scheduler = dynamic_cast<caf::scheduler::test_coordinator&>(system().scheduler());
    return std::chrono::duration_cast<BootTime>(scheduler.clock().now().time_since_epoch());
  }
  std::uint64_t boot_us() { return static_cast<std::uint64_t>(boot().count()); }
  wire::Grants grants(wire::Grant grant) { return {"run-1", boot_us(), boot_us(), {std::move(grant)}}; }
  static wire::Grant unlimited() {
    wire::Grant grant;
    grant.provider = "openai";
    grant.unlimited = true;
    return grant;
  }

  void begin() {
    start();
    hear(wire::Welcome{settings});
    hear(grants(unlimited()));
    said<wire::Hello>();
    said<wire::Ready>();
  }
  bool has_ended() { return !listener.got<WorkerEnded>().empty(); }

  support::TemporaryFolder folder;
  RunSettings settings;
  std::shared_ptr<AnswerStore> store;
  Probe<ToCoordinatorNow, ReopenSocket, CloseSocket> dealer{system()};
  Probe<HttpCalls, HttpCancel> http{system()};
  Probe<WorkerEnded> listener{system()};
  caf::actor worker;
};

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
  EXPECT_EQ(ready[0].held, (std::vector<UnitId>{0, 1, 2, 3}));
  const auto reports = said<wire::Report>();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].started, (std::vector<UnitId>{1, 2}))
      << "only what was reported as started counts a loss";
  ASSERT_EQ(reports[0].results.size(), 1u);
  EXPECT_EQ(reports[0].results[0].unit, 0u);
}

TEST_F(WorkerActorTest, ASecondWelcomeOfTheSameRunIsNotAnswered) {
  begin();
  hear(wire::Reject{wire::RejectCode::unknown_worker, ""},
       wire::Reject{wire::RejectCode::unknown_worker, ""});
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
  EXPECT_EQ(http.take<HttpCancel>().size(), 1u);
  const auto ready = said<wire::Ready>();
  ASSERT_EQ(ready.size(), 1u);
  EXPECT_EQ(ready[0].run_id, "run-2");
  EXPECT_TRUE(ready[0].held.empty());
  lease({5});
  EXPECT_TRUE(calls().empty()) << "work of the old run";
}

TEST_F(WorkerActorTest, WhoLosesToAnotherAnswerForgetsItsOwn) {
  const auto stored_after = [this](UnitId id, wire::Verdict verdict, std::optional<Digest> winner) {
    lease({id});
    answer(calls().at(0));
    const auto stored = store->find_answer(unit(id).key);
    EXPECT_TRUE(stored && *stored);
    const auto own = answer_digest(**stored);
    hear(wire::Ack{"run-1", {{id, verdict, unit(id).key, winner.value_or(own)}}});
    return store->find_answer(unit(id).key)->has_value();
  };
  begin();
  EXPECT_TRUE(stored_after(0, wire::Verdict::committed, std::nullopt));
  EXPECT_TRUE(stored_after(1, wire::Verdict::duplicate, std::nullopt)) << "the same answer";
  EXPECT_FALSE(stored_after(2, wire::Verdict::duplicate, sha256("another")));
  EXPECT_TRUE(stored_after(3, wire::Verdict::duplicate, Digest{}))
      << "an error was committed: no other answer is";
  EXPECT_TRUE(stored_after(4, wire::Verdict::gone, Digest{}));
}

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
  EXPECT_EQ(heartbeats[0].heard_us, 0u);
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
  const auto after = said<wire::Heartbeat>();
  ASSERT_EQ(after.size(), 1u);
  EXPECT_EQ(after[0].heard_us, sent);
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

TEST_F(WorkerActorTest, WhoWasStoppedItselfWaitsForTheCoordinatorAnew) {
  begin();
  jump(90s);  // SIGSTOP: one late tick, not ninety.
  EXPECT_FALSE(has_ended()) << "what the coordinator said meanwhile has yet to be read";
  pass(61s);
  EXPECT_TRUE(has_ended());
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

TEST_F(WorkerActorTest, StopSaysGoodbye) {
  begin();
  caf::anon_send(worker, StopWorker{"SIGTERM"});
  settle();
  ASSERT_TRUE(has_ended());
  EXPECT_EQ(said<wire::Goodbye>().at(0).reason, "SIGTERM");
}

}  // namespace
}  // namespace sluice
