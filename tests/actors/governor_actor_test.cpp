#include "coordinator/actors/governor_actor.hpp"

#include "coordinator/actors/messages.hpp"
#include "tests/actors/router_probe.hpp"
#include "tests/support/temporary_folder.hpp"

#include <filesystem>

namespace sluice {
namespace {

using namespace std::chrono_literals;

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
  caf::actor governor = owned(spawn_governor(system(), config(), router.handle(), coordinator.handle(),
                                             nullptr, [this] { return now; }));
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
  EXPECT_GE(at_once, 20u) << "those that open within the lookahead";
  EXPECT_LE(at_once, 23u);
  go(160ms);
  EXPECT_NEAR(static_cast<double>(permits_for("p")), static_cast<double>(at_once) + 15, 2) << "100 a second";
  go(340ms);
  const auto in_all = permits_for("p");
  go(1000ms);
  EXPECT_EQ(permits_for("p"), in_all) << "those that have expired were not reported";
}

TEST_F(GovernorActorTest, AWorkerThatBeginsAnewIsAnsweredAtItsNewAddress) {
  join({{"p", 1, 5}});
  router.take<ToPeer>();
  join({{"p2", 1, 5}}, {{1, true}});
  EXPECT_EQ(sent_to<wire::Grants>(router, "p2").size(), 1u);
  send("p", {"openai", 1, 0, 0, false, 0, {}, {}, {}, {}, {}});
  EXPECT_TRUE(sent_to<wire::Grants>(router, "p").empty());
}

TEST_F(GovernorActorTest, OtherRunsKnowOfAWorkerOutsideAsSoonAsItMayCall) {
  const support::TemporaryFolder folder;
  ProviderLimits limits;
  limits.max_in_flight = 4;
  const GovernorConfig shared_config{{{"openai", limits}}, {10s, 1s, 600s}};
  const auto open = [&](const char* name) {
    auto budgets = SharedBudgets::open(folder.path() / name, {{"openai", "a key", true}}, 2min);
    EXPECT_TRUE(budgets) << budgets.error().message;
    return std::make_shared<SharedBudgets>(std::move(*budgets));
  };
  // What a run finds that comes when this one has died: a copy has none of its locks.
  const auto left_behind = [&] {
    std::filesystem::remove_all(folder.path() / "copy");
    std::filesystem::copy(folder.path() / "keys", folder.path() / "copy");
    Governor next(shared_config, now);
    EXPECT_TRUE(open("copy")->begin_turn(next, now));
    return next.facts(now).at(0).left_behind;
  };
  const auto sharing = owned(spawn_governor(system(), shared_config, router.handle(), coordinator.handle(),
                                            open("keys"), [this] { return now; }));
  const auto join_with_calls = [&](const GovernedPeer& peer) {
    caf::anon_send(sharing, PeersChanged{"run-1", {peer}, {}});
    wire::Demand demand{"openai", 2, 0, 0, false, 0, {}, {}, {}, {}, {}};
    caf::anon_send(sharing, HeartbeatReceived{peer.peer, {"run-1", 77, 5, {std::move(demand)}, 0}});
    settle();
    EXPECT_GT(sent_to<wire::Grants>(router, peer.peer).back().grants.at(0).places, 0u);
  };
  join_with_calls({"inside", 1, 2, true, false});
  EXPECT_EQ(left_behind(), 0u) << "its calls end with this process";
  join_with_calls({"outside", 2, 2, true, true});
  EXPECT_EQ(left_behind(), 4u);
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

}  // namespace
}  // namespace sluice
