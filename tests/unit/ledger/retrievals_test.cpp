// The retrievals table: what cases found among solved examples, and what became of them.
#include "coordinator/ledger/ledger.hpp"
#include "tests/support/temporary_folder.hpp"

#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

namespace sluice::retrievals_test {

class RetrievalsTable : public ::testing::Test {
 protected:
  void begin(const std::string& id, const std::string& suite = "upgrades", const std::string& mode = "live") {
    RunRecord run;
    run.run_id = id;
    run.suite = suite;
    run.mode = mode;
    run.started_at_ms = 1000;
    ASSERT_TRUE(ledger_.begin_run(run));
  }
  static RetrievalEvent event(std::uint32_t case_index, const std::string& status, double score = 0.9) {
    RetrievalEvent one;
    one.case_index = case_index;
    one.test = "t-" + std::to_string(case_index);
    one.category = "java";
    one.kind = RetrievalKind::degraded;
    one.score = score;
    one.example = "log4j";
    one.high_floor = 0.95;
    one.degraded_floor = 0.65;
    one.plugin = "mine";
    one.embedder = "lexical-ngrams-v1";
    one.task_class = "bump";
    one.language = "java";
    one.build_system = "maven";
    one.status = status;
    return one;
  }
  void note(const std::string& run, const std::vector<RetrievalEvent>& events) {
    const auto noted = ledger_.note_retrievals(run, events);
    ASSERT_TRUE(noted) << noted.error().message;
  }
  std::vector<RetrievalEvent> found(const std::optional<std::string>& suite = {}) const {
    auto events = ledger_.retrievals({"mine", "lexical-ngrams-v1", suite});
    EXPECT_TRUE(events) << events.error().message;
    return std::move(*events);
  }

  support::TemporaryFolder folder_;
  Ledger ledger_ = *Ledger::open(folder_.path() / "ledger.db");
};

TEST_F(RetrievalsTable, AnEventIsReadAsItWasNoted) {
  begin("run-1");
  note("run-1", {event(3, "pass")});
  const auto events = found();
  ASSERT_EQ(events.size(), 1u);
  const RetrievalEvent& one = events[0];
  EXPECT_EQ(one.case_index, 3u);
  EXPECT_EQ(one.test, "t-3");
  EXPECT_EQ(one.category, "java");
  EXPECT_EQ(one.kind, RetrievalKind::degraded);
  EXPECT_EQ(one.score, 0.9);
  EXPECT_EQ(one.example, "log4j");
  EXPECT_EQ(one.high_floor, 0.95);
  EXPECT_EQ(one.degraded_floor, 0.65);
  EXPECT_EQ(one.task_class + one.language + one.build_system, "bumpjavamaven");
  EXPECT_EQ(one.status, "pass");
}

TEST_F(RetrievalsTable, AMissWithoutAnyExampleHasNoScore) {
  begin("run-1");
  RetrievalEvent miss = event(1, "fail");
  miss.kind = RetrievalKind::miss;
  miss.score.reset();
  miss.example.clear();
  note("run-1", {event(0, "pass"), miss});
  const auto events = found();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].kind, RetrievalKind::miss);
  EXPECT_FALSE(events[1].score) << "nor that of the row before it";
}

TEST_F(RetrievalsTable, TheStatusComesWhenTheRunHasEnded) {
  begin("run-1");
  note("run-1", {event(0, "")});
  EXPECT_TRUE(found().empty()) << "nobody knows what became of it";
  note("run-1", {event(0, "fail")});
  ASSERT_EQ(found().size(), 1u);
  EXPECT_EQ(found()[0].status, "fail");
}

// Ten runs of one case out of the cache are one answer.
TEST_F(RetrievalsTable, OnlyTheLatestOfATestCounts) {
  begin("run-1");
  begin("run-2");
  begin("run-3", "other");
  note("run-1", {event(0, "fail", 0.7), event(1, "pass")});
  note("run-2", {event(0, "pass", 0.8)});
  note("run-3", {event(0, "fail", 0.6)});
  const auto events = found("upgrades");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].score, 0.8);
  EXPECT_EQ(events[0].status, "pass");
  EXPECT_EQ(found().size(), 3u) << "another suite's test of that name is another";
}

TEST_F(RetrievalsTable, ErrorsMockRunsAndOtherPluginsAreLeftOut) {
  begin("run-1");
  begin("mock", "upgrades", "mock");
  RetrievalEvent of_other = event(2, "pass");
  of_other.plugin = "other";
  note("run-1", {event(0, "error"), of_other});
  note("mock", {event(1, "pass")});
  EXPECT_TRUE(found().empty());
}

TEST_F(RetrievalsTable, ARunThatIsNotThereIsRefusedWhole) {
  begin("run-1");
  EXPECT_FALSE(ledger_.note_retrievals("run-9", std::vector{event(0, "pass")}));
}

// All rows of the table were read, and their checksums verified, for those of one run.
TEST_F(RetrievalsTable, OfOneRunDoNotDependOnTheRowsOfOthers) {
  begin("run-1");
  begin("run-2", "other");
  note("run-1", {event(0, "pass"), event(1, "pass")});
  note("run-2", {event(0, "fail")});
  SQLite::Database((folder_.path() / "ledger.db").string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE retrievals SET example = 'another' WHERE status = 'pass'");
  const auto of_run = ledger_.retrievals_of("run-2");
  ASSERT_TRUE(of_run) << of_run.error().message;
  EXPECT_EQ(of_run->size(), 1u);
  EXPECT_FALSE(ledger_.retrievals_of("run-1"));
}

TEST_F(RetrievalsTable, GoWithTheirRun) {
  begin("run-1");
  begin("run-2");
  note("run-1", {event(0, "pass")});
  note("run-2", {event(1, "pass")});
  for (const char* run : {"run-1", "run-2"}) ASSERT_TRUE(ledger_.finish_run(run, RunSummary{2000, "pass"}));
  RunPrune which;
  which.keep = 1;
  const auto pruned = ledger_.prune(which);
  ASSERT_TRUE(pruned) << pruned.error().message;
  ASSERT_EQ(pruned->runs, 1u);
  ASSERT_EQ(found().size(), 1u);
  EXPECT_EQ(found()[0].test, "t-1");
}

}  // namespace sluice::retrievals_test
