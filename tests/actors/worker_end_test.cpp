// When a worker waits for its coordinator, and when it ends.
#include "common/defaults.hpp"
#include "common/text/stderr_line.hpp"
#include "tests/actors/worker_actor_fixture.hpp"
#include "worker/defaults.hpp"

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

// It ended the worker: of two workers none was left for the other units.
TEST_F(WorkerActorTest, WhoCannotReadWorkSaysSoAndComesBackForOther) {
  begin();
  lease({0});
  hear_unreadable_work();
  ASSERT_FALSE(has_ended());
  const auto goodbyes = said<wire::Goodbye>();
  ASSERT_EQ(goodbyes.size(), 1u) << "its units are free at once";
  EXPECT_NE(goodbyes[0].reason.find("malformed WORK: field 2.0.4.3"), std::string::npos)
      << goodbyes[0].reason;
  EXPECT_EQ(goodbyes[0].error, Reason::message_malformed) << "for its units to be tried alone";
  EXPECT_EQ(said<wire::Hello>().size(), 1u) << "at once: the run may end meanwhile";
  hear_unreadable_work();
  EXPECT_TRUE(said<wire::Goodbye>().empty()) << "that was on its way";
  calls();
  hear(wire::Welcome{settings}, grants(unlimited()));
  const auto ready = said<wire::Ready>();
  ASSERT_EQ(ready.size(), 1u);
  EXPECT_TRUE(ready[0].held.empty());
  EXPECT_GT(ready[0].window, 0u);
  lease({1});
  EXPECT_EQ(calls().size(), 1u);
}

TEST_F(WorkerActorTest, WhoCannotReadAnyWorkEnds) {
  begin();
  for (std::uint32_t times = 1; times < defaults::max_unread_in_a_row; ++times) {
    hear_unreadable_work();
    ASSERT_FALSE(has_ended()) << times;
    hear(wire::Welcome{settings});
  }
  hear_unreadable_work();
  ASSERT_TRUE(has_ended());
  const auto error = listener.got<WorkerEnded>()[0].error;
  ASSERT_TRUE(error);
  EXPECT_EQ(error->reason, Reason::message_malformed);
  const auto goodbyes = said<wire::Goodbye>();
  EXPECT_EQ(goodbyes.size(), defaults::max_unread_in_a_row);
  EXPECT_EQ(goodbyes.back().reason, error->message);
  EXPECT_EQ(goodbyes.back().error, Reason::message_malformed);
}

TEST_F(WorkerActorTest, WhoCannotReadWorkOfTheVersionBeforeEnds) {
  start();
  wire::Welcome welcome{settings};
  welcome.protocol = wire::first_with_errors_of_goodbyes - 1;
  hear(std::move(welcome));
  hear_unreadable_work();
  ASSERT_TRUE(has_ended()) << "its coordinator would lease it the same again";
  ASSERT_TRUE(listener.got<WorkerEnded>()[0].error);
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

// Its log said that it was working on the run, and its exit code that all was well.
TEST_F(WorkerActorTest, OneWhoseKeyIsRefusedTakesNoWorkAndEndsWithThat) {
  std::vector<WorkerStatus> told;
  watch = [&](const WorkerStatus& status) { told.push_back(status); };
  begin();
  lease({0, 1});
  answer(calls(), 401);
  EXPECT_FALSE(told.back().is_working);
  EXPECT_TRUE(told.back().text.starts_with("no work is taken: provider \"openai\" answered 401"))
      << told.back().text;
  pass(5s);
  hear(wire::Welcome{settings});
  const auto ready = said<wire::Ready>();
  ASSERT_FALSE(ready.empty());
  ASSERT_EQ(ready.back().problems.size(), 1u)
      << "a coordinator that it comes back to knows it from the start";
  EXPECT_EQ(ready.back().problems[0].reason, Reason::key_refused);
  hear(wire::Drain{"run-1", "complete"});
  ASSERT_TRUE(has_ended());
  ASSERT_TRUE(listener.got<WorkerEnded>()[0].error);
  EXPECT_EQ(listener.got<WorkerEnded>()[0].error->reason, Reason::key_refused);
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
