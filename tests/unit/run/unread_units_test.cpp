// Workers that end because they cannot read what they were leased.
#include "tests/unit/run/run_fixture.hpp"

namespace sluice {
namespace {

// It was leased to the next worker each time, until the fleet had none.
TEST_F(RunControllerTest, AUnitThatTwoWorkersCannotReadIsAnErrorOfItsCases) {
  const wire::Goodbye unreadable{"it cannot be read: field 2.0.4", Reason::message_malformed};
  begin();
  ASSERT_EQ(leased(join("p", 1), "p").size(), 3u);
  EXPECT_TRUE(send("p", unreadable).to_record.empty()) << "it may be any of the three";
  const auto alone = leased(join("q", 2), "q");
  ASSERT_EQ(alone.size(), 1u);
  const auto given_up = send("q", unreadable);
  ASSERT_EQ(given_up.to_record.size(), 1u);
  const UnitResult& failed = given_up.to_record[0].item.result;
  EXPECT_EQ(failed.unit, alone[0]);
  EXPECT_EQ(failed.key, plan.key(alone[0]));
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.error->reason, Reason::message_malformed);
  EXPECT_EQ(failed.error->message,
            "2 workers ended because they could not read the message with this case; the last one, "
            "worker-2, said: it cannot be read: field 2.0.4");
  record(given_up);
  auto next = leased(join("r", 3), "r");
  for (std::size_t unit = 0; unit < 2; ++unit) {
    ASSERT_EQ(next.size(), 1u);
    EXPECT_NE(next[0], alone[0]);
    const auto reported = report("r", {answered(next[0])}, next);
    next = leased(reported, "r");
    record(reported);
  }
  EXPECT_TRUE(controller->over());
  EXPECT_FALSE(controller->stopped()) << controller->stopped()->message;
}

TEST_F(RunControllerTest, AWorkerThatLeavesForAnotherReasonMakesNoUnitSuspect) {
  begin();
  for (std::uint64_t worker = 1; worker < 6; ++worker) {
    const std::string peer = "p" + std::to_string(worker);
    EXPECT_EQ(leased(join(peer, worker), peer).size(), 3u) << worker;
    EXPECT_TRUE(send(peer, wire::Goodbye{"its disk is full", Reason::cache_failed}).to_record.empty());
  }
}

}  // namespace
}  // namespace sluice
