// What a worker does when one of its own actors dies.
#include "tests/actors/leaving_worker_fixture.hpp"

namespace sluice {
namespace {

class DefectTest : public LeavingWorkerTest {
 protected:
  void expect_internal_error() {
    ASSERT_TRUE(has_ended());
    const auto& error = listener.got<WorkerEnded>()[0].error;
    ASSERT_TRUE(error);
    EXPECT_EQ(error->reason, Reason::internal_error) << error->message;
  }
};

TEST_F(DefectTest, ADeadModelClientEndsTheWorker) {
  begin_with({0});
  caf::anon_send_exit(client(), caf::exit_reason::kill);
  settle();
  expect_internal_error();
  EXPECT_EQ(said<wire::Goodbye>().size(), 1u) << "its units are free at once";
}

TEST_F(DefectTest, ADeadScorerEndsTheWorker) {
  begin_with({0});
  caf::anon_send_exit(caf::actor_cast<caf::actor>(scorer), caf::exit_reason::kill);
  settle();
  expect_internal_error();
  const auto& message = listener.got<WorkerEnded>()[0].error->message;
  EXPECT_NE(message.find("the worker's scorer"), std::string::npos) << message;
  EXPECT_EQ(said<wire::Goodbye>().size(), 1u) << "its units are free at once";
}

TEST_F(DefectTest, ADeadHttpActorEndsTheWorker) {
  begin_with({0});
  caf::anon_send_exit(http.handle(), caf::exit_reason::kill);
  settle();
  expect_internal_error();
}

TEST_F(DefectTest, ADeadDealerEndsTheWorker) {
  begin_with({0});
  caf::anon_send_exit(dealer.handle(), caf::exit_reason::kill);
  settle();
  expect_internal_error();
}

TEST_F(DefectTest, WhatDiesAfterItsRunEndsNothing) {
  start(true);
  hear(wire::Welcome{settings}, grants(unlimited()));
  lease({0});
  const auto of_the_run = client();
  hear(wire::Drain{"run-1", "complete"});
  caf::anon_send_exit(of_the_run, caf::exit_reason::kill);
  settle();
  EXPECT_FALSE(has_ended());
}

}  // namespace
}  // namespace sluice
