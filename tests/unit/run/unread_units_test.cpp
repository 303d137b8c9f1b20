// Workers that cannot read what they were leased.
#include "tests/unit/run/run_fixture.hpp"

#include <iterator>

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
            "the message with this case could not be read 2 times; the last worker, worker-2, said: it "
            "cannot be read: field 2.0.4");
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

// Of two workers none was left for the other units.
TEST_F(RunControllerTest, TwoWorkersOutliveAUnitThatNeitherCanRead) {
  constexpr UnitId bad = 1;
  const wire::Goodbye unreadable{"it cannot be read: field 2.0.4", Reason::message_malformed};
  begin();
  std::map<Peer, std::vector<UnitId>> held;
  std::size_t goodbyes = 0;
  const auto take = [&](const Effects& effects) {
    for (const Peer peer : {"p", "q"})
      std::ranges::move(leased(effects, peer), std::back_inserter(held[peer]));
  };
  take(join("p", 1));
  take(join("q", 2));
  for (int turn = 0; turn < 20 && !controller->over(); ++turn) {
    for (const Peer peer : {"p", "q"}) {
      const auto units = std::exchange(held[peer], {});
      if (std::ranges::count(units, bad) > 0) {
        ++goodbyes;
        const auto gone = send(peer, unreadable);
        take(gone);
        take(join(peer, instances[peer]));
        take(record(gone));
      } else if (!units.empty()) {
        const auto reported = report(peer, {answered(units[0])}, {units[0]});
        held[peer].assign(units.begin() + 1, units.end());
        take(reported);
        take(record(reported));
      }
    }
  }
  EXPECT_TRUE(controller->over());
  EXPECT_FALSE(controller->stopped()) << controller->stopped()->message;
  EXPECT_EQ(goodbyes, 2u);
  EXPECT_EQ(committed.size(), plan.unit_count());
  EXPECT_TRUE(is_zero(committed.at(bad)));
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
