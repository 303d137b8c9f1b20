#include "common/settings/settings.hpp"
#include "tests/unit/run/run_fixture.hpp"

namespace sluice {
namespace {

// Whom a run waits for before it leases.

TEST_F(RunControllerTest, NothingIsLeasedBeforeTheExpectedWorkersAreThere) {
  config.expected_workers = 2;
  begin();
  EXPECT_TRUE(leased(join("p", 1, 1), "p").empty());
  const auto effects = join("q", 2, 1);
  EXPECT_EQ(leased(effects, "p").size() + leased(effects, "q").size(), 2u);
}

TEST_F(RunControllerTest, AWorkerWhoseProtocolKnowsNotWhatTheRunNeedsIsTurnedAway) {
  config.settings.judge.gives_context = true;
  begin();
  wire::Hello older{1, "old", "cache-1", "0", 5};
  older.protocol = 8;
  const auto effects = send("p", older);
  const auto rejects = sent<wire::Reject>(effects, "p");
  ASSERT_EQ(rejects.size(), 1u);
  EXPECT_EQ(rejects[0].code, wire::RejectCode::protocol_mismatch);
  EXPECT_TRUE(rejects[0].detail.find("a judge metric has a context of its own") != std::string::npos)
      << rejects[0].detail;
}

TEST_F(RunControllerTest, AWorkerWhoseProtocolKnowsNoCheckOfAllCallsIsTurnedAway) {
  config.later_parts.checks_of_all_calls = true;
  begin();
  wire::Hello older{1, "old", "cache-1", "0", 5};
  older.protocol = 8;
  const auto effects = send("p", older);
  const auto rejects = sent<wire::Reject>(effects, "p");
  ASSERT_EQ(rejects.size(), 1u);
  EXPECT_TRUE(rejects[0].detail.find("a check is about all calls of tools") != std::string::npos)
      << rejects[0].detail;
}

// Machines that were cloned have one name, and nothing was said of their caches.
TEST_F(RunControllerTest, TwoLivingWorkersOfOneNameAndCacheAreWarnedOf) {
  begin();
  for (const auto& [peer, instance] : {std::pair("p", 1), std::pair("q", 2)}) {
    send(peer, wire::Hello{static_cast<std::uint64_t>(instance), "gpu", "cache", "0", 5});
    ready(peer);
  }
  EXPECT_TRUE(send("p", wire::Heartbeat{run_id, 0, 10, {}}).warnings.empty())
      << "it may have been sent before";
  tick(2000ms);
  send("q", wire::Heartbeat{run_id, 0, 10, {}});
  send("p", wire::Heartbeat{run_id, 0, 10, {}});
  tick(3000ms);
  const auto effects = send("p", wire::Heartbeat{run_id, 0, 10, {}});
  ASSERT_EQ(effects.warnings.size(), 1u);
  EXPECT_NE(effects.warnings[0].text.find("gpu is there twice"), std::string::npos)
      << effects.warnings[0].text;
}

TEST_F(RunControllerTest, ExpectedWorkersAreNotWaitedForForEver) {
  config.expected_workers = 3;
  begin();
  EXPECT_TRUE(leased(join("p", 1), "p").empty());
  for (auto time = 1000ms; time <= config.worker_timeout; time += 1000ms) {
    send("p", wire::Heartbeat{run_id, 0, 10, {}});
    EXPECT_TRUE(leased(tick(time), "p").empty());
  }
  send("p", wire::Heartbeat{run_id, 0, 10, {}});
  EXPECT_EQ(leased(tick(config.worker_timeout + 500ms), "p").size(), 3u);
}

// Both sides used to give up after 60 s: a link that was down for 75 s ended the run.
TEST_F(RunControllerTest, ByDefaultAWorkerThatWasCutOffFor75SecondsGoesOn) {
  config.worker_timeout = Settings().worker_timeout.value;
  begin();
  join("p", 1, 3);
  for (auto time = 1000ms; time <= 75s; time += 1000ms) tick(time);
  ASSERT_FALSE(controller->over());
  EXPECT_EQ(controller->worker_count(), 0u) << "it was silent";
  EXPECT_EQ(sent<wire::Welcome>(hello("p2", 1), "p2").size(), 1u);
  EXPECT_TRUE(leased(ready("p2", 3, {0, 1, 2}), "p2").empty()) << "it has all that there is";
  EXPECT_EQ(controller->worker_count(), 1u);
}

TEST_F(RunControllerTest, PinnedUnitsWaitAMomentForTheHolderOfTheirAnswers) {
  config.workers_may_join = true;
  config.holders = {"cache-2"};
  config.affinities[0].holder = 1;
  config.affinities[1].holder = 1;
  begin();
  EXPECT_EQ(leased(join("p", 1), "p"), std::vector<UnitId>{2}) << "the first to join does not get them";
  now = 50ms;
  const auto effects = join("q", 2);
  EXPECT_EQ(leased(effects, "p").size() + leased(effects, "q").size(), 2u);
  for (const auto& work : sent<wire::Work>(effects, "p")) {
    for (const auto& unit : work.units) EXPECT_TRUE(unit.held_elsewhere) << "who is idle has it lent";
  }
}

TEST_F(RunControllerTest, AHolderThatDoesNotComeIsNotWaitedForLong) {
  config.workers_may_join = true;
  config.holders = {"cache-2"};
  for (auto& affinity : config.affinities) affinity.holder = 1;
  begin();
  join("p", 1);
  EXPECT_TRUE(leased(tick(1000ms), "p").empty());
  EXPECT_TRUE(leased(tick(2000ms), "p").empty());
  EXPECT_EQ(leased(tick(3000ms), "p").size(), 3u);
}

TEST_F(RunControllerTest, AHolderThatCanOnlyLendIsThere) {
  config.workers_may_join = true;
  config.holders = {"cache-2"};
  for (auto& affinity : config.affinities) affinity.holder = 1;
  begin();
  join("p", 1);
  hello("q", 2);
  const auto effects = send("q", wire::Ready{run_id, {{Reason::key_missing, "no key"}}, 10, {}});
  EXPECT_EQ(leased(effects, "p").size(), 3u);
}

TEST_F(RunControllerTest, ARunThatReadsNoCacheWaitsForNobody) {
  config.workers_may_join = true;
  config.settings.read_cache = false;
  config.holders = {"cache-2"};
  for (auto& affinity : config.affinities) affinity.holder = 1;
  begin();
  EXPECT_EQ(leased(join("p", 1), "p").size(), 3u);
}

TEST_F(RunControllerTest, ARunOfOneProcessWaitsForNobody) {
  config.holders = {"cache-2"};
  for (auto& affinity : config.affinities) affinity.holder = 1;
  begin();
  EXPECT_EQ(leased(join("p", 1), "p").size(), 3u);
}

}  // namespace
}  // namespace sluice
