// The cases of a run that did not simply pass.
#include "coordinator/ledger/ledger.hpp"
#include "tests/support/temporary_folder.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace sluice::case_outcomes_test {

TEST(CaseOutcomes, AreKeptByRunInPlanOrder) {
  const support::TemporaryFolder folder;
  auto ledger = *Ledger::open(folder.path() / "ledger.db");
  for (const char* id : {"run-1", "run-2"}) {
    RunRecord run;
    run.run_id = id;
    run.flags = id == std::string("run-1") ? R"({"mode":["live"]})" : "";
    ASSERT_TRUE(ledger.begin_run(run));
  }
  const std::vector<CaseOutcome> cases{
      {2, "france@mini", CaseStatus::flaky, {"claims_f1 0.80, limit 0.90: below the floor", "two"}},
      {9, "peru", CaseStatus::error},
      {11, "chad", CaseStatus::error, {}, true}};
  ASSERT_TRUE(ledger.note_cases("run-1", std::vector{cases[1], cases[2]}));
  ASSERT_TRUE(ledger.note_cases("run-1", std::vector{cases[0]}));
  EXPECT_EQ(*ledger.cases_of("run-1"), cases);
  EXPECT_TRUE(ledger.cases_of("run-2")->empty());
  EXPECT_FALSE(ledger.note_cases("run-3", cases));
  EXPECT_EQ(ledger.find_run("run-1")->run.flags, R"({"mode":["live"]})");
  EXPECT_EQ(ledger.find_run("run-2")->run.flags, "");
}

// `runs show` said "200 errors" of a run that said "190 of 200 cases were not started".
TEST(CaseOutcomes, ARunThatWasCutShortIsFoundWithTheCasesThatWereNotStarted) {
  const support::TemporaryFolder folder;
  auto ledger = *Ledger::open(folder.path() / "ledger.db");
  RunRecord run;
  run.run_id = "run-1";
  run.trials = 3;
  ASSERT_TRUE(ledger.begin_run(run));
  const std::vector<CaseOutcome> cases{{0, "a", CaseStatus::error},
                                       {1, "b", CaseStatus::error, {}, true},
                                       {2, "c", CaseStatus::error, {}, true}};
  ASSERT_TRUE(ledger.note_cases("run-1", cases));
  RunSummary summary;
  summary.reason_code = "key_refused";
  summary.statuses.errors = 3;
  ASSERT_TRUE(ledger.finish_run("run-1", summary));
  for (const char* words : {"run-1", "last"}) EXPECT_EQ(ledger.find_run(words)->summary->not_started, 2U);
  EXPECT_EQ(ledger.list_runs(1)->front().summary->not_started, 2U);
}

}  // namespace sluice::case_outcomes_test
