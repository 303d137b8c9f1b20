#include "coordinator/run/worker_roster.hpp"

#include "coordinator/run/defaults.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint roster_start{1h};

wire::Hello hello_of(std::uint64_t instance, const std::string& name) {
  return {instance, name, "cache-" + name, "0", 5, true};
}

wire::Hello with_cache(std::uint64_t instance, const std::string& name, bool is_own = false) {
  auto hello = hello_of(instance, name);
  hello.cache_id = "one";
  hello.from_this_process = is_own;
  return hello;
}

// Both counted as one cache without a word, and each paid for what the other had.
TEST(WorkerRoster, ACopyOfAnothersCacheIsTold) {
  WorkerRoster roster(10);
  EXPECT_FALSE(roster.take_copied_cache(with_cache(1, "ann"), roster_start));
  roster.admit("p", with_cache(1, "ann"), roster_start);
  EXPECT_FALSE(roster.take_copied_cache(with_cache(1, "ann"), roster_start)) << "it connects anew";
  EXPECT_FALSE(roster.take_copied_cache(with_cache(2, "ann"), roster_start)) << "it was started anew";
  const auto copied = roster.take_copied_cache(with_cache(3, "bob"), roster_start);
  ASSERT_TRUE(copied);
  EXPECT_NE(copied->text.find("worker bob has the same cache id as worker ann"), std::string::npos);
  EXPECT_FALSE(roster.take_copied_cache(with_cache(4, "cid"), roster_start)) << "once";
  roster.remove(1);
  EXPECT_FALSE(roster.take_copied_cache(with_cache(3, "bob"), roster_start)) << "that one has left";
  roster.admit("q", with_cache(5, "own.1", true), roster_start);
  EXPECT_FALSE(roster.take_copied_cache(with_cache(6, "own.2", true), roster_start))
      << "of one process, and one folder";
}

// Machines that are copies of one have one name, and one that was started anew has it, too.
TEST(WorkerRoster, ACopyOfTheSameNameIsToldOnceBothAreKnownToLive) {
  WorkerRoster roster(10);
  const auto come = [&](std::uint64_t instance) {
    EXPECT_FALSE(roster.take_copied_cache(with_cache(instance, "ann"), roster_start));
    roster.admit("p" + std::to_string(instance), with_cache(instance, "ann"), roster_start);
  };
  come(1);
  EXPECT_FALSE(roster.on_message(1, roster_start + 1h)) << "it is alone";
  come(2);
  EXPECT_FALSE(roster.on_message(1, roster_start + defaults::namesake_wait - 1ms)) << "sent before its end";
  EXPECT_FALSE(roster.on_message(2, roster_start + 1h)) << "it may have taken the other's place";
  const auto both = roster.on_message(1, roster_start + defaults::namesake_wait);
  ASSERT_TRUE(both);
  EXPECT_NE(both->text.find("worker ann is there twice with the same cache id"), std::string::npos)
      << both->text;
  EXPECT_FALSE(roster.on_message(1, roster_start + 1h)) << "once";
  come(3);
  EXPECT_FALSE(roster.on_message(1, roster_start + 1h)) << "once";
}

TEST(WorkerRoster, AWorkerThatWasStartedAnewIsNoCopy) {
  WorkerRoster roster(10);
  roster.admit("p", with_cache(1, "ann"), roster_start);
  EXPECT_FALSE(roster.take_copied_cache(with_cache(2, "ann"), roster_start));
  roster.admit("q", with_cache(2, "ann"), roster_start);
  roster.remove(1);
  EXPECT_FALSE(roster.on_message(1, roster_start + 1h));
  EXPECT_FALSE(roster.on_message(2, roster_start + 1h));
}

TEST(WorkerRoster, AdmitsAWorkerAtItsPeer) {
  WorkerRoster roster(10);
  EXPECT_FALSE(roster.admit("p", hello_of(1, "ann"), roster_start));
  EXPECT_EQ(roster.at("p"), WorkerId{1});
  EXPECT_FALSE(roster.at("q"));
  EXPECT_TRUE(roster.peers({2}).empty()) << "who left again meanwhile is nobody's peer";
  EXPECT_EQ(roster.peers({1, 1}).size(), 1u);
  EXPECT_EQ(roster.connected(1).last_message_at, roster_start);
  EXPECT_EQ(roster.peers({1}), (std::vector<GovernedPeer>{{"p", 1, 5, true}}));
  EXPECT_EQ(roster.ready_count(), 0u);
  roster.set_ready(1);
  roster.set_ready(1);
  EXPECT_EQ(roster.ready_count(), 1u);
  roster.admit("q", hello_of(2, "bob"), roster_start);
  roster.set_ready(2);
  EXPECT_EQ(roster.ready_count(), 2u);
  roster.admit("p", hello_of(1, "ann"), roster_start);
  EXPECT_EQ(roster.ready_count(), 1u) << "it begins anew";
  roster.remove(1);
  roster.remove(2);
  EXPECT_EQ(roster.ready_count(), 0u);
}

TEST(WorkerRoster, TellsWhoseCallsOutliveThisProcess) {
  WorkerRoster roster(10);
  auto hello = hello_of(1, "ann");
  hello.from_this_process = true;
  roster.admit("p", hello, roster_start);
  roster.admit("q", hello_of(2, "bob"), roster_start);
  EXPECT_EQ(roster.peers({1, 2}),
            (std::vector<GovernedPeer>{{"p", 1, 5, true, false}, {"q", 2, 5, true, true}}));
}

TEST(WorkerRoster, AWorkerThatBeginsAnewHasOnePeer) {
  WorkerRoster roster(10);
  roster.admit("p", hello_of(1, "ann"), roster_start);
  EXPECT_TRUE(roster.admit("p", hello_of(1, "ann"), roster_start)) << "at the same peer";
  EXPECT_EQ(roster.at("p"), WorkerId{1});
  EXPECT_TRUE(roster.admit("q", hello_of(1, "ann"), roster_start + 1s));
  EXPECT_FALSE(roster.at("p"));
  EXPECT_EQ(roster.at("q"), WorkerId{1});
  EXPECT_EQ(roster.connected().size(), 1u);
}

TEST(WorkerRoster, OneWithAProblemGetsNothingOfTheBudgetUntilItBeginsAnew) {
  WorkerRoster roster(10);
  roster.admit("p", hello_of(1, "ann"), roster_start);
  EXPECT_FALSE(roster.problem());
  roster.set_problem(1, {Reason::cache_failed, "disk full"});
  ASSERT_TRUE(roster.problem());
  EXPECT_EQ(roster.problem()->reason, Reason::cache_failed);
  EXPECT_EQ(roster.problem()->message, "worker ann: disk full");
  EXPECT_EQ(roster.peers({1}), (std::vector<GovernedPeer>{{"p", 1, 0, true}}));
  roster.admit("p", hello_of(1, "ann"), roster_start);
  EXPECT_FALSE(roster.problem());
}

TEST(WorkerRoster, WhoHasLeftIsRememberedByNameAndCache) {
  WorkerRoster roster(10);
  roster.admit("p", hello_of(1, "bob"), roster_start);
  roster.admit("q", hello_of(2, "ann"), roster_start);
  roster.set_ready(2);
  roster.admit("r", hello_of(3, "cid"), roster_start);  // Says no more.
  roster.mark_leased(1);
  roster.remove(1);
  roster.remove(1);
  EXPECT_FALSE(roster.is_connected(1));
  EXPECT_FALSE(roster.at("p"));
  EXPECT_EQ(roster.name_of(1), "bob");
  EXPECT_EQ(roster.cache_of(1), "cache-bob");
  roster.count_unit(1);
  roster.mark_lost(1);
  const auto facts = roster.facts();
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts[0].name, "ann");
  EXPECT_EQ(facts[1].name, "bob");
  EXPECT_EQ(facts[1].units, 1u);
  EXPECT_TRUE(facts[1].lost);
  roster.admit("p", hello_of(1, "bob"), roster_start);
  EXPECT_FALSE(roster.facts()[1].lost) << "it is back";
  EXPECT_EQ(roster.facts()[1].units, 1u);
}

TEST(WorkerRoster, TheLastFarewellIsRemembered) {
  WorkerRoster roster(10);
  roster.admit("p", hello_of(1, "bob"), roster_start);
  roster.admit("q", hello_of(2, "ann"), roster_start);
  EXPECT_EQ(roster.last_farewell(), "");
  const auto note = roster.take_farewell(1, "drained");
  EXPECT_EQ(note.text, "worker bob left: drained");
  EXPECT_EQ(note.about.worker, "bob");
  roster.remove(1);
  static_cast<void>(roster.take_farewell(2, "its disk is full"));
  roster.remove(2);
  EXPECT_EQ(roster.last_farewell(), "ann left last: its disk is full");
}

TEST(WorkerRoster, CachesAreMissingUntilTheirWorkersAreReady) {
  WorkerRoster roster(10);
  roster.admit("p", hello_of(1, "bob"), roster_start);
  EXPECT_EQ(roster.missing_caches({"cache-bob", "cache-ann"}), 2u);
  roster.set_ready(1);
  EXPECT_EQ(roster.missing_caches({"cache-bob", "cache-ann"}), 1u);
  EXPECT_EQ(roster.missing_caches({}), 0u);
}

TEST(WorkerRoster, WhoSaidNothingForLongIsSilent) {
  WorkerRoster roster(10);
  roster.admit("p", hello_of(1, "bob"), roster_start);
  roster.admit("q", hello_of(2, "ann"), roster_start + 1s);
  EXPECT_TRUE(roster.silent_since(roster_start).empty());
  EXPECT_EQ(roster.silent_since(roster_start + 1s), std::vector<WorkerId>{1});
  static_cast<void>(roster.on_message(1, roster_start + 3s));
  EXPECT_EQ(roster.silent_since(roster_start + 2s), std::vector<WorkerId>{2});
}

// 10,000 HELLOs put as many workers into the report.
TEST(WorkerRoster, WhoWasNeverLeasedAnythingIsForgotten) {
  WorkerRoster roster(10);
  for (std::uint64_t instance = 1; instance <= 100; ++instance) {
    roster.admit("p", hello_of(instance, "ann"), roster_start);
    roster.remove(instance);
    EXPECT_FALSE(roster.knows(instance));
  }
  EXPECT_TRUE(roster.facts().empty());
}

// Leases that came and went let a worker say as much again each time.
TEST(WorkerRoster, NotesAreBoundedByTheUnitsOfTheRun) {
  WorkerRoster roster(2);
  roster.admit("p", hello_of(1, "ann"), roster_start);
  EXPECT_FALSE(roster.may_note(1)) << "it was leased nothing";
  std::size_t notes = 0;
  for (int lease = 0; lease < 5; ++lease) {
    roster.mark_leased(1);
    while (roster.may_note(1)) ++notes;
  }
  EXPECT_EQ(notes, 2 * defaults::notes_per_lease);
}

TEST(WorkerRoster, HasRoomForSoMany) {
  WorkerRoster roster(10);
  for (std::uint64_t instance = 1; instance <= defaults::max_workers; ++instance) {
    const auto hello = hello_of(instance, "ann");
    ASSERT_TRUE(roster.has_room_for(hello));
    roster.admit("p" + std::to_string(instance), hello, roster_start);
  }
  EXPECT_FALSE(roster.has_room_for(hello_of(defaults::max_workers + 1, "ann")));
  EXPECT_TRUE(roster.has_room_for(hello_of(7, "ann"))) << "it comes back";
}

TEST(WorkerRoster, WhoIsNotConnectedIsLeftAlone) {
  WorkerRoster roster(10);
  roster.set_ready(7);
  roster.set_problem(7, {Reason::cache_failed, "disk full"});
  roster.on_message(7, roster_start);
  EXPECT_TRUE(roster.connected().empty());
  EXPECT_TRUE(roster.facts().empty());
}

}  // namespace
}  // namespace sluice
