// The quality table: grades of runs, counted by pair of arms, category and test.
#include "coordinator/ledger/ledger.hpp"
#include "tests/support/temporary_folder.hpp"

#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

namespace sluice::quality_test {

class QualityTable : public ::testing::Test {
 protected:
  QualityTable() {
    begin("run-1", 1000);
    begin("run-2", 2000);
  }

  void begin(const std::string& id, std::int64_t started_at_ms) {
    RunRecord run;
    run.run_id = id;
    run.suite = "capitals";
    run.mode = "live";
    run.started_at_ms = started_at_ms;
    EXPECT_TRUE(ledger_.begin_run(run));
  }
  static QualityGroup group(const std::string& candidate = "new") {
    return {"capitals", "llm", "llm:j:comparison-v1", {"old", "openai", "m-1"}, {candidate, "openai", "m-2"}};
  }
  static QualityRecord record(TrialId trial, const std::string& test, double score) {
    QualityRecord one;
    one.trial = trial;
    one.test = test;
    one.category = test == "peru" ? "america" : "europe";
    one.quality_score = score;
    one.notes = "B says more.";
    one.position_flip = score == 0.5;
    one.baseline = {0.25, std::nullopt};
    one.candidate = {std::nullopt, 300};
    return one;
  }
  void note(const std::string& run, const QualityGroup& group, const std::vector<QualityRecord>& grades) {
    const auto noted = ledger_.note_grades(run, group, grades);
    EXPECT_TRUE(noted) << noted.error().message;
  }
  std::vector<QualityOfTest> quality(const QualityFilter& filter = {}) const {
    auto found = ledger_.quality(filter);
    EXPECT_TRUE(found) << found.error().message;
    return std::move(*found);
  }

  support::TemporaryFolder folder_;
  Ledger ledger_ = *Ledger::open(folder_.path() / "ledger.db");
};

// All rows of the table were read, and their checksums verified, for those of one run.
TEST_F(QualityTable, GradesOfOneRunDoNotDependOnTheRowsOfOthers) {
  note("run-1", group(), {record(0, "france", 0.75)});
  note("run-2", group(), {record(0, "france", 0.25)});
  SQLite::Database((folder_.path() / "ledger.db").string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE quality SET notes = 'another' WHERE quality_score = 0.75");
  EXPECT_EQ(quality({.run_id = "run-2"}).size(), 1u);
  EXPECT_FALSE(ledger_.quality({.run_id = "run-1"}));
}

TEST_F(QualityTable, GradesOfATestAreSummedOverRuns) {
  note("run-1", group(), {record(0, "france", 0.75), record(1, "peru", 0.5)});
  note("run-2", group(), {record(0, "france", 0.25)});
  const auto rows = quality();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].test, "peru");  // By category.
  EXPECT_EQ(rows[1].test, "france");
  EXPECT_EQ(rows[1].group, group());
  EXPECT_EQ(rows[1].grades, 2u);
  EXPECT_DOUBLE_EQ(rows[1].quality_sum, 1.0);
  EXPECT_EQ(rows[1].compared_twice, 2u);
  EXPECT_EQ(rows[1].position_flips, 0u);
  EXPECT_DOUBLE_EQ(rows[1].baseline.cost, 0.5);
  EXPECT_EQ(rows[1].baseline.with_latency, 0u);
  EXPECT_EQ(rows[1].candidate.with_cost, 0u);
  EXPECT_DOUBLE_EQ(rows[1].candidate.latency_ms, 600.0);
  EXPECT_EQ(rows[1].last_graded_ms, 2000);
  EXPECT_EQ(rows[0].position_flips, 1u);
}

TEST_F(QualityTable, AGradeWithoutBothOrdersCountsNoFlip) {
  auto exact = record(0, "france", 0.5);
  exact.position_flip.reset();
  note("run-1", group(), {exact});
  EXPECT_EQ(quality().at(0).compared_twice, 0u);
  EXPECT_EQ(quality().at(0).position_flips, 0u);
}

TEST_F(QualityTable, TheSameTrialIsCountedOnce) {
  note("run-1", group(), {record(0, "france", 0.75)});
  note("run-1", group(), {record(0, "france", 0.25)});
  ASSERT_EQ(quality().size(), 1u);
  EXPECT_EQ(quality()[0].grades, 1u);
  EXPECT_DOUBLE_EQ(quality()[0].quality_sum, 0.25);
}

TEST_F(QualityTable, EachFilterLeavesOutWhatDoesNotFit) {
  note("run-1", group(), {record(0, "france", 0.75), record(1, "peru", 0.5)});
  note("run-2", group("other"), {record(0, "france", 0.25)});
  EXPECT_EQ(quality().size(), 3u);
  QualityFilter filter;
  filter.run_id = "run-2";
  EXPECT_EQ(quality(filter).size(), 1u);
  filter = {};
  filter.arm = "new";
  EXPECT_EQ(quality(filter).size(), 2u);
  filter.arm = "old";  // The baseline of both.
  EXPECT_EQ(quality(filter).size(), 3u);
  filter = {};
  filter.category = "america";
  EXPECT_EQ(quality(filter).size(), 1u);
  filter.judge = "exact";
  EXPECT_TRUE(quality(filter).empty());
  filter = {};
  filter.suite = "rivers";
  EXPECT_TRUE(quality(filter).empty());
}

TEST_F(QualityTable, GradesOfAnUnknownRunAreRefused) {
  EXPECT_FALSE(ledger_.note_grades("run-3", group(), std::vector{record(0, "france", 0.75)}));
  EXPECT_TRUE(quality().empty());
}

TEST_F(QualityTable, GradesGoWithTheirRun) {
  note("run-1", group(), {record(0, "france", 0.75)});
  note("run-2", group(), {record(0, "france", 0.25)});
  for (const std::string run : {"run-1", "run-2"}) {
    RunSummary ended;
    ended.completed_at_ms = 3000;
    ASSERT_TRUE(ledger_.finish_run(run, ended));
  }
  RunPrune which;
  which.keep = 1;
  ASSERT_EQ(ledger_.prune(which)->runs, 1u);
  ASSERT_EQ(quality().size(), 1u);
  EXPECT_DOUBLE_EQ(quality()[0].quality_sum, 0.25);
}

}  // namespace sluice::quality_test
