// Pins: which answer of a unit the next run repeats, and which cache holds it.
#include "tests/unit/ledger/ledger_fixture.hpp"

#include <random>

#include <SQLiteCpp/SQLiteCpp.h>

namespace sluice::ledger_test {

TEST_F(LedgerTest, PinsFollowTheCommittedAnswer) {
  auto ledger = open_with_run();
  EXPECT_FALSE(pin(ledger, 0));
  commit(ledger, {one(0, "a", "cache-a")});
  ASSERT_TRUE(pin(ledger, 0));
  EXPECT_EQ(pin(ledger, 0)->answer, sha256("a"));
  EXPECT_EQ(pin(ledger, 0)->holder, "cache-a");
  commit(ledger, {one(0, "loser", "cache-b")});
  EXPECT_EQ(pin(ledger, 0)->answer, sha256("a")) << "a duplicate does not move it";
  ASSERT_TRUE(ledger.begin_run({"run-2", "s", "live", "p", "m", "1", 1, 1}));
  commit(ledger, {one(0, "refreshed", "cache-b")}, true, "run-2");
  EXPECT_EQ(pin(ledger, 0)->answer, sha256("refreshed"));
  EXPECT_EQ(pin(ledger, 0)->holder, "cache-b");
}

TEST_F(LedgerTest, PinsFollowAnAnswerFromTheCacheToo) {
  auto ledger = open_with_run();
  auto from_cache = one(0, "a", "cache-a");
  from_cache.result.spend.cache_hit = true;
  commit(ledger, {from_cache});
  ASSERT_TRUE(pin(ledger, 0)) << "what a run shows is what a cached run must show";
  ASSERT_TRUE(ledger.begin_run({"run-2", "s", "live", "p", "m", "1", 1, 1}));
  from_cache.cache_id = "cache-b";
  commit(ledger, {from_cache}, true, "run-2");
  EXPECT_EQ(pin(ledger, 0)->holder, "cache-a") << "an equal answer does not change the holder";
}

TEST_F(LedgerTest, ABaselinesAnswerIsPinnedWithTheResultThatReplacedIt) {
  auto ledger = open_with_run();
  commit(ledger, {one(1, "baseline", "cache-b")});
  ASSERT_TRUE(ledger.begin_run({"run-2", "s", "live", "p", "m", "1", 1, 1}));
  auto graded = one(0, "candidate");
  graded.baseline = {sha256("key 1"), sha256("another baseline")};
  commit(ledger, {graded}, false, "run-2");
  EXPECT_EQ(pin(ledger, 1)->answer, sha256("baseline"));
  ASSERT_TRUE(ledger.begin_run({"run-3", "s", "live", "p", "m", "1", 1, 1}));
  commit(ledger, {graded}, true, "run-3");
  EXPECT_EQ(pin(ledger, 0)->answer, sha256("candidate"));
  EXPECT_EQ(pin(ledger, 1)->answer, sha256("another baseline"));
  EXPECT_EQ(pin(ledger, 1)->holder, "cache-a");
}

TEST_F(LedgerTest, PinsStayOtherwise) {
  auto ledger = open_with_run();
  auto not_stored = one(1, "b", "");
  UnitResult failed;
  failed.unit = 2;
  failed.key = sha256("key 2");
  failed.error = Error{Reason::timed_out, "t"};
  commit(ledger, {not_stored, item(failed, {2})});
  commit(ledger, {one(3, "c")}, false);
  for (UnitId unit = 0; unit < 4; ++unit) EXPECT_FALSE(pin(ledger, unit)) << unit;
}

// Pins are gathered, and put where they are looked up when somebody asks, or when they are many.
TEST_F(LedgerTest, PinsThatAreReadLateAreThoseThatWouldHaveBeenReadAtOnce) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto any = [&random](unsigned below) { return random() % below; };
  auto often = open_with_run();
  auto late = Ledger::open(folder_.path() / "late" / "ledger.db");
  ASSERT_TRUE(late);
  ASSERT_TRUE(late->begin_run({"run-1", "s", "live", "p", "m", "1", 300, 1}));
  for (UnitId unit = 0; unit < 300; ++unit) {
    auto item = one(unit, "answer " + std::to_string(any(3)), "cache-" + std::to_string(any(2)));
    item.result.key = sha256("key " + std::to_string(any(5)));
    item.result.spend.cache_hit = any(2) == 0;
    commit(often, {item});
    pin(often, 0);
    commit(*late, {item});
  }
  for (UnitId unit = 0; unit < 5; ++unit) {
    ASSERT_TRUE(pin(often, unit));
    ASSERT_TRUE(pin(*late, unit));
    EXPECT_EQ(pin(*late, unit)->answer, pin(often, unit)->answer) << unit;
    EXPECT_EQ(pin(*late, unit)->holder, pin(often, unit)->holder) << unit;
  }
}

TEST_F(LedgerTest, ManyPinsAreSettledMeanwhile) {
  constexpr UnitId units = 5000;
  auto ledger = open_with_run();
  std::vector<ResultToCommit> batch;
  for (UnitId unit = 0; unit < units; ++unit) {
    batch.push_back(one(unit, "a" + std::to_string(unit)));
    if (batch.size() < 1000) continue;
    commit(ledger, batch);
    batch.clear();
  }
  const auto moves = [this] {
    SQLite::Database db(file().string(), SQLite::OPEN_READONLY);
    return db.execAndGet("SELECT count(*) FROM pin_moves").getInt();
  };
  EXPECT_EQ(moves(), 0) << "the fifth batch made them too many";
  for (UnitId unit = 0; unit < units; unit += 37) {
    ASSERT_TRUE(pin(ledger, unit)) << unit;
    EXPECT_EQ(pin(ledger, unit)->answer, sha256("a" + std::to_string(unit)));
  }
}

TEST_F(LedgerTest, AnImportedPinIsNewerThanThoseOfRunsBefore) {
  auto ledger = open_with_run();
  commit(ledger, {one(0, "a", "cache-a")});
  ASSERT_TRUE(ledger.move_pins(std::vector<CachePin>{{sha256("key 0"), sha256("imported"), "cache-i"}}));
  EXPECT_EQ(pin(ledger, 0)->answer, sha256("imported"));
}

TEST_F(LedgerTest, TheEndOfARunSettlesItsPins) {
  auto ledger = open_with_run();
  commit(ledger, {one(0, "a")});
  ASSERT_TRUE(ledger.finish_run("run-1", {}));
  SQLite::Database db(file().string(), SQLite::OPEN_READONLY);
  EXPECT_EQ(db.execAndGet("SELECT count(*) FROM pin_moves").getInt(), 0);
  EXPECT_EQ(db.execAndGet("SELECT count(*) FROM pins").getInt(), 1);
}

TEST_F(LedgerTest, PinsAreLookedUpInOrder) {
  auto ledger = open_with_run();
  commit(ledger, {one(1, "b"), one(0, "a")});
  const std::vector<Digest> keys{sha256("key 0"), sha256("key 9"), sha256("key 1")};
  const auto pins = ledger.pins(keys);
  ASSERT_TRUE(pins);
  ASSERT_EQ(pins->size(), 3u);
  EXPECT_EQ((*pins)[0]->answer, sha256("a"));
  EXPECT_FALSE((*pins)[1]);
  EXPECT_EQ((*pins)[2]->answer, sha256("b"));
}

}  // namespace sluice::ledger_test
