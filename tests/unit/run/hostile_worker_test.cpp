// A worker that lies: what a coordinator takes from it, and what it does not (docs/security.md).
#include "coordinator/run/defaults.hpp"
#include "tests/unit/run/run_fixture.hpp"

namespace sluice::hostile_worker_test {

class HostileWorker : public RunControllerTest {
 protected:
  HostileWorker() { begin(); }
};

// Results without any lease were committed, 300 of 300.
TEST_F(HostileWorker, AResultWithoutItsLeaseIsNotTaken) {
  join("honest", 1, 10);
  hello("liar", 2);
  ready("liar", 0);
  for (const std::uint64_t guess : {std::uint64_t{1}, ~std::uint64_t{0}, lease("honest", 0)}) {
    UnitResult forged = answered(0, "forged");
    forged.lease = guess;
    const auto effects = report("liar", {forged});
    EXPECT_TRUE(effects.to_record.empty());
    ASSERT_EQ(acked(effects, "liar").size(), 1u);
    EXPECT_EQ(acked(effects, "liar")[0].code, wire::AckCode::gone);
  }
  EXPECT_EQ(report("honest", {answered(0)}).to_record.size(), 1u) << "the holder's is taken";
}

TEST_F(HostileWorker, WhoOnceHeldAUnitMayStillHandItIn) {
  join("one", 1, 10);
  const auto effects = tick(4s);  // Silent: its leases are lost.
  join("two", 2, 10);
  EXPECT_EQ(hello("one", 1).to_workers.size(), 1u);
  ready("one", 0);
  const auto late = report("one", {answered(0)});
  ASSERT_EQ(late.to_record.size(), 1u) << "what was paid for is not lost";
  EXPECT_EQ(late.to_record[0].item.result.lease, 0u) << "the ledger has no numbers of leases";
}

// A READY that claimed every unit, and then nothing, stopped the run.
TEST_F(HostileWorker, AReadyCannotClaimWhatWasNotLeased) {
  hello("liar", 2);
  std::vector<wire::HeldUnit> claimed;
  for (UnitId unit = 0; unit < plan.unit_count(); ++unit) claimed.push_back({unit, 12345});
  send("liar", wire::Ready{run_id, {}, 0, claimed});
  EXPECT_EQ(leased(join("honest", 1, 10), "honest").size(), plan.unit_count());
}

TEST_F(HostileWorker, AConnectionIsOneWorkers) {
  std::vector<WorkerId> all;
  for (std::uint64_t instance = 1; instance <= 1000; ++instance) {
    hello("p", instance);
    all.push_back(instance);
  }
  EXPECT_EQ(controller->peers(all).size(), 1u);
  EXPECT_TRUE(controller->facts().workers.size() <= 1);
}

TEST_F(HostileWorker, OneMoreThanARunKnowsIsNotTaken) {
  FromWorkers hellos;
  for (std::uint64_t instance = 1; instance <= defaults::max_workers; ++instance)
    hellos.items.push_back({"p" + std::to_string(instance), wire::Hello{instance, "one", "", "0", 5}});
  send(std::move(hellos));
  const auto effects = hello("one more", defaults::max_workers + 1);
  EXPECT_TRUE(effects.changed_peers.empty());
  ASSERT_EQ(effects.to_workers.size(), 1u);
  const auto* reject = std::get_if<wire::Reject>(&effects.to_workers[0].message);
  ASSERT_TRUE(reject);
  EXPECT_EQ(reject->code, wire::RejectCode::not_taken);
  send("p7", wire::Goodbye{"it had no work"});
  EXPECT_FALSE(hello("one more", defaults::max_workers + 1).changed_peers.empty());
}

// What it had said of providers stood for the rest of the run.
TEST_F(HostileWorker, OneWhoseKeyWasRemovedHasLeftAndIsNotTrusted) {
  join("honest", 1, 1);
  join("liar", 2, 10);
  FromWorkers removed;
  removed.removed = {"liar", "nobody"};
  removed.items.push_back({"liar", wire::Report{run_id, 10, {}, {answered(0)}}});
  const auto effects = send(std::move(removed));
  EXPECT_EQ(effects.gone, (std::vector<GoneWorker>{{2, true, false, true}})) << "nobody told it to end calls";
  EXPECT_TRUE(effects.to_record.empty());
  ASSERT_EQ(effects.notes.size(), 1u);
  EXPECT_NE(effects.notes[0].text.find("left: its key is no longer admitted"), std::string::npos);
}

// Others got its places at once, while its calls went on.
TEST_F(HostileWorker, OneThatDoesNotReadHasLeftAndMayHaveCallsUnderWay) {
  join("honest", 1, 1);
  join("deaf", 2, 10);
  FromWorkers messages;
  messages.deaf = {"deaf", "deaf", "nobody"};
  const auto effects = send(std::move(messages));
  EXPECT_EQ(effects.gone, (std::vector<GoneWorker>{{2, true}}));
  ASSERT_EQ(effects.notes.size(), 1u);
  EXPECT_NE(effects.notes[0].text.find("left: it does not read what it is sent"), std::string::npos);
}

// Anybody who was connected could fill the ledger, and spend the run's budget.
TEST_F(HostileWorker, WhatCallsTookCountsOnlyOfWhoWasLeasedSomething) {
  join("honest", 1, 10);
  hello("liar", 2);
  ready("liar", 0);
  UnitSpend spent{0, {}};
  spent.spend.add_answer(CallKind::answer, {1'000'000, 0});
  EXPECT_TRUE(send("liar", wire::Report{run_id, 0, {}, {}, {}, {spent}}).spent.empty());
  EXPECT_EQ(controller->facts().paid.total(), 0u);
  EXPECT_EQ(send("honest", wire::Report{run_id, 10, {}, {}, {}, {spent}}).spent.size(), 1u);
}

TEST_F(HostileWorker, WhatItSaysBesideItsResultsIsBoundedByItsLeases) {
  const auto units = leased(join("liar", 2, 10), "liar").size();
  const std::size_t most = units * defaults::notes_per_lease;
  std::size_t noted = 0;
  for (std::size_t said = 0; said < 2 * most; said += 1000) {
    noted += send("liar", wire::Report{run_id, 0, {}, {}, {}, std::vector<UnitSpend>(1000)}).spent.size();
  }
  EXPECT_EQ(noted, most);
  const EntryKey key{EntryKind::vote, sha256("vote")};
  send("liar", wire::Seek{run_id, {key}});
  EXPECT_TRUE(send("liar", wire::Stored{run_id, {key}, {}}).to_note.empty());
}

TEST_F(HostileWorker, AResultThatItRepeatsIsNotedOnce) {
  join("honest", 1, 10);
  report("honest", {});
  UnitResult won = answered(0);
  record(report("honest", {won}));
  hello("liar", 2);
  ready("liar", 10, {0});
  const std::size_t most = plan.unit_count() * defaults::notes_per_lease;
  std::size_t noted = 0;
  for (std::size_t said = 0; said < most + 100; ++said) {
    noted += record(report("liar", {answered(0, "other")})).spent.size();
  }
  EXPECT_EQ(noted, 1u);
}

TEST_F(HostileWorker, AFatalErrorThatItRepeatsIsNotedOnce) {
  join("honest", 1, 10);
  hello("liar", 2);
  ready("liar", 0, {0});
  const std::size_t most = plan.unit_count() * defaults::notes_per_lease;
  std::size_t noted = 0;
  for (std::size_t said = 0; said < most + 100; ++said) {
    noted += report("liar", {failed(0, Reason::cache_failed)}).spent.size();
  }
  EXPECT_EQ(noted, 1u);
}

// Whoever names a unit often has no more of it.
TEST_F(HostileWorker, AReadyNamesEachUnitOnce) {
  hello("liar", 2);
  ready("liar", 0, std::vector<UnitId>(1000, 0));
  std::size_t noted = 0;
  for (int said = 0; said < 10; ++said) {
    noted += send("liar", wire::Report{run_id, 0, {}, {}, {}, std::vector<UnitSpend>(1000)}).spent.size();
  }
  EXPECT_EQ(noted, defaults::notes_per_lease);
}

// A result that was said again and again while the first was on its way into the ledger waited with it.
TEST_F(HostileWorker, AResultIsRecordedOnceHoweverOftenItIsSaid) {
  join("liar", 2, 10);
  const auto first = report("liar", std::vector<UnitResult>(1000, answered(0)));
  EXPECT_EQ(first.to_record.size(), 1u);
  const auto again = report("liar", {answered(0, "other")});
  EXPECT_TRUE(again.to_record.empty() && acked(again, "liar").empty()) << "its ACK comes with the commit";
  EXPECT_EQ(acked(record(first), "liar").size(), 1u);
  EXPECT_EQ(report("liar", {answered(0)}).to_record.size(), 1u) << "that ACK may have been lost";
}

// Megabytes of ACK for whoever had said no HELLO.
TEST_F(HostileWorker, AStrangersReportIsAnsweredByOneReject) {
  for (const char* run : {"run-0", run_id}) {
    const auto effects = send("stranger", wire::Report{run, 0, {}, std::vector<UnitResult>(1000)});
    expect_rejected(effects, "stranger");
    EXPECT_EQ(effects.to_workers.size(), 1u);
  }
}

TEST_F(HostileWorker, AHeartbeatHasOneDemandForEachProvider) {
  config.settings.providers.emplace_back().name = "openai";
  begin();
  join("liar", 2, 10);
  wire::Heartbeat heartbeat{run_id, 1, 10, {}};
  for (std::uint32_t i = 0; i < 1000; ++i) {
    auto& demand = heartbeat.demands.emplace_back();
    demand.provider = i % 2 == 0 ? "nobody" : "openai";
    demand.ready_calls = i;
  }
  const auto demands = send("liar", heartbeat).demands.at(0).second.demands;
  ASSERT_EQ(demands.size(), 1u);
  EXPECT_EQ(demands[0].provider, "openai");
  EXPECT_EQ(demands[0].ready_calls, 1u) << "the first";
}

// READY gives back what it does not name: a unit that was leased before it was lost to the worker's peers.
TEST_F(HostileWorker, NothingIsLeasedBetweenHelloAndReady) {
  join("one", 1, 1);
  EXPECT_EQ(hello("one", 1).to_workers.size(), 1u);
  EXPECT_TRUE(leased(send("one", wire::Heartbeat{run_id, 0, 10, {}}), "one").empty());
  EXPECT_TRUE(leased(send("one", wire::Report{run_id, 10, {}, {}}), "one").empty());
  EXPECT_FALSE(leased(ready("one", 10), "one").empty());
}

TEST_F(HostileWorker, WhoHasAProblemGetsNoWorkAlsoIfItHadSomeBefore) {
  join("honest", 1, 1);
  EXPECT_EQ(leased(join("liar", 2, 2), "liar").size(), 2u);
  hello("liar", 2);
  send("liar", wire::Ready{run_id, {{Reason::key_missing, "no key"}}, 10, {}});
  EXPECT_TRUE(leased(send("liar", wire::Heartbeat{run_id, 0, 10, {}}), "liar").empty());
  EXPECT_EQ(leased(report("honest", {}), "honest").size(), 2u) << "the others get what it had";
}

TEST_F(HostileWorker, AnEntryIsNotStoredByWhoDidNotSeekIt) {
  config.settings.heartbeat_interval = 1000ms;
  begin();
  join("liar", 2, 10);
  const EntryKey key{EntryKind::vote, sha256("vote")};
  EXPECT_TRUE(send("liar", wire::Stored{run_id, {key}, {}}).to_note.empty());
  send("liar", wire::Seek{run_id, {key}});
  EXPECT_EQ(send("liar", wire::Stored{run_id, {key}, {}}).to_note.size(), 1u) << "nobody else could have it";
}

TEST_F(HostileWorker, TheNumberOfALeaseIsItsWorkersAlone) {
  LeaseNumbers numbers(sha256("secret"), "run");
  LeaseNumbers other_secret(sha256("other"), "run");
  LeaseNumbers other_run(sha256("secret"), "run 2");
  const auto number = numbers.number(7, 3);
  EXPECT_TRUE(numbers.is_held(7, 3, number));
  EXPECT_FALSE(numbers.is_held(8, 3, number));
  EXPECT_FALSE(numbers.is_held(7, 4, number));
  EXPECT_NE(other_secret.number(7, 3), number);
  EXPECT_NE(other_run.number(7, 3), number);
  EXPECT_EQ(LeaseNumbers(sha256("secret"), "run").number(7, 3), number)
      << "of a coordinator that was started anew";
}

}  // namespace sluice::hostile_worker_test
