#include "coordinator/ledger/ledger.hpp"
#include "coordinator/ledger/row_id.hpp"
#include "coordinator/ledger/run_lock.hpp"
#include "tests/support/temporary_folder.hpp"

#include <array>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

class PruneTest : public ::testing::Test {
 protected:
  PruneTest() : ledger_(open()) {}

  Ledger open() const {
    auto opened = Ledger::open(folder_.path() / "ledger.db");
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }

  /// A run of 50 trials that began at this time.
  void record(const std::string& run_id, std::int64_t begun_at_ms, bool ended = true,
              const std::string& suite_path = "/suites/a", const std::string& mode = "live") {
    RunRecord run{run_id, "suite", mode, "openai", "m", "1", begun_at_ms, 50};
    run.suite_path = suite_path;
    ASSERT_TRUE(ledger_.begin_run(run));
    std::vector<ResultToCommit> items;
    for (TrialId trial = 0; trial < 50; ++trial) {
      UnitResult result;
      result.unit = trial;
      result.key = sha256(run_id + std::to_string(trial));
      result.answer = sha256("answer");
      result.shown_text = std::string(500, 'x');
      result.scores.resize(1);
      items.push_back({result, {trial}, "w", "cache-a"});
    }
    ASSERT_TRUE(ledger_.commit(run_id, items, true));
    if (ended) {
      ASSERT_TRUE(ledger_.finish_run(run_id, {begun_at_ms + 1, "pass"}));
    }
  }

  std::string runs() const {
    std::string ids;
    const auto listed = ledger_.list_runs(100);
    EXPECT_TRUE(listed);
    for (const PastRun& past : *listed) ids += (ids.empty() ? "" : " ") + past.run.run_id;
    return ids;
  }

  std::size_t results_in(const std::string& run_id) const {
    std::size_t count = 0;
    EXPECT_TRUE(ledger_.results_of(run_id)->visit([&](const CommittedTrial&) { ++count; }));
    return count;
  }

  PrunedRuns prune(const RunPrune& which) {
    const auto done = ledger_.prune(which);
    EXPECT_TRUE(done) << done.error().message;
    return done ? *done : PrunedRuns{};
  }

  support::TemporaryFolder folder_;
  Ledger ledger_;
};

TEST_F(PruneTest, WhatIsOldGoesWithItsResults) {
  record("a", 100);
  record("b", 200);
  record("c", 300);
  const PrunedRuns done = prune({.begun_before_ms = 200, .keep = {}});
  EXPECT_EQ(done.runs, 1u);
  EXPECT_EQ(done.results, 50u);
  EXPECT_EQ(done.left, 2u);
  EXPECT_EQ(runs(), "c b");
  EXPECT_EQ(results_in("a"), 0u);
  EXPECT_EQ(results_in("b"), 50u);
  EXPECT_EQ(results_in("c"), 50u);
}

TEST_F(PruneTest, TheNewestStayWhateverTheirAge) {
  for (const char* run : {"a", "b", "c", "d"}) record(run, 100);
  EXPECT_EQ(prune({.begun_before_ms = 1000, .keep = 3}).runs, 1u);
  EXPECT_EQ(runs(), "d c b");
  EXPECT_EQ(prune({.begun_before_ms = {}, .keep = 1}).runs, 2u);
  EXPECT_EQ(runs(), "d");
}

TEST_F(PruneTest, ADryRunCountsTheSameAndRemovesNothing) {
  for (const char* run : {"a", "b", "c"}) record(run, 100);
  const PrunedRuns counted = prune({.begun_before_ms = {}, .keep = 1, .dry_run = true});
  EXPECT_EQ(counted.runs, 2u);
  EXPECT_EQ(counted.results, 100u);
  EXPECT_EQ(counted.left, 1u);
  EXPECT_EQ(counted.bytes_after, counted.bytes_before);
  EXPECT_EQ(runs(), "c b a");
  const PrunedRuns done = prune({.begun_before_ms = {}, .keep = 1});
  EXPECT_EQ(done.runs, counted.runs);
  EXPECT_EQ(done.results, counted.results);
  EXPECT_EQ(done.left, counted.left);
}

TEST_F(PruneTest, TheFileShrinks) {
  for (int run = 0; run < 20; ++run) record("run-" + std::to_string(run), 100);
  {
    const auto at_work = RunLock::take(folder_.path(), "another");
    ASSERT_TRUE(at_work);
    EXPECT_FALSE(prune({.begun_before_ms = {}, .keep = 19}).compacted)
        << "a run that records waits no longer than one run takes to go";
  }
  const PrunedRuns done = prune({.begun_before_ms = {}, .keep = 1});
  EXPECT_TRUE(done.compacted);
  EXPECT_GT(done.bytes_before, 20u * 50 * 500);
  EXPECT_LT(done.bytes_after, done.bytes_before / 3);
}

TEST_F(PruneTest, PinsStayAsTheyAre) {
  record("a", 100);
  record("b", 200, false);  // Its pins are not settled yet.
  record("c", 300);
  EXPECT_EQ(prune({.begun_before_ms = {}, .keep = 1, .unfinished_before_ms = 1000}).runs, 2u);
  const auto pins = ledger_.pins(std::array{sha256("a0"), sha256("b49"), sha256("c0")});
  ASSERT_TRUE(pins);
  for (const auto& pin : *pins) {
    ASSERT_TRUE(pin);
    EXPECT_EQ(pin->answer, sha256("answer"));
    EXPECT_EQ(pin->holder, "cache-a");
  }
}

TEST_F(PruneTest, ARunThatMayStillBeGoingOnStays) {
  record("dead", 100, false);
  record("going on", 900, false);
  record("later", 1000);
  const PrunedRuns done = prune({.begun_before_ms = {}, .keep = 1, .unfinished_before_ms = 500});
  EXPECT_EQ(done.runs, 1u);
  EXPECT_EQ(done.unfinished, 1u);
  EXPECT_EQ(runs(), "later going on");
  EXPECT_EQ(results_in("going on"), 50u);
}

TEST_F(PruneTest, TheNewestRunOfEachSuiteStaysForUpdateBaseline) {
  record("a1", 100);
  record("a2", 200);
  record("a3 mock", 300, true, "/suites/a", "mock");
  record("b1", 400, true, "/suites/b", "mock");
  record("c1", 500, true, "/suites/c");
  const PrunedRuns done = prune({.begun_before_ms = 10'000, .keep = {}});
  EXPECT_EQ(done.runs, 2u);
  EXPECT_EQ(done.needed, 3u);
  EXPECT_EQ(runs(), "c1 b1 a2");
}

TEST_F(PruneTest, TheRunThatABaselineCameFromStays) {
  for (const char* run : {"a", "b", "c", "d"}) record(run, 100);
  ASSERT_TRUE(ledger_.note_baseline("a", 1));
  ASSERT_TRUE(ledger_.note_baseline("b", 2));
  EXPECT_EQ(prune({.begun_before_ms = {}, .keep = 1}).needed, 1u);
  EXPECT_EQ(runs(), "d b");
  EXPECT_EQ(results_in("b"), 50u);
}

std::int64_t count(SQLite::Database& db, const std::string& what) {
  return db.execAndGet("SELECT count(*) FROM " + what).getInt64();
}

// An old run of a million results kept the ledger from all live runs for longer than they waited.
TEST_F(PruneTest, ALargeRunGoesInPortionsBetweenWhichOthersWrite) {
  record("large", 100);
  record("b", 200);
  Ledger other = open();
  other.wait_for_others(std::chrono::milliseconds(0));
  int begun = 0;
  RunPrune which{.begun_before_ms = {}, .keep = 1, .rows_at_once = 20};
  which.leave_to_others = [&](std::chrono::nanoseconds) {
    const std::string run_id = "other-" + std::to_string(begun++);
    EXPECT_TRUE(other.begin_run({run_id, "suite", "live", "openai", "m", "1", 300, 50}));
    EXPECT_EQ(runs().find("large"), std::string::npos) << "what lacks results is no run any more";
    EXPECT_EQ(results_in("large"), 0u);
  };
  const PrunedRuns done = prune(which);
  EXPECT_EQ(done.runs, 1u);
  EXPECT_EQ(done.results, 50u);
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(results_in("b"), 50u);
}

TEST_F(PruneTest, WhatAKilledPruneLeftIsNoRunAndGoesWithTheNextOne) {
  record("large", 100);
  record("b", 200);
  SQLite::Database file((folder_.path() / "ledger.db").string(), SQLite::OPEN_READWRITE);
  file.exec(
      "CREATE TRIGGER killed BEFORE DELETE ON results WHEN (OLD.id & 4294967295) = 30 "
      "BEGIN SELECT RAISE(ABORT, 'killed'); END");
  EXPECT_FALSE(ledger_.prune({.begun_before_ms = {}, .keep = 1, .rows_at_once = 20}));
  EXPECT_EQ(count(file, "results"), 80);
  EXPECT_EQ(runs(), "b");
  EXPECT_FALSE(ledger_.find_run("large"));
  EXPECT_EQ(results_in("large"), 0u);
  file.exec("DROP TRIGGER killed");
  ASSERT_TRUE(ledger_.begin_run({"c", "suite", "live", "openai", "m", "1", 300, 50}));
  const RunPrune keep_all{.begun_before_ms = {}, .keep = 100, .dry_run = true};
  EXPECT_EQ(prune(keep_all).results, 30u);
  const PrunedRuns done = prune({.begun_before_ms = {}, .keep = 100});
  EXPECT_EQ(done.runs, 1u);
  EXPECT_EQ(done.left, 2u);
  EXPECT_EQ(count(file, "results"), 50);
  EXPECT_EQ(count(file, "runs"), 2);
}

TEST_F(PruneTest, AReaderElsewhereSeesTheWholeRunOrNone) {
  record("a", 100);
  record("b", 200);
  const Ledger reader = open();
  std::size_t seen = 0;
  ASSERT_TRUE(reader.results_of("a")->visit([&](const CommittedTrial&) {
    if (seen++ == 0) {
      const PrunedRuns done = prune({.begun_before_ms = {}, .keep = 1});
      EXPECT_EQ(done.runs, 1u);
      EXPECT_FALSE(done.compacted) << "the reader still needs what was there";
    }
  }));
  EXPECT_EQ(seen, 50u);
  EXPECT_EQ(runs(), "b");
}

TEST_F(PruneTest, EachTableOfRunsIsAmongThoseThatGoWithThem) {
  SQLite::Database db((folder_.path() / "ledger.db").string());
  SQLite::Statement query(db,
                          "SELECT t.name FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c "
                          "WHERE t.type = 'table' AND c.name = 'id'");
  std::set<std::string> with_ids;
  while (query.executeStep()) with_ids.insert(query.getColumn(0).getString());
  std::set<std::string> known{"suites"};  // One may be that of several runs.
  for (const RunTable& table : run_tables) known.emplace(table.name);
  EXPECT_EQ(with_ids, known);
}

TEST_F(PruneTest, ABaselineOfARunThatIsNotThereIsAnError) {
  EXPECT_FALSE(ledger_.note_baseline("nobody", 1));
}

}  // namespace
}  // namespace sluice
