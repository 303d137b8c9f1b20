// A run in which workers have entries of each other's caches.
#include "tests/unit/run/run_fixture.hpp"

namespace sluice {
namespace {

class RunEntriesTest : public RunControllerTest {
 protected:
  RunEntriesTest() {
    config.settings.heartbeat_interval = 1000ms;
    // The ledger pins unit 0 to the cache of worker 1, and unit 1 to one that nobody has.
    config.holders = {"cache-1", "cache-9"};
    config.affinities[0].holder = 1;
    config.affinities[1].holder = 2;
    for (UnitId unit = 0; unit < plan.unit_count(); ++unit)
      config.pinned_answers.push_back(unit < 2 ? sha256("pinned " + std::to_string(unit)) : Digest{});
  }

  /// Worker 1 is there to lend, but takes no work; worker 2 gets it all.
  Effects begin_with_lender() {
    begin();
    join("one", 1, 0);
    return join("two", 2);
  }
  static std::map<UnitId, WorkUnit> units(const Effects& effects, const Peer& peer) {
    std::map<UnitId, WorkUnit> found;
    for (const auto& work : sent<wire::Work>(effects, peer)) {
      for (const auto& unit : work.units) found[unit.unit] = unit;
    }
    return found;
  }
  EntryKey answer_key(UnitId unit) const { return {EntryKind::answer, plan.key(unit)}; }
  wire::Seek seek(UnitId unit) const { return {run_id, {answer_key(unit)}}; }
  static std::vector<wire::LentEntry> found(const Effects& effects, const Peer& peer) {
    std::vector<wire::LentEntry> entries;
    for (const auto& message : sent<wire::Found>(effects, peer))
      entries.insert(entries.end(), message.entries.begin(), message.entries.end());
    return entries;
  }
  static std::vector<EntryKey> requested(const Effects& effects, const Peer& peer) {
    std::vector<EntryKey> keys;
    for (const auto& message : sent<wire::Lend>(effects, peer))
      keys.insert(keys.end(), message.keys.begin(), message.keys.end());
    return keys;
  }
};

TEST_F(RunEntriesTest, AUnitSaysWhenAnotherConnectedWorkerHoldsItsAnswer) {
  const auto work = units(begin_with_lender(), "two");
  ASSERT_EQ(work.size(), 3u);
  EXPECT_TRUE(work.at(0).held_elsewhere);
  EXPECT_EQ(work.at(0).pinned_answer, sha256("pinned 0"));
  EXPECT_FALSE(work.at(1).held_elsewhere) << "its holder is not there";
  EXPECT_FALSE(work.at(2).held_elsewhere);
}

TEST_F(RunEntriesTest, TheHolderItselfGetsNothingOfTheKind) {
  begin();
  const auto work = units(join("one", 1), "one");
  ASSERT_EQ(work.size(), 3u);
  EXPECT_FALSE(work.at(0).held_elsewhere);
}

TEST_F(RunEntriesTest, AnAnswerGoesFromItsHolderToWhoSeeksIt) {
  begin_with_lender();
  EXPECT_EQ(requested(send("two", seek(0)), "one"), std::vector{answer_key(0)});
  const auto lent = send("one", wire::Lent{run_id, {{answer_key(0), "bytes"}}});
  EXPECT_EQ(found(lent, "two"), (std::vector<wire::LentEntry>{{answer_key(0), "bytes"}}));
}

TEST_F(RunEntriesTest, AWorkerThatCannotCallLendsAllTheSame) {
  config.workers_may_join = true;
  begin();
  hello("one", 1);
  send("one", wire::Ready{run_id, {{Reason::key_missing, "no key"}}, 10, {}});
  EXPECT_TRUE(units(join("two", 2), "two").at(0).held_elsewhere);
  EXPECT_EQ(requested(send("two", seek(0)), "one"), std::vector{answer_key(0)});
}

TEST_F(RunEntriesTest, AHolderThatLeavesOrFallsSilentIsNotWaitedFor) {
  begin_with_lender();
  send("two", seek(0));
  EXPECT_EQ(found(send("one", wire::Goodbye{"done"}), "two"),
            (std::vector<wire::LentEntry>{{answer_key(0), ""}}));
  now = 0ms;
  begin_with_lender();
  send("two", seek(0));
  EXPECT_TRUE(found(tick(1000ms), "two").empty());
  EXPECT_TRUE(found(tick(2000ms), "two").empty());
  EXPECT_EQ(found(tick(3000ms), "two").size(), 1u);
}

TEST_F(RunEntriesTest, AUnitThatIsSettledIsForgotten) {
  begin_with_lender();
  record(report("two", {answered(0)}));
  EXPECT_EQ(found(send("two", seek(0)), "two"), (std::vector<wire::LentEntry>{{answer_key(0), ""}}));
}

TEST_F(RunEntriesTest, EmbeddingsAndVotesGoThroughTheLedger) {
  begin_with_lender();
  for (const auto kind : {EntryKind::embedding, EntryKind::vote}) {
    const EntryKey key{kind, sha256("text")};
    const auto sought = send("two", wire::Seek{run_id, {key}});
    EXPECT_EQ(sought.to_look_up, std::vector{key});
    Effects effects;
    controller->on_looked_up({{key, "cache-1"}}, at(now), effects);
    EXPECT_EQ(requested(effects, "one"), std::vector{key});
    const auto not_here = send("one", wire::Lent{run_id, {{key, ""}}});
    EXPECT_EQ(found(not_here, "two"), (std::vector<wire::LentEntry>{{key, ""}}));
    EXPECT_EQ(send("two", wire::Stored{run_id, {key}, {}}).to_note,
              (std::vector<EntryHolder>{{key, "cache-2"}}));
  }
}

TEST_F(RunEntriesTest, AMessageOfAnUnknownWorkerOrAnotherRunIsRejected) {
  begin_with_lender();
  expect_rejected(send("three", seek(0)), "three");
  expect_rejected(send("two", wire::Seek{"another run", {answer_key(0)}}), "two");
  expect_rejected(send("three", wire::Lent{run_id, {{answer_key(0), "x"}}}), "three");
  expect_rejected(send("two", wire::Stored{"another run", {{EntryKind::vote, sha256("x")}}, {}}), "two");
}

TEST_F(RunEntriesTest, AMessageAboutEntriesIsASignOfLife) {
  begin_with_lender();
  tick(1000ms);
  tick(2000ms);
  send("two", wire::Stored{run_id, {}, {}});
  tick(3000ms);
  tick(4000ms);
  EXPECT_EQ(controller->worker_count(), 1u) << "the silent one is gone";
  EXPECT_EQ(controller->facts().leases_lost, 0u);
}

// Answers under way waited for embeddings until the drain timeout, and were lost.
TEST_F(RunEntriesTest, ARunThatIsOverGoesOnLending) {
  begin_with_lender();
  const EntryKey key{EntryKind::embedding, sha256("text")};
  send("two", wire::Seek{run_id, {key}});
  Effects effects;
  controller->stop({Reason::interrupted, "stopped"}, at(now), effects);
  controller->on_looked_up({}, at(now), effects);
  const EntryKey other{EntryKind::embedding, sha256("other")};
  EXPECT_EQ(send("two", wire::Seek{run_id, {other}}).to_look_up, std::vector{other});
  Effects looked_up;
  controller->on_looked_up({{key, ""}, {other, "cache-1"}}, at(now), looked_up);
  EXPECT_EQ(found(looked_up, "two"), (std::vector<wire::LentEntry>{{key, ""}})) << "nobody has it: pay";
  EXPECT_EQ(requested(looked_up, "one"), std::vector{other});
  EXPECT_EQ(found(send("one", wire::Lent{run_id, {{other, "bytes"}}}), "two"),
            (std::vector<wire::LentEntry>{{other, "bytes"}}));
  EXPECT_EQ(send("two", wire::Stored{run_id, {key}, {}}).to_note,
            (std::vector<EntryHolder>{{key, "cache-2"}}));
}

TEST_F(RunEntriesTest, NobodyWaitsForALenderThatTheEndSentHome) {
  begin_with_lender();
  send("two", seek(0));
  Effects effects;
  controller->stop({Reason::interrupted, "stopped"}, at(now), effects);
  EXPECT_EQ(found(send("one", wire::Goodbye{"drained"}), "two"),
            (std::vector<wire::LentEntry>{{answer_key(0), ""}}));
  EXPECT_EQ(found(send("two", seek(0)), "two"), (std::vector<wire::LentEntry>{{answer_key(0), ""}}));
}

TEST_F(RunEntriesTest, NothingIsHeldElsewhereInARunThatRenewsItsAnswers) {
  config.settings.read_cache = false;
  EXPECT_FALSE(units(begin_with_lender(), "two").at(0).held_elsewhere);
}

}  // namespace
}  // namespace sluice
