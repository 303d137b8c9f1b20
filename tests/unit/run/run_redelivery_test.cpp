#include "tests/unit/run/run_fixture.hpp"

namespace sluice {
namespace {

// Who works on a unit when its worker leaves, is lost or comes back, or its result is on its way.

TEST_F(RunControllerTest, WhatIsBeingRecordedIsNotLeasedAnewWhenItsWorkerLeaves) {
  begin();
  join("p", 1);
  join("q", 2);
  FromWorkers last_words;
  last_words.items.push_back({"p", wire::Report{run_id, 0, {0, 1, 2}, {answered(0), answered(2)}}});
  last_words.items.push_back({"p", wire::Goodbye{"SIGTERM"}});
  const auto effects = send(std::move(last_words));
  EXPECT_EQ(leased(effects, "q"), std::vector<UnitId>{1}) << "the only one without an answer";
  record(effects);
  EXPECT_EQ(controller->counts().passed, 3u);
  EXPECT_FALSE(controller->over());
  record(report("q", {answered(1)}));
  EXPECT_TRUE(controller->over());
  EXPECT_FALSE(controller->stopped());
}

TEST_F(RunControllerTest, WhatIsBeingRecordedIsNotLeasedAnewWhenItsWorkerIsLost) {
  begin();
  join("p", 1);
  const auto reported = report("p", {answered(0)}, {0});
  join("q", 2);
  tick(1000ms);
  tick(2000ms);
  send("q", wire::Heartbeat{run_id, 0, 10, {}});
  tick(3000ms);
  const auto lost = tick(3500ms);
  EXPECT_EQ(leased(lost, "q"), (std::vector<UnitId>{1, 2}));
  record(reported);
  EXPECT_EQ(controller->counts().passed, 1u);
}

TEST_F(RunControllerTest, WhatAWorkerReturnsGoesToOthersWithoutALoss) {
  begin();
  join("p", 1);
  join("q", 2);
  const auto effects = send("p", wire::Report{run_id, 0, {0}, {}, {0, 2}});
  EXPECT_EQ(leased(effects, "q"), (std::vector<UnitId>{0, 2}));
  EXPECT_TRUE(leased(effects, "p").empty());
  EXPECT_EQ(controller->facts().leases_lost, 0u);
}

TEST_F(RunControllerTest, AUnitThatALateResultSettlesIsWithdrawnFromWhoWaitsToBeginIt) {
  begin();
  join("p", 1);
  tick(1000ms);
  tick(2000ms);
  tick(3000ms);
  join("q", 2);
  tick(3500ms);  // p is lost, and q has its units.
  EXPECT_EQ(controller->worker_count(), 1u);
  hello("p", 1);
  ready("p", 0, {});
  const auto reported = report("p", {answered(0)});
  EXPECT_TRUE(sent<wire::Withdraw>(reported, "q").empty()) << "it is not in the ledger yet";
  const auto recorded = record(reported);
  const auto withdrawn = sent<wire::Withdraw>(recorded, "q");
  ASSERT_EQ(withdrawn.size(), 1u);
  EXPECT_EQ(withdrawn[0], (wire::Withdraw{run_id, {0}}));
  EXPECT_TRUE(sent<wire::Withdraw>(recorded, "p").empty());
  EXPECT_TRUE(leased(send("q", wire::Report{run_id, 10, {}, {}, {0}}), "q").empty());
}

// It called for units that others had answered meanwhile: they were paid twice.
TEST_F(RunControllerTest, AWorkerThatComesBackDropsWhatOthersHaveByNow) {
  begin();
  join("p", 1);
  tick(1000ms);
  tick(2000ms);
  tick(3000ms);
  join("q", 2, 2);
  const auto of_q = leased(tick(3500ms), "q");
  ASSERT_EQ(of_q.size(), 2u) << "p is lost";
  record(send("q", wire::Report{run_id, 1, {}, {answered(of_q[0])}}));
  hello("p", 1);
  const auto withdrawn = sent<wire::Withdraw>(ready("p", 10, {0, 1, 2}), "p");
  ASSERT_EQ(withdrawn.size(), 1u);
  EXPECT_EQ(withdrawn[0].units, of_q) << "one is settled, one q's, and one its own again";
}

TEST_F(RunControllerTest, WhatAWorkerThatComesBackDropsIsFreeForOthers) {
  config.budget.tokens = most_of(*plan.render(0)).total() * 5 / 2;
  begin();
  const auto of_p = leased(join("p", 1, 1), "p");
  tick(1000ms);
  tick(2000ms);
  tick(3000ms);
  const auto of_q = leased(join("q", 2, 1), "q");
  tick(3500ms);
  ASSERT_EQ(of_q.size(), 1u);
  auto done = answered(of_q[0]);
  done.spend.paid.of(CallKind::answer).input_tokens = 1;
  EXPECT_EQ(leased(record(report("q", {done})), "q"), of_p) << "p is lost";
  EXPECT_TRUE(controller->waits_for_budget()) << "p may have paid for its unit";
  hello("p", 1);
  EXPECT_EQ(sent<wire::Withdraw>(ready("p", 0, of_p), "p").size(), 1u);
  const auto returned = send("p", wire::Report{run_id, 0, {}, {}, of_p});
  EXPECT_EQ(leased(returned, "q").size(), 1u) << "the third one";
}

}  // namespace
}  // namespace sluice
