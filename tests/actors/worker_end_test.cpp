// When a worker waits, and when it ends.
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
